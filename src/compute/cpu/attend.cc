// Attention over segments. Positions enter in two places only: the query is turned back once per
// segment, and each row has a mask of the keys it may see. Every segment is cut at the same number
// of pages from its start, each stretch has a softmax of its own, and these are merged in prompt
// order; so a row's bits depend neither on other rows nor on which of two ways is taken:
//
// - rows first: a tile of rows of one group goes through all of its segments, merging as it goes;
// - chunks first: a stretch of keys is read once for the rows of all groups that see this memory,
//   wherever each has bound it, and partial results are merged afterwards.
//
// The second is for few rows: it has more tasks, and no memory is read twice.
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <vector>

#include "compute/cpu/attend_tile.h"
#include "compute/cpu/cpu_device.h"

namespace looseleaf {
namespace {

// Query vectors of one task: many, so that a widened page is used well; their sums stay in L2.
constexpr size_t kTileVectors = 192;
// 512 tokens: long against the merge, short enough to share a long prompt among threads.
constexpr int kStretchPages = 16;
constexpr size_t kPartialFloats = 4 << 20;  // of chunks first; beyond, rows first

AttendTile& tile() {
  thread_local AttendTile buffers;
  return buffers;
}

std::span<const int32_t> active_rows(const AttendArgs& args, const RowGroup& group) {
  const auto end = std::lower_bound(group.rows.begin(), group.rows.end(), args.active);
  return group.rows.first(static_cast<size_t>(end - group.rows.begin()));
}

const Segment& segment_of(const AttendArgs& args, const SegmentUse& use) {
  return args.segments[static_cast<size_t>(use.segment)];
}

int pages_of(const AttendArgs& args, const SegmentUse& use) {
  return pages_for(segment_of(args, use).tokens(args.layer));
}

AttendEntry entry(const AttendArgs& args, int32_t row, const SegmentUse& use) {
  return {row, args.positions[static_cast<size_t>(row)], &segment_of(args, use), use.limit};
}

// values: [head_dim]
void finish(const AttendArgs& args, size_t row_head, float largest, float sum,
            const float* values) {
  const float inverse = sum > 0 ? 1 / sum : 0;
  const auto dim = static_cast<size_t>(args.head_dim);
  float* out = args.out + row_head * dim;
  for (size_t i = 0; i < dim; ++i) out[i] = values[i] * inverse;
  if (args.lse != nullptr) args.lse[row_head] = largest + std::log(sum);
}

class RowsFirst {
 public:
  RowsFirst(const AttendArgs& args, size_t tile_rows) : args_(args) {
    for (const RowGroup& group : args.groups) {
      const auto rows = active_rows(args, group);
      for (size_t first = 0; first < rows.size(); first += tile_rows)
        for (int head = 0; head < args.kv_heads; ++head)
          tasks_.push_back(
              {&group, rows.subspan(first, std::min(tile_rows, rows.size() - first)), head});
    }
    std::reverse(tasks_.begin(), tasks_.end());  // the last rows see most: they go first
  }
  size_t tasks() const { return tasks_.size(); }

  void run(ThreadPool& pool) const {
    pool.parallel_for(static_cast<int64_t>(tasks_.size()),
                      [&](int64_t t) { run(tasks_[static_cast<size_t>(t)]); });
  }

 private:
  struct Task {
    const RowGroup* group;
    std::span<const int32_t> rows;
    int kv_head;
  };

  void run(const Task& task) const {
    const auto dim = static_cast<size_t>(args_.head_dim);
    const auto share = static_cast<size_t>(args_.heads / args_.kv_heads);
    const size_t vectors = task.rows.size() * share;
    thread_local SoftmaxSums sums;
    sums.clear(vectors, dim);
    const SoftmaxState all = sums.state();
    std::vector<AttendEntry> entries(task.rows.size());
    for (const SegmentUse& use : task.group->uses) {
      for (size_t r = 0; r < entries.size(); ++r) entries[r] = entry(args_, task.rows[r], use);
      tile().set_queries(args_, task.kv_head, entries);
      const int pages = pages_of(args_, use);
      for (int first = 0; first < pages; first += kStretchPages) {
        const SoftmaxState part = tile().attend({first, std::min(pages, first + kStretchPages)});
        for (size_t v = 0; v < vectors; ++v) merge_softmax(part, v, all, v, dim);
      }
    }
    for (size_t v = 0; v < vectors; ++v) {
      const size_t row_head =
          static_cast<size_t>(task.rows[v / share]) * static_cast<size_t>(args_.heads) +
          static_cast<size_t>(task.kv_head) * share + v % share;
      finish(args_, row_head, all.largest[v], all.sum[v], all.values + v * padded_dim(dim));
    }
  }

  const AttendArgs& args_;
  std::vector<Task> tasks_;
};

class ChunksFirst {
 public:
  ChunksFirst(const AttendArgs& args, size_t tile_rows) : args_(args), tile_rows_(tile_rows) {
    for (const RowGroup& group : args.groups) {
      const auto rows = active_rows(args, group);
      if (rows.empty()) continue;  // a stretch without rows has nobody to tell its layout
      const auto first_row = static_cast<int64_t>(rows_.size());
      int parts = 0;
      for (const SegmentUse& use : group.uses)
        parts += (pages_of(args, use) + kStretchPages - 1) / kStretchPages;
      for (const int32_t row : rows) {
        rows_.push_back({row, parts_, parts});
        parts_ += parts;
      }
      int part = 0;
      for (const SegmentUse& use : group.uses)
        for (int page = 0; page < pages_of(args, use); page += kStretchPages, ++part)
          add(rows, use, page, first_row, part);
    }
  }

