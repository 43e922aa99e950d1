#include <cmath>

#include "compute/cpu/cpu_device.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/norm.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void NormRow(const float* x, const float* weight, size_t cols, float eps, float* out) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  // Four sums of each lane: short rounding chains.
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  const auto square = [&](size_t i, auto sum) {
    const auto v = hn::LoadU(d, x + i);
    return hn::MulAdd(v, v, sum);
  };
  size_t i = 0;
  for (; i + 4 * lanes <= cols; i += 4 * lanes) {
    s0 = square(i, s0);
    s1 = square(i + lanes, s1);
    s2 = square(i + 2 * lanes, s2);
    s3 = square(i + 3 * lanes, s3);
  }
  for (; i + lanes <= cols; i += lanes) s0 = square(i, s0);
  const auto all = hn::Add(hn::Add(s0, s1), hn::Add(s2, s3));
  double sum = hn::GetLane(hn::SumOfLanes(d, all));
  for (; i < cols; ++i) sum += static_cast<double>(x[i]) * x[i];
  const float scale =
      static_cast<float>(1 / std::sqrt(sum / static_cast<double>(cols) + static_cast<double>(eps)));
  const auto s = hn::Set(d, scale);
  for (i = 0; i + lanes <= cols; i += lanes)
    hn::StoreU(hn::Mul(hn::Mul(hn::LoadU(d, x + i), s), hn::LoadU(d, weight + i)), d, out + i);
  for (; i < cols; ++i) out[i] = x[i] * scale * weight[i];
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {

HWY_EXPORT(NormRow);

void cpu_rms_norm(ThreadPool& pool, const float* x, std::span<const float> weight, float eps,
                  int rows, float* out) {
  const size_t cols = weight.size();
  constexpr int64_t kAtOnce = 16;  // rows a task: some microseconds
  pool.parallel_for((rows + kAtOnce - 1) / kAtOnce, [&](int64_t task) {
    for (int64_t r = task * kAtOnce; r < std::min<int64_t>(rows, (task + 1) * kAtOnce); ++r) {
      const auto at = static_cast<size_t>(r) * cols;
      HWY_DYNAMIC_DISPATCH(NormRow)(x + at, weight.data(), cols, eps, out + at);
    }
  });
}

}  // namespace looseleaf
#endif  // HWY_ONCE
