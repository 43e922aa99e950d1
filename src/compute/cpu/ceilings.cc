// What the machine reads and multiplies at most.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "base/stopwatch.h"
#include "compute/cpu/cpu_device.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compute/cpu/ceilings.cc"
#include <hwy/foreach_target.h>
// foreach_target.h comes first
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace looseleaf::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// REQUIRES: count is a multiple of 256.
uint32_t ReadAll(const uint32_t* HWY_RESTRICT data, size_t count) {
  const hn::ScalableTag<uint32_t> d;
  const size_t lanes = hn::Lanes(d);
  auto a = hn::Zero(d), b = a, c = a, e = a;
  for (size_t i = 0; i < count; i += 4 * lanes) {
    a = hn::Xor(a, hn::LoadU(d, data + i));
    b = hn::Xor(b, hn::LoadU(d, data + i + lanes));
    c = hn::Xor(c, hn::LoadU(d, data + i + 2 * lanes));
    e = hn::Xor(e, hn::LoadU(d, data + i + 3 * lanes));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Xor(hn::Xor(a, b), hn::Xor(c, e))));
}

}  // namespace looseleaf::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace looseleaf {
namespace {

HWY_EXPORT(ReadAll);

constexpr int kRuns = 7;

template <typename Run>
double best_seconds(Run run) {
  double best = 1e30;
  for (int i = 0; i < kRuns; ++i) {
    const Stopwatch watch;
    run();
    best = std::min(best, watch.ms() / 1000);
  }
  return best;
}

double read_rate(ThreadPool& pool, std::span<std::byte> memory) {
  constexpr int64_t kPiece = 4 << 20;
  const auto pieces = static_cast<int64_t>(memory.size()) / kPiece;
  std::memset(memory.data(), 1, memory.size());
  std::atomic<uint32_t> sum{0};  // so that nothing is left out
  const double seconds = best_seconds([&] {
    pool.parallel_for(pieces, [&](int64_t p) {
      const auto* piece = reinterpret_cast<const uint32_t*>(memory.data() + p * kPiece);
      sum += HWY_DYNAMIC_DISPATCH(ReadAll)(piece, kPiece / sizeof(uint32_t));
    });
  });
  return static_cast<double>(pieces * kPiece) / seconds / 1e9;
}

double matrix_rate(ThreadPool& pool, Products products) {
  constexpr int kRows = 512, kCols = 1024, kDepth = 1024;
  const std::vector<float> x(kRows * kDepth, 0.5f), weights(kCols * kDepth, 0.25f);
  std::vector<float> y(kRows * kCols);
  const WeightMatrix w{find_gguf_weight_type(0), reinterpret_cast<const std::byte*>(weights.data()),
                       kCols, kDepth};
  const double seconds =
      best_seconds([&] { cpu_matmul(pool, products, w, {}, x.data(), kRows, false, y.data()); });
  return 2.0 * kRows * kCols * kDepth / seconds / 1e9;
}

}  // namespace

Ceilings cpu_ceilings(ThreadPool& pool, Products products, std::span<std::byte> memory) {
  return {.read_gbps = read_rate(pool, memory), .matrix_gflops = matrix_rate(pool, products)};
}

}  // namespace looseleaf
#endif  // HWY_ONCE
