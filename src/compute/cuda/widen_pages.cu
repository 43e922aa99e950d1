#include "compute/cuda/kv_codec.cuh"
#include "compute/cuda/kv_kernels.h"

namespace looseleaf::cuda {
namespace {

__device__ __forceinline__ uint32_t two_bf16(float low, float high) {
  const __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&two);
}

// A block a page, head, and K or V; a thread takes eight dimensions of a token at a time.
__global__ void widen_kernel(const PageView* views, const GpuPage* pages, int layer,
                             std::byte* to) {
  const GpuPage page = pages[blockIdx.x];
  const PageView view = views[page.view];
  const int head = blockIdx.y, dim = view.head_dim;
  const bool value = blockIdx.z == 1;
  const Piece piece = head_piece(view, page.at, layer, head, value);
  std::byte* target = to + blockIdx.x * page_layer_bytes(view.kv_heads, dim) +
                      (value ? value_piece(head, view.kv_heads, dim) : key_piece(head, dim));
  for (int n = threadIdx.x; n < kPageTokens * dim / 8; n += blockDim.x) {
    const int slot = n % kPageTokens, group = n / kPageTokens;
    const float4 a = load_four(view, piece, slot, group * 8);
    const float4 b = load_four(view, piece, slot, group * 8 + 4);
    *reinterpret_cast<uint4*>(target + swizzled(slot, group, dim)) = {
        two_bf16(a.x, a.y), two_bf16(a.z, a.w), two_bf16(b.x, b.y), two_bf16(b.z, b.w)};
  }
}

}  // namespace

void widen_pages(const PageView* views, const GpuPage* pages, int count, int kv_heads, int layer,
                 std::byte* to, cudaStream_t stream) {
  if (count == 0) return;
  const dim3 grid(static_cast<unsigned>(count), static_cast<unsigned>(kv_heads), 2);
  widen_kernel<<<grid, 128, 0, stream>>>(views, pages, layer, to);
  launched("widening keys and values");
}

}  // namespace looseleaf::cuda