  size_t partial_floats() const {
    return static_cast<size_t>(parts_) * static_cast<size_t>(args_.heads) *
           (padded_dim(static_cast<size_t>(args_.head_dim)) + 2);
  }
  // Whether a stretch is read for several groups.
  bool shares() const { return shares_; }

  void run(ThreadPool& pool) {
    partials_.clear(static_cast<size_t>(parts_) * static_cast<size_t>(args_.heads),
                    static_cast<size_t>(args_.head_dim));
    pool.parallel_for(static_cast<int64_t>(stretches_.size()) * args_.kv_heads, [&](int64_t t) {
      attend(stretches_[static_cast<size_t>(t / args_.kv_heads)],
             static_cast<int>(t % args_.kv_heads));
    });
    pool.parallel_for(static_cast<int64_t>(rows_.size()),
                      [&](int64_t r) { merge(rows_[static_cast<size_t>(r)]); });
  }

 private:
  struct Row {
    int32_t row;
    int64_t first_part;  // its partial results are neighbours, in prompt order
    int parts;
  };
  struct Stretch {
    PageRange pages;
    std::span<std::byte* const> memory;  // of these pages
    std::vector<AttendEntry> entries;
    std::vector<int64_t> parts;  // [entries] where their results go
  };

  void add(std::span<const int32_t> rows, const SegmentUse& use, int page, int64_t first_row,
           int part) {
    const Segment& segment = segment_of(args_, use);
    const PageRange pages{page, std::min(pages_of(args_, use), page + kStretchPages)};
    const auto memory = segment.pages.subspan(static_cast<size_t>(pages.first),
                                              static_cast<size_t>(pages.end - pages.first));
    size_t n = stretch(segment, pages, memory);
    for (size_t r = 0; r < rows.size(); ++r) {
      if (stretches_[n].entries.size() == tile_rows_) n = open(pages, memory);
      Stretch& to = stretches_[n];
      shares_ |= !to.entries.empty() && r == 0;
      to.entries.push_back(entry(args_, rows[r], use));
      to.parts.push_back(rows_[static_cast<size_t>(first_row) + r].first_part + part);
    }
  }

  // A stretch over this very memory that has room, or a new one. ALiBi's biases are by position, so
  // there rows share a stretch within a segment only, as they do where groups are not to share.
  size_t stretch(const Segment& segment, PageRange pages, std::span<std::byte* const> memory) {
    if (args_.alibi.empty() && args_.way == AttendWay::kDeferred) {
      const auto found = open_.find(memory.front());
      if (found != open_.end()) {
        const Stretch& s = stretches_[found->second];
        if (s.pages.first == pages.first && std::ranges::equal(s.memory, memory) &&
            *s.entries.front().segment->layout == *segment.layout)
          return found->second;
      }
    }
    return open(pages, memory);
  }

  size_t open(PageRange pages, std::span<std::byte* const> memory) {
    stretches_.push_back({pages, memory, {}, {}});
    return open_[memory.front()] = stretches_.size() - 1;
  }

  void attend(const Stretch& stretch, int kv_head) {
    const auto dim = static_cast<size_t>(args_.head_dim);
    const auto heads = static_cast<size_t>(args_.heads);
    const size_t share = heads / static_cast<size_t>(args_.kv_heads), padded = padded_dim(dim);
    tile().set_queries(args_, kv_head, stretch.entries);
    const SoftmaxState part = tile().attend(stretch.pages);
    const SoftmaxState to = partials_.state();
    for (size_t v = 0; v < tile().vectors(); ++v) {
      const size_t at = static_cast<size_t>(stretch.parts[v / share]) * heads +
                        static_cast<size_t>(kv_head) * share + v % share;
      to.largest[at] = part.largest[v];
      to.sum[at] = part.sum[v];
      std::copy_n(part.values + v * padded, padded, to.values + at * padded);
    }
  }

  void merge(const Row& row) {
    const auto dim = static_cast<size_t>(args_.head_dim);
    const auto heads = static_cast<size_t>(args_.heads);
    thread_local SoftmaxSums sums;
    sums.clear(heads, dim);
    const SoftmaxState all = sums.state(), from = partials_.state();
    for (size_t h = 0; h < heads; ++h) {
      for (int p = 0; p < row.parts; ++p)
        merge_softmax(from, static_cast<size_t>(row.first_part + p) * heads + h, all, h, dim);
      finish(args_, static_cast<size_t>(row.row) * heads + h, all.largest[h], all.sum[h],
             all.values + h * padded_dim(dim));
    }
  }

  const AttendArgs& args_;
  const size_t tile_rows_;
  std::vector<Row> rows_;
  std::vector<Stretch> stretches_;
  std::unordered_map<const std::byte*, size_t> open_;  // by their first page
  int64_t parts_ = 0;
  bool shares_ = false;
  SoftmaxSums partials_;  // [parts, heads]
};

}  // namespace

void cpu_attend(ThreadPool& pool, const AttendArgs& args) {
  const size_t tile_rows =
      std::max<size_t>(1, kTileVectors / static_cast<size_t>(args.heads / args.kv_heads));
  const RowsFirst rows_first(args, tile_rows);
  const bool few_tasks = rows_first.tasks() < 4 * static_cast<size_t>(pool.threads());
  if (few_tasks || args.groups.size() > 1) {
    ChunksFirst chunks_first(args, tile_rows);
    if ((few_tasks || chunks_first.shares()) && chunks_first.partial_floats() <= kPartialFloats)
      return chunks_first.run(pool);
  }
  rows_first.run(pool);
}

}  // namespace looseleaf
