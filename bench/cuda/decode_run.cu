#include "decode_run.h"

#include <cmath>
#include <numbers>
#include <numeric>

#include "compute/cuda/attend_decode_fp8.h"

namespace looseleaf::bench {
namespace {

// One mixed 64-bit counter (splitmix64).
__device__ uint64_t mixed(uint64_t counter) {
  uint64_t x = counter * 0x9E3779B97F4A7C15ull;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

// Words that are numbers both as two codes and as a scale, of 2^-5 to 2^-3.
__global__ void fp8_kernel(uint16_t* to, int64_t count, uint64_t seed) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = static_cast<uint16_t>(0x2800 | (mixed(i + seed) & 0x07BF));
}

// The sum of four uniform numbers.
__global__ void random_kernel(__nv_bfloat16* to, int64_t count, uint64_t seed) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
    const uint64_t x = mixed(i + seed);
    float sum = 0;
    for (int part = 0; part < 4; ++part) sum += float((x >> (16 * part)) & 0xFFFF) / 65536.0f;
    to[i] = __float2bfloat16((sum - 2.0f) * 1.7f);
  }
}

std::vector<int32_t> page_numbers(int pages) {
  std::vector<int32_t> numbers(static_cast<size_t>(pages));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

void fill_random(__nv_bfloat16* to, int64_t count, uint64_t seed) {
  random_kernel<<<1024, 256>>>(to, count, seed);
  require(cudaDeviceSynchronize(), "filling");
}

Pages::Pages(const Heads& heads, int pages)
    : type_(heads.type),
      memory_(static_cast<size_t>(pages * heads.page_bytes())),
      numbers_(page_numbers(pages)) {}

void Pages::fill_random(uint64_t seed) {
  if (type_ == KvType::kFP8) {
    fp8_kernel<<<1024, 256>>>(reinterpret_cast<uint16_t*>(memory_.data()),
                              static_cast<int64_t>(memory_.size() / 2), seed);
    return require(cudaDeviceSynchronize(), "filling");
  }
  bench::fill_random(reinterpret_cast<__nv_bfloat16*>(memory_.data()),
                     static_cast<int64_t>(memory_.size() / 2), seed);
}

DecodeRun::DecodeRun(const Heads& heads, const Workload& load, const AttendPlan& plan,
                     const Pages& pages, const __nv_bfloat16* query, __nv_bfloat16* out)
    : heads_(heads),
      blocks_(static_cast<int>(plan.first_item.size()) - 1),
      turns_(load.turns),
      items_(plan.items),
      first_item_(plan.first_item),
      vectors_(plan.vectors),
      first_partial_(plan.first_partial),
      partial_values_(static_cast<size_t>(plan.first_partial.back()) * heads.head_dim),
      partial_softmax_(static_cast<size_t>(plan.first_partial.back())) {
  partial_values_.poison();
  partial_softmax_.poison();
  const double scale = 1 / std::sqrt(static_cast<double>(heads.head_dim));
  decode_ = {.query = query,
             .turns = turns_.data(),
             .layer = pages.memory().data(),
             .page_bytes = heads.page_bytes(),
             .pages = pages.numbers(),
             .kv_heads = heads.kv_heads,
             .scale_log2 = static_cast<float>(scale * std::numbers::log2e),
             .items = items_.data(),
             .first_item = first_item_.data(),
             .vectors = vectors_.data(),
             .partial_values = partial_values_.data(),
             .partial_softmax = partial_softmax_.data()};
  merge_ = {.partial_values = partial_values_.data(),
            .partial_softmax = partial_softmax_.data(),
            .first_partial = first_partial_.data(),
            .merged = nullptr,
            .out = out,
            .queries = load.requests() * heads.heads};
}

void DecodeRun::launch_decode(cudaStream_t stream) const {
  const cudaError_t launched =
      heads_.type == KvType::kFP8
          ? cuda::attend_decode_fp8(decode_, heads_.head_dim, blocks_, false, stream)
          : cuda::attend_decode(decode_, heads_.head_dim, blocks_, stream);
  require(launched, "attend_decode");
}

void DecodeRun::launch(cudaStream_t stream) const {
  launch_decode(stream);
  require(cuda::merge_partials(merge_, heads_.head_dim, stream), "merge_partials");
}

}  // namespace looseleaf::bench
