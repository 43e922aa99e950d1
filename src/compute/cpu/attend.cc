// Attention over segments: each task takes a tile of rows and one KV head through all segments,
// page by page, with the online softmax (1805.02867). Positions enter in two places only: the
// query is turned back once per segment, and each row has a mask of the keys it may see.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "compute/cpu/cpu_device.h"
#include "compute/cpu/kv_codec.h"
#include "compute/cpu/rotary.h"
#include "compute/cpu/visible.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/attend.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#ifndef LOOSELEAF_ATTEND_SHARED_
#define LOOSELEAF_ATTEND_SHARED_
namespace looseleaf {
// Running softmax of one query vector.
struct Softmax {
  float largest;  // of the scores so far
  float sum;      // of exp(score - largest)
  float* values;  // [head_dim] sum of exp(score - largest) * value
};
}  // namespace looseleaf
#endif

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE float Dot(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, size_t n) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  size_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    sum0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sum0);
    sum1 = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), sum1);
  }
  for (; i + lanes <= n; i += lanes)
    sum0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sum0);
  float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  for (; i < n; ++i) total += a[i] * b[i];
  return total;
}

HWY_INLINE void Scale(float factor, float* HWY_RESTRICT x, size_t n) {
  for (size_t i = 0; i < n; ++i) x[i] *= factor;
}

HWY_INLINE void AddScaled(float factor, const float* HWY_RESTRICT x, float* HWY_RESTRICT y,
                          size_t n) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto f = hn::Set(d, factor);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes)
    hn::StoreU(hn::MulAdd(f, hn::LoadU(d, x + i), hn::LoadU(d, y + i)), d, y + i);
  for (; i < n; ++i) y[i] += factor * x[i];
}

