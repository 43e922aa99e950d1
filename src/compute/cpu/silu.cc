#include <cmath>

#include "compute/cpu/cpu_device.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/silu.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void SiluMultiply(float* HWY_RESTRICT gate, const float* HWY_RESTRICT up, size_t count) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  const auto one = hn::Set(d, 1.0f);
  size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    const auto g = hn::LoadU(d, gate + i);
    // Beyond 88 exp would overflow; g / (1 + exp(88)) is 0 to every digit that matters.
    const auto e = hn::Exp(d, hn::Min(hn::Neg(g), hn::Set(d, 88.0f)));
    hn::StoreU(hn::Mul(hn::Div(g, hn::Add(one, e)), hn::LoadU(d, up + i)), d, gate + i);
  }
  for (; i < count; ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {

HWY_EXPORT(SiluMultiply);

void cpu_silu_multiply(ThreadPool& pool, float* gate, const float* up, int64_t count) {
  constexpr int64_t kPiece = 16384;  // a multiple of every vector length: pieces do not change bits
  pool.parallel_for((count + kPiece - 1) / kPiece, [&](int64_t p) {
    const int64_t first = p * kPiece;
    HWY_DYNAMIC_DISPATCH(SiluMultiply)
    (gate + first, up + first, static_cast<size_t>(std::min(kPiece, count - first)));
  });
}

}  // namespace looseleaf
#endif  // HWY_ONCE
