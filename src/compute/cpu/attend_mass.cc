// What attention gives each key: the second sweep of a scoring pass. Tasks are pages of segments,
// so that each key's sum has one owner and one order: rows, then heads.
#include <bit>
#include <cmath>
#include <vector>

#include "compute/cpu/cpu_device.h"
#include "compute/cpu/rotary.h"
#include "compute/cpu/visible.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/attend_mass.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// mass[j] += exp(query . key j * scale + bias[j] - lse) of the visible keys. keys: [dim,
// kPageTokens] (a key is a column); bias: [kPageTokens] or null.
void AddMass(const float* HWY_RESTRICT query, const float* HWY_RESTRICT keys, uint32_t visible,
             size_t dim, float scale, const float* bias, float lse, float* HWY_RESTRICT mass) {
  const hn::CappedTag<float, kPageTokens> d;
  const size_t lanes = hn::Lanes(d);
  HWY_ALIGN float weights[kPageTokens];
  for (size_t j = 0; j < kPageTokens; j += lanes) {
    auto score = hn::Zero(d);
    for (size_t i = 0; i < dim; ++i)
      score = hn::MulAdd(hn::Set(d, query[i]), hn::LoadU(d, keys + i * kPageTokens + j), score);
    score = hn::Mul(score, hn::Set(d, scale));
    if (bias != nullptr) score = hn::Add(score, hn::LoadU(d, bias + j));
    hn::Store(hn::Exp(d, hn::Sub(score, hn::Set(d, lse))), d, weights + j);
  }
  for (uint32_t rest = visible; rest != 0; rest &= rest - 1) {
    const int j = std::countr_zero(rest);
    mass[j] += weights[j];
  }
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {
namespace {

HWY_EXPORT(AddMass);

// One use of a segment by one group.
struct Sweep {
  const AttendArgs& args;
  std::span<const int32_t> rows;  // those that are active
  const SegmentUse& use;
  const float* query;  // [rows.size(), heads, head_dim] turned back for the segment

  const Segment& segment() const { return args.segments[static_cast<size_t>(use.segment)]; }
};

// The keys of one head's page as columns; columns that hold no token are 0.
void load_columns(const Segment& s, int page, int64_t offset, int count, int dim,
                  std::vector<float>& rows, std::vector<float>& columns) {
  const float* keys = widen(s, page, offset, count, rows.data());
  std::fill(columns.begin(), columns.end(), 0.0f);
  for (int j = 0; j < count; ++j)
    for (int i = 0; i < dim; ++i)
      columns[static_cast<size_t>(i * kPageTokens + j)] = keys[j * dim + i];
}

void sweep_page(const Sweep& sweep, int page) {
  const AttendArgs& args = sweep.args;
  const Segment& s = sweep.segment();
  const int dim = args.head_dim, share = args.heads / args.kv_heads;
  const int first = page * kPageTokens;
  const int count = std::min(kPageTokens, s.tokens(args.layer) - first);
  std::vector<uint32_t> visible(sweep.rows.size());
  uint32_t any = 0;
  for (size_t r = 0; r < visible.size(); ++r) {
    const int32_t position = args.positions[static_cast<size_t>(sweep.rows[r])];
    visible[r] = visible_keys(s, args.layer, sweep.use.limit, args.window, position, page);
    any |= visible[r];
  }
  if (any == 0) return;
  std::vector<float> rows(static_cast<size_t>(kPageTokens * dim)), columns(rows.size());
  float* mass = args.mass + sweep.use.mass + first;
  for (int kv_head = 0; kv_head < args.kv_heads; ++kv_head) {
    load_columns(s, page, s.layout->key_offset(args.layer, kv_head), count, dim, rows, columns);
    for (size_t r = 0; r < visible.size(); ++r) {
      if (visible[r] == 0) continue;
      for (int head = kv_head * share; head < (kv_head + 1) * share; ++head) {
        float bias[kPageTokens] = {};
        if (!args.alibi.empty())
          for (int j = 0; j < count; ++j)
            bias[j] = args.alibi[static_cast<size_t>(head)] *
                      static_cast<float>(s.position_of(first + j) -
                                         args.positions[static_cast<size_t>(sweep.rows[r])]);
        const int64_t at = int64_t{sweep.rows[r]} * args.heads + head;
        HWY_DYNAMIC_DISPATCH(AddMass)
        (sweep.query + (static_cast<int64_t>(r) * args.heads + head) * dim, columns.data(),
         visible[r], static_cast<size_t>(dim), args.scale, args.alibi.empty() ? nullptr : bias,
         args.lse[at], mass);
      }
    }
  }
}

}  // namespace

void cpu_attend_mass(ThreadPool& pool, const AttendArgs& args) {
  const auto width = static_cast<size_t>(args.heads * args.head_dim);
  for (const RowGroup& group : args.groups) {
    const auto end = std::lower_bound(group.rows.begin(), group.rows.end(), args.active);
    const auto rows = group.rows.first(static_cast<size_t>(end - group.rows.begin()));
    std::vector<float> turned(rows.size() * width);
    for (const SegmentUse& use : group.uses) {
      if (use.mass < 0) continue;
      const Sweep sweep{args, rows, use, turned.data()};
      const Segment& s = sweep.segment();
      pool.parallel_for(static_cast<int64_t>(rows.size()), [&](int64_t r) {
        float* to = turned.data() + static_cast<size_t>(r) * width;
        const float* from = args.query + static_cast<size_t>(rows[static_cast<size_t>(r)]) * width;
        std::copy(from, from + width, to);
        if (s.turn.empty()) return;
        for (int head = 0; head < args.heads; ++head)
          turn_head<Turn::kBack>(to + head * args.head_dim, s.turn.data(), args.rotary_dims,
                                 args.pairs);
      });
      pool.parallel_for(pages_for(s.tokens(args.layer)),
                        [&](int64_t page) { sweep_page(sweep, static_cast<int>(page)); });
    }
  }
}

}  // namespace looseleaf
#endif  // HWY_ONCE
