#include "compute/cpu/turn.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/turn.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void TurnHeads(float direction, float* x, size_t heads, size_t head_dim, const float* turn,
               size_t half, RopePairs pairs) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto sign = hn::Set(d, direction);
  for (size_t h = 0; h < heads; ++h, x += head_dim) {
    size_t j = 0;
    for (; j + lanes <= half; j += lanes) {
      const auto cos = hn::LoadU(d, turn + j);
      const auto sin = hn::Mul(sign, hn::LoadU(d, turn + half + j));
      auto a = hn::Zero(d), b = hn::Zero(d);
      if (pairs == RopePairs::kHalves) {
        a = hn::LoadU(d, x + j);
        b = hn::LoadU(d, x + half + j);
      } else {
        hn::LoadInterleaved2(d, x + 2 * j, a, b);
      }
      const auto turned_a = hn::NegMulAdd(b, sin, hn::Mul(a, cos));
      const auto turned_b = hn::MulAdd(a, sin, hn::Mul(b, cos));
      if (pairs == RopePairs::kHalves) {
        hn::StoreU(turned_a, d, x + j);
        hn::StoreU(turned_b, d, x + half + j);
      } else {
        hn::StoreInterleaved2(turned_a, turned_b, d, x + 2 * j);
      }
    }
    for (; j < half; ++j) {
      float& a = x[pairs == RopePairs::kHalves ? j : 2 * j];
      float& b = x[pairs == RopePairs::kHalves ? j + half : 2 * j + 1];
      const float cos = turn[j], sin = direction * turn[half + j], a0 = a;
      a = a0 * cos - b * sin;
      b = b * cos + a0 * sin;
    }
  }
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {

HWY_EXPORT(TurnHeads);

void turn_heads(Turn direction, float* x, int heads, int head_dim, const float* turn,
                int rotary_dims, RopePairs pairs) {
  HWY_DYNAMIC_DISPATCH(TurnHeads)
  (direction == Turn::kForward ? 1.0f : -1.0f, x, static_cast<size_t>(heads),
   static_cast<size_t>(head_dim), turn, static_cast<size_t>(rotary_dims / 2), pairs);
}

}  // namespace looseleaf
#endif  // HWY_ONCE
