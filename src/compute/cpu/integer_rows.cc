#include "compute/cpu/integer_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/integer_rows.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr size_t kBlock = IntegerRows::kBlock;

void BlocksToIntegers(const float* HWY_RESTRICT x, size_t blocks, int16_t* HWY_RESTRICT codes,
                      float* HWY_RESTRICT scales, float* HWY_RESTRICT eighths) {
  const hn::CappedTag<float, 16> d;
  const hn::RebindToSigned<decltype(d)> di;
  const hn::Rebind<int16_t, decltype(d)> d16;
  const size_t lanes = hn::Lanes(d);
  for (size_t b = 0; b < blocks; ++b, x += kBlock, codes += kBlock) {
    auto largest = hn::Zero(d), zeros = hn::Zero(d);  // NaN where a value is not finite
    for (size_t i = 0; i < kBlock; i += lanes) {
      const auto value = hn::LoadU(d, x + i);
      largest = hn::Max(largest, hn::Abs(value));
      zeros = hn::MulAdd(value, hn::Zero(d), zeros);
    }
    const float most = hn::GetLane(hn::MaxOfLanes(d, largest));
    const bool nothing = !(most > 1e-30f);  // its reciprocal would be no number
    const auto by = hn::Set(d, nothing ? 0.0f : 32767.0f / most);
    auto total = hn::Zero(di);
    for (size_t i = 0; i < kBlock; i += lanes) {
      const auto code = hn::NearestInt(hn::Mul(hn::LoadU(d, x + i), by));
      total = hn::Add(total, code);
      hn::StoreU(hn::DemoteTo(d16, code), d16, codes + i);
    }
    scales[b] = (nothing ? 0.0f : most / 32767.0f) + hn::GetLane(hn::SumOfLanes(d, zeros));
    eighths[b] = scales[b] * 0.125f * static_cast<float>(hn::GetLane(hn::SumOfLanes(di, total)));
  }
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {

HWY_EXPORT(BlocksToIntegers);

void IntegerRows::assign(const float* x, int rows, int64_t cols) {
  const auto count = static_cast<size_t>(rows) * static_cast<size_t>(cols);
  codes.resize(count);
  scales.resize(count / kBlock);
  eighths.resize(count / kBlock);
  HWY_DYNAMIC_DISPATCH(BlocksToIntegers)
  (x, count / kBlock, codes.data(), scales.data(), eighths.data());
}

}  // namespace looseleaf
#endif  // HWY_ONCE
