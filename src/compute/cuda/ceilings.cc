#include "compute/cuda/ceilings.h"

#include <algorithm>
#include <limits>

#include "compute/cuda/kernels.h"

namespace looseleaf::cuda {
namespace {

constexpr int kRuns = 7;

// Least seconds of several runs, by the GPU's own clock.
template <class Work>
double best_seconds(Gpu& gpu, Work&& work) {
  constexpr const char* kTiming = "timing";
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), kTiming);
  check(cudaEventCreate(&stop), kTiming);
  float best_ms = std::numeric_limits<float>::max();
  for (int run = 0; run <= kRuns; ++run) {
    check(cudaEventRecord(start, gpu.stream()), kTiming);
    work();
    check(cudaEventRecord(stop, gpu.stream()), kTiming);
    check(cudaEventSynchronize(stop), kTiming);
    float ms = 0;
    check(cudaEventElapsedTime(&ms, start, stop), kTiming);
    if (run > 0) best_ms = std::min(best_ms, ms);  // the first finds cold clocks and caches
  }
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  return best_ms / 1e3;
}

}  // namespace

Expected<double> read_rate(Gpu& gpu) {
  constexpr size_t kMost = size_t{4} << 30, kUnit = size_t{64} << 20;
  size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "asking for free memory");
  const size_t bytes = std::max(kUnit, std::min(kMost, free / 2 / kUnit * kUnit));
  LL_ASSIGN(const Memory memory, gpu.memory(bytes, "measuring the read rate"));
  fill_numbers(memory.get(), static_cast<int64_t>(bytes), gpu.stream());
  double seconds = std::numeric_limits<double>::max();
  for (const int blocks : {2, 4})  // a multiprocessor
    seconds = std::min(seconds, best_seconds(gpu, [&] {
                         read_all(memory.get(), static_cast<int64_t>(bytes),
                                  gpu.properties().multiProcessorCount * blocks, memory.get(),
                                  gpu.stream());
                       }));
  return static_cast<double>(bytes) / seconds / 1e9;
}

Expected<double> matrix_rate(Gpu& gpu, Products& products, bool f32) {
  constexpr int kSize = 8192;
  const Number type = f32 ? Number::kF32 : Number::kBF16;
  const size_t count = size_t{kSize} * kSize, bytes = count * number_bytes(type);
  LL_ASSIGN(const Memory w, gpu.memory(bytes, "measuring the matrix rate"));
  LL_ASSIGN(const Memory x, gpu.memory(bytes, "measuring the matrix rate"));
  LL_ASSIGN(const Memory y, gpu.memory(count * sizeof(float), "measuring the matrix rate"));
  fill_numbers(w.get(), static_cast<int64_t>(bytes), gpu.stream());
  fill_numbers(x.get(), static_cast<int64_t>(bytes), gpu.stream());
  const GpuMatrix matrix{w.get(), type, kSize, kSize};
  const double seconds = best_seconds(gpu, [&] {
    Products::multiply_rows(&products, {&matrix, nullptr, static_cast<float*>(y.get())}, x.get(),
                            kSize, false, gpu.stream());
  });
  return 2.0 * kSize * kSize * kSize / seconds / 1e9;
}

}  // namespace looseleaf::cuda
