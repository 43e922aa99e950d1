// Between float32 and the formats of products.
#include "compute/cuda/kernels.h"
#include "compute/cuda/launch.cuh"
#include "compute/cuda/numbers.cuh"

namespace looseleaf::cuda {
namespace {

__global__ void narrow_kernel(const float* from, int64_t count, Number type, void* to) {
  begin_overlapped();
  for (int64_t i = first_element(); i < count; i += element_stride()) {
    if (type == Number::kBF16)
      static_cast<__nv_bfloat16*>(to)[i] = __float2bfloat16_rn(from[i]);
    else if (type == Number::kF16)
      static_cast<__half*>(to)[i] = to_half(from[i]);
    else
      static_cast<float*>(to)[i] = from[i];
  }
}

__global__ void assign_kernel(const float* x, int64_t count, bool accumulate, float* y) {
  for (int64_t i = first_element(); i < count; i += element_stride())
    y[i] = accumulate ? y[i] + x[i] : x[i];
}

// T: 16 bytes, or one
template <class T>
__global__ void copy_kernel(T* to, const T* from, int64_t count) {
  begin_overlapped();
  for (int64_t i = first_element(); i < count; i += element_stride()) to[i] = from[i];
}

__global__ void zero_kernel(uint32_t* to, int64_t count) {
  begin_overlapped();
  for (int64_t i = first_element(); i < count; i += element_stride()) to[i] = 0;
}

}  // namespace

void copy_bytes(void* to, const void* from, size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return;
  const auto odd = reinterpret_cast<uintptr_t>(to) | reinterpret_cast<uintptr_t>(from) | bytes;
  const auto count = static_cast<int64_t>(bytes);
  if (odd % 16 == 0)
    launch_overlapped(copy_kernel<uint4>, blocks_for(count / 16), kThreads, stream,
                      static_cast<uint4*>(to), static_cast<const uint4*>(from), count / 16);
  else
    launch_overlapped(copy_kernel<char>, blocks_for(count), kThreads, stream,
                      static_cast<char*>(to), static_cast<const char*>(from), count);
  launched("copying");
}

void zero_words(void* to, size_t bytes, cudaStream_t stream) {
  const auto count = static_cast<int64_t>(bytes / sizeof(uint32_t));
  if (count == 0) return;
  launch_overlapped(zero_kernel, blocks_for(count), kThreads, stream, static_cast<uint32_t*>(to),
                    count);
  launched("clearing");
}

void narrow(const float* from, int64_t count, Number type, void* to, cudaStream_t stream) {
  if (count == 0) return;
  launch_overlapped(narrow_kernel, blocks_for(count), kThreads, stream, from, count, type, to);
  launched("rounding");
}

void assign(const float* x, int64_t count, bool accumulate, float* y, cudaStream_t stream) {
  if (count == 0) return;
  assign_kernel<<<blocks_for(count), kThreads, 0, stream>>>(x, count, accumulate, y);
  launched("adding");
}

}  // namespace looseleaf::cuda
