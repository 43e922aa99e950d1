// wgmma over e4m3 numbers: both operands have rows along the summed dimension. After the PTX ISA,
// section wgmma; page_layout_fp8.h has the layout of operands in shared memory.
#pragma once

#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "compute/cuda/hopper.cuh"
#include "compute/cuda/page_layout_fp8.h"

namespace looseleaf::cuda {

// A matrix in shared memory, at a multiple of 16; `apart`: bytes from eight rows to the next.
__device__ __forceinline__ uint64_t fp8_matrix(uint32_t address, int apart) {
  return uint64_t{(address & 0x3FFFF) >> 4} | uint64_t{kFp8Block >> 4} << 16 |
         static_cast<uint64_t>(apart >> 4) << 32;
}

// s[64 x 64] (+)= a[64 x 32] b[64 x 32]^T.
__device__ __forceinline__ void wgmma_fp8_scores(float (&s)[32], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
      "%25,%26,%27,%28,%29,%30,%31}, %32, %33, p, 1, 1;\n}\n"
      : LOOSELEAF_F8(s, 0), LOOSELEAF_F8(s, 8), LOOSELEAF_F8(s, 16), LOOSELEAF_F8(s, 24)
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

// o[64 x 128] (+)= p[64 x 32] v[128 x 32]^T, p in registers.
__device__ __forceinline__ void wgmma_fp8_values(float (&o)[64], const uint32_t (&p)[4], uint64_t v,
                                                 bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %69, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k32.f32.e4m3.e4m3 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
      "%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
      "{%64,%65,%66,%67}, %68, p, 1, 1;\n}\n"
      : LOOSELEAF_F8(o, 0), LOOSELEAF_F8(o, 8), LOOSELEAF_F8(o, 16), LOOSELEAF_F8(o, 24),
        LOOSELEAF_F8(o, 32), LOOSELEAF_F8(o, 40), LOOSELEAF_F8(o, 48), LOOSELEAF_F8(o, 56)
      : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "l"(v), "r"(static_cast<int>(add)));
}

// The same for 64 columns.
__device__ __forceinline__ void wgmma_fp8_values(float (&o)[32], const uint32_t (&p)[4], uint64_t v,
                                                 bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k32.f32.e4m3.e4m3 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
      "%25,%26,%27,%28,%29,%30,%31}, {%32,%33,%34,%35}, %36, p, 1, 1;\n}\n"
      : LOOSELEAF_F8(o, 0), LOOSELEAF_F8(o, 8), LOOSELEAF_F8(o, 16), LOOSELEAF_F8(o, 24)
      : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "l"(v), "r"(static_cast<int>(add)));
}

// Two numbers, each as the sum of two e4m3 codes, off by 2^-8 of itself (as in bf16) or 2^-10. The
// first number is in the lower byte. REQUIRES: magnitudes of at most 448.
struct Fp8Pairs {
  uint16_t high, low;
};
__device__ __forceinline__ Fp8Pairs split_fp8(float x, float y) {
  const __half2 both = __floats2half2_rn(x, y);
  const __nv_fp8x2_storage_t high = __nv_cvt_halfraw2_to_fp8x2(both, __NV_SATFINITE, __NV_E4M3);
  // Exact: what is left of a half is a multiple of its last place.
  const __half2 rest = __hsub2(both, __half2(__nv_cvt_fp8x2_to_halfraw2(high, __NV_E4M3)));
  return {high, __nv_cvt_halfraw2_to_fp8x2(rest, __NV_SATFINITE, __NV_E4M3)};
}

}  // namespace looseleaf::cuda
