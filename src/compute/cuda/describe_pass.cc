#include "compute/cuda/describe_pass.h"

#include <algorithm>
#include <cstring>

namespace looseleaf::cuda {
namespace {

// Pages of a part at least: 512 tokens, long beside a part's beginning and its merge.
constexpr int kPartPages = 16;

class Writer {
 public:
  explicit Writer(std::vector<std::byte>& bytes) : bytes_(bytes) {}

  // Appends at a multiple of 16 and returns where; -1 where there is nothing.
  template <class T>
  int64_t append(std::span<const T> values) {
    if (values.empty()) return -1;
    const size_t at = (bytes_.size() + 15) / 16 * 16;
    bytes_.resize(at + values.size_bytes());
    std::memcpy(bytes_.data() + at, values.data(), values.size_bytes());
    return static_cast<int64_t>(at);
  }

 private:
  std::vector<std::byte>& bytes_;
};

struct GroupPages {
  std::vector<int> pages;  // of each use
  int total = 0;
};

GroupPages pages_of(const AttendArgs& args, const RowGroup& group) {
  GroupPages result;
  for (const SegmentUse& use : group.uses) {
    result.pages.push_back(
        pages_for(args.segments[static_cast<size_t>(use.segment)].tokens(args.layer)));
    result.total += result.pages.back();
  }
  return result;
}

}  // namespace

void PassDescription::point(const std::byte* base, AttendLaunch& launch) const {
  launch.description = base;
  launch.segments = reinterpret_cast<const GpuSegment*>(base + segments_at);
  launch.uses = reinterpret_cast<const GpuUse*>(base + uses_at);
  launch.rows = reinterpret_cast<const int32_t*>(base + rows_at);
  launch.positions = reinterpret_cast<const int32_t*>(base + positions_at);
  launch.alibi = alibi_at < 0 ? nullptr : reinterpret_cast<const float*>(base + alibi_at);
}

PassDescription describe_pass(const AttendArgs& args) {
  PassDescription pass;
  Writer writer(pass.bytes);
  std::vector<GpuSegment> segments;
  for (const Segment& s : args.segments) {
    GpuSegment to;
    std::memset(&to, 0, sizeof to);  // padding too: descriptions are compared as bytes
    to.view = page_view(*s.layout);
    to.pages_at = writer.append(s.pages);
    to.positions_at = writer.append(s.positions);
    to.turn_at = writer.append(s.turn);
    to.stale_at = writer.append(s.stale);
    to.count_by_layer_at = writer.append(s.count_by_layer);
    to.count = s.count;
    to.position = s.position;
    segments.push_back(to);
  }
  std::vector<GpuUse> uses;
  std::vector<int32_t> rows;
  for (const RowGroup& group : args.groups) {
    for (const SegmentUse& use : group.uses) uses.push_back({use.segment, use.limit});
    rows.insert(rows.end(), group.rows.begin(), group.rows.end());
  }
  pass.segments_at = writer.append(std::span<const GpuSegment>(segments));
  pass.uses_at = writer.append(std::span<const GpuUse>(uses));
  pass.rows_at = writer.append(std::span<const int32_t>(rows));
  pass.positions_at = writer.append(args.positions);
  pass.alibi_at = writer.append(args.alibi);
  return pass;
}

MassPlan plan_mass(const AttendArgs& args) {
  MassPlan plan;
  int32_t first_row = 0, first_use = 0;
  for (const RowGroup& group : args.groups) {
    plan.first.push_back(plan.tasks.size());
    const auto end = std::lower_bound(group.rows.begin(), group.rows.end(), args.active);
    const auto vectors =
        static_cast<int32_t>(end - group.rows.begin()) * (args.heads / args.kv_heads);
    for (size_t u = 0; u < group.uses.size() && vectors > 0; ++u) {
      const SegmentUse& use = group.uses[u];
      if (use.mass < 0) continue;
      const int pages =
          pages_for(args.segments[static_cast<size_t>(use.segment)].tokens(args.layer));
      for (int page = 0; page < pages; ++page)
        plan.tasks.push_back(
            {first_row, vectors, first_use + static_cast<int32_t>(u), page, use.mass});
    }
    first_row += static_cast<int32_t>(group.rows.size());
    first_use += static_cast<int32_t>(group.uses.size());
  }
  plan.first.push_back(plan.tasks.size());
  return plan;
}

TilePlan plan_tiles(const AttendArgs& args, int multiprocessors) {
  TilePlan plan;
  const int share = args.heads / args.kv_heads;
  // One width for all groups of a launch, which changes no result.
  size_t most_rows = 0;
  for (const RowGroup& group : args.groups) most_rows = std::max(most_rows, group.rows.size());
  const bool few = most_rows * static_cast<size_t>(share) <= kFewVectors;
  const int width = few ? kFewVectors : kManyVectors;

  int32_t first_row = 0, first_use = 0;
  for (const RowGroup& group : args.groups) {
    const auto end = std::lower_bound(group.rows.begin(), group.rows.end(), args.active);
    const auto rows = static_cast<int32_t>(end - group.rows.begin());
    const GroupPages pages = pages_of(args, group);
    const int vectors = rows * share;
    // By the width that the group would have alone.
    const int own_tiles = vectors <= kFewVectors ? 1 : (vectors + kManyVectors - 1) / kManyVectors;
    const int wanted = 2 * multiprocessors / (own_tiles * args.kv_heads);
    const int parts =
        std::clamp(std::min(wanted, pages.total / kPartPages), 1, std::max(1, pages.total));
    const int32_t first_partial = plan.partials;
    if (parts > 1) {
      for (int32_t r = 0; r < rows; ++r)
        plan.merges.push_back(
            {group.rows[static_cast<size_t>(r)], first_partial + r * args.heads * parts, parts});
      plan.partials += rows * args.heads * parts;
    }
    for (int first = 0; first < vectors; first += width) {
      AttendTile tile{};
      tile.first_row = first_row;
      tile.first_vector = first;
      tile.vectors = std::min(width, vectors - first);
      tile.lowest = INT32_MAX;
      tile.highest = INT32_MIN;
      for (int r = first / share; r <= (first + tile.vectors - 1) / share; ++r) {
        const int32_t position =
            args.positions[static_cast<size_t>(group.rows[static_cast<size_t>(r)])];
        tile.lowest = std::min(tile.lowest, position);
        tile.highest = std::max(tile.highest, position);
      }
      tile.parts = parts;
      tile.first_partial = first_partial;
      // Pages of all uses in a row, cut evenly.
      size_t use = 0;
      int before = 0;  // pages of earlier uses
      for (int part = 0; part < parts; ++part) {
        const auto cut = [&](int p) { return static_cast<int>(int64_t{pages.total} * p / parts); };
        const int from = cut(part), to = cut(part + 1);
        while (use + 1 < pages.pages.size() && before + pages.pages[use] <= from)
          before += pages.pages[use++];
        tile.part = part;
        tile.first_use = first_use + static_cast<int32_t>(use);
        tile.first_page = from - before;
        size_t last = use;
        int before_last = before;
        while (last + 1 < pages.pages.size() && before_last + pages.pages[last] < to)
          before_last += pages.pages[last++];
        tile.last_use = first_use + static_cast<int32_t>(last);
        tile.end_page = to - before_last;
        // A group that sees nothing still writes its zeros.
        if (pages.pages.empty()) tile.last_use = tile.first_use - 1;
        plan.tiles.push_back(tile);
      }
      plan.most_vectors = std::max(plan.most_vectors, tile.vectors);
    }
    first_row += static_cast<int32_t>(group.rows.size());
    first_use += static_cast<int32_t>(group.uses.size());
  }
  if (!few) plan.most_vectors = std::max(plan.most_vectors, kFewVectors + 1);
  return plan;
}

}  // namespace looseleaf::cuda