// Takes one page's visible keys into the softmax. keys, values: [kPageTokens, dim];
// bias: [kPageTokens] or null.
void AttendPage(const float* query, const float* keys, const float* values, uint32_t visible,
                size_t dim, float scale, const float* bias, Softmax& state) {
  HWY_ALIGN float weights[kPageTokens];
  float largest = state.largest;
  for (int j = 0; j < kPageTokens; ++j) {
    // Far below any score, yet finite: exp of the difference is exactly 0.
    weights[j] = -1e30f;
    if (!(visible >> j & 1)) continue;
    weights[j] = Dot(query, keys + static_cast<size_t>(j) * dim, dim) * scale;
    if (bias != nullptr) weights[j] += bias[j];
    largest = std::max(largest, weights[j]);
  }
  const hn::CappedTag<float, kPageTokens> d;
  for (size_t j = 0; j < kPageTokens; j += hn::Lanes(d))
    hn::Store(hn::Exp(d, hn::Sub(hn::Load(d, weights + j), hn::Set(d, largest))), d, weights + j);
  if (largest != state.largest) {
    const float shrink = std::isinf(state.largest) ? 0.0f : std::exp(state.largest - largest);
    state.sum *= shrink;
    Scale(shrink, state.values, dim);
    state.largest = largest;
  }
  for (uint32_t rest = visible; rest != 0; rest &= rest - 1) {
    const int j = std::countr_zero(rest);
    state.sum += weights[j];
    AddScaled(weights[j], values + static_cast<size_t>(j) * dim, state.values, dim);
  }
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {
namespace {

HWY_EXPORT(AttendPage);

// Query vectors of one task: enough to use a page that has been widened, few enough to stay in L1.
constexpr int kTileVectors = 32;

struct Task {
  const RowGroup* group;
  std::span<const int32_t> rows;
  int kv_head;
};

class Tile {
 public:
  Tile(const AttendArgs& args, const Task& task)
      : args_(args),
        task_(task),
        share_(args.heads / args.kv_heads),
        dim_(static_cast<size_t>(args.head_dim)),
        query_(vectors() * dim_),
        turned_(vectors() * dim_),
        values_(vectors() * dim_, 0.0f),
        softmax_(vectors()),
        visible_(task.rows.size()),
        keys_(kPageTokens * dim_),
        page_values_(kPageTokens * dim_) {
    for (size_t v = 0; v < vectors(); ++v) {
      const float* from = args.query + row_head(v) * dim_;
      std::copy(from, from + dim_, query_.data() + v * dim_);
      softmax_[v] = {-std::numeric_limits<float>::infinity(), 0.0f, values_.data() + v * dim_};
    }
  }

  void attend(const Segment& segment, int limit) {
    const float* query = query_.data();
    if (!segment.turn.empty()) {
      turned_ = query_;
      for (size_t v = 0; v < vectors(); ++v)
        turn_head<Turn::kBack>(turned_.data() + v * dim_, segment.turn.data(), args_.rotary_dims,
                               args_.pairs);
      query = turned_.data();
    }
    const int tokens = segment.tokens(args_.layer);
    for (int page = 0; page * kPageTokens < tokens; ++page) {
      uint32_t any = 0;
      for (size_t r = 0; r < visible_.size(); ++r) {
        const int32_t position = args_.positions[static_cast<size_t>(task_.rows[r])];
        visible_[r] = visible_keys(segment, args_.layer, limit, args_.window, position, page);
        any |= visible_[r];
      }
      if (any != 0) attend_page(segment, page, tokens, query);
    }
  }

  void finish() const {
    for (size_t v = 0; v < vectors(); ++v) {
      const Softmax& s = softmax_[v];
      const float inverse = s.sum > 0 ? 1 / s.sum : 0;
      float* out = args_.out + row_head(v) * dim_;
      for (size_t i = 0; i < dim_; ++i) out[i] = s.values[i] * inverse;
      if (args_.lse != nullptr) args_.lse[row_head(v)] = s.largest + std::log(s.sum);
    }
  }

 private:
  size_t vectors() const { return task_.rows.size() * static_cast<size_t>(share_); }
  // Vector v is head `v % share` of this KV head's group in row `v / share`.
  size_t row_head(size_t v) const {
    const auto share = static_cast<size_t>(share_);
    return static_cast<size_t>(task_.rows[v / share]) * static_cast<size_t>(args_.heads) +
           static_cast<size_t>(task_.kv_head) * share + v % share;
  }

  void attend_page(const Segment& segment, int page, int tokens, const float* query) {
    const KvLayout& layout = *segment.layout;
    const int first = page * kPageTokens;
    const int count = std::min(kPageTokens, tokens - first);
    const float* keys =
        widen(segment, page, layout.key_offset(args_.layer, task_.kv_head), count, keys_.data());
    const float* values = widen(segment, page, layout.value_offset(args_.layer, task_.kv_head),
                                count, page_values_.data());
    for (size_t v = 0; v < vectors(); ++v) {
      const size_t r = v / static_cast<size_t>(share_);
      if (visible_[r] == 0) continue;
      float bias[kPageTokens];
      if (!args_.alibi.empty()) {
        const float slope = args_.alibi[row_head(v) % static_cast<size_t>(args_.heads)];
        const int32_t position = args_.positions[static_cast<size_t>(task_.rows[r])];
        for (int j = 0; j < count; ++j)
          bias[j] = slope * static_cast<float>(segment.position_of(first + j) - position);
      }
      HWY_DYNAMIC_DISPATCH(AttendPage)
      (query + v * dim_, keys, values, visible_[r], dim_, args_.scale,
       args_.alibi.empty() ? nullptr : bias, softmax_[v]);
    }
  }

  const AttendArgs& args_;
  const Task& task_;
  int share_;  // query heads a KV head
  size_t dim_;
  std::vector<float> query_;        // [vectors, head_dim] as given
  std::vector<float> turned_;       // [vectors, head_dim] turned back for the segment at hand
  std::vector<float> values_;       // [vectors, head_dim]
  std::vector<Softmax> softmax_;    // [vectors]
  std::vector<uint32_t> visible_;   // [rows]
  std::vector<float> keys_;         // [kPageTokens, head_dim]
  std::vector<float> page_values_;  // [kPageTokens, head_dim]
};

}  // namespace

void cpu_attend(ThreadPool& pool, const AttendArgs& args) {
  const auto tile_rows =
      static_cast<size_t>(std::max(1, kTileVectors / (args.heads / args.kv_heads)));
  std::vector<Task> tasks;
  for (const RowGroup& group : args.groups) {
    const auto end = std::lower_bound(group.rows.begin(), group.rows.end(), args.active);
    const auto rows = group.rows.first(static_cast<size_t>(end - group.rows.begin()));
    for (size_t first = 0; first < rows.size(); first += tile_rows)
      for (int head = 0; head < args.kv_heads; ++head)
        tasks.push_back(
            {&group, rows.subspan(first, std::min(tile_rows, rows.size() - first)), head});
  }
  pool.parallel_for(static_cast<int64_t>(tasks.size()), [&](int64_t t) {
    const Task& task = tasks[static_cast<size_t>(t)];
    Tile tile(args, task);
    for (const SegmentUse& use : task.group->uses)
      tile.attend(args.segments[static_cast<size_t>(use.segment)], use.limit);
    tile.finish();
  });
}

}  // namespace looseleaf
#endif  // HWY_ONCE
