// Hopper's instructions that CUDA C++ has no names for: barriers in shared memory, bulk copies,
// wgmma. After the PTX ISA, sections mbarrier, cp.async.bulk and wgmma.
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

#include "compute/cuda/page_layout.h"

namespace looseleaf::cuda {

__device__ __forceinline__ uint32_t shared_address(const void* p) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

// Barriers are 8 bytes in shared memory. A phase ends when `count` arrivals and all expected bytes
// are there.
__device__ __forceinline__ void barrier_init(uint32_t barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count));
}
__device__ __forceinline__ void barrier_init_fence() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
// Arrives, and lets the phase wait for that many copied bytes.
__device__ __forceinline__ void barrier_expect(uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void barrier_arrive(uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Lanes that speak for a warp which is done with something. One is enough; compute-sanitizer's
// racecheck believes each thread for itself only, so builds for it have all speak.
#ifdef LOOSELEAF_RACECHECK
inline constexpr int kWarpArrivals = 32;
#else
inline constexpr int kWarpArrivals = 1;
#endif
// For a barrier of kWarpArrivals a warp, when all lanes are done.
__device__ __forceinline__ void barrier_arrive_warp(uint32_t barrier) {
  __syncwarp();
  if (threadIdx.x % 32 < kWarpArrivals) barrier_arrive(barrier);
}
// Waits until the phase of that parity has ended. Parity tells only neighbouring phases apart: who
// waits must not be two phases away from the barrier, or it may wait forever.
__device__ __forceinline__ void barrier_wait(uint32_t barrier, int parity) {
  asm volatile(
      "{\n.reg .pred done;\nagain:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra again;\n}\n" ::"r"(barrier),
      "r"(parity)
      : "memory");
}

// From global to shared memory, 16-byte aligned; the bytes count for the barrier.
__device__ __forceinline__ void bulk_copy(uint32_t to, const void* from, int bytes,
                                          uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

// Makes ordinary stores to shared memory visible to the tensor cores.
__device__ __forceinline__ void tensor_core_fence() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// A matrix in shared memory as page_layout.h has it, with the 128-byte swizzle.
// head_dim: its columns; the bytes from 64 columns to the next 64 count only where rows are the
// summed dimension
template <int kHeadDim>
__device__ __forceinline__ uint64_t matrix(uint32_t address) {
  return uint64_t{(address & 0x3FFFF) >> 4} | uint64_t{kAtomBytes >> 4} << 16 |
         uint64_t{rows_apart(kHeadDim) >> 4} << 32 | uint64_t{1} << 62;
}

// A named barrier of `threads` threads: those that wait for it, and those that only arrive.
__device__ __forceinline__ void group_wait(int barrier, int threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ __forceinline__ void group_arrive(int barrier, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Registers a thread of this warpgroup, given back to or taken from the multiprocessor's pool.
template <int kRegisters>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// 2^x, relative error 2^-22; 0 where the result is no normal number.
__device__ __forceinline__ float fast_exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

// The log of a sum of exponentials: 2^largest * sum of these. -inf where there is none.
__device__ __forceinline__ float natural_lse(float largest, float sum) {
  return (largest + log2f(sum)) * 0.693147181f;
}

__device__ __forceinline__ void wgmma_begin() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void wgmma_end() {
  asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// The products since the last call become a group; groups end in the order of their calls.
__device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits until at most `kGroups` groups are under way. `x` is what the ended ones have made: the
// compiler may not move its uses up.
template <int kGroups, int kCount>
__device__ __forceinline__ void wgmma_wait(float (&x)[kCount]) {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kGroups) : "memory");
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+f"(x[i])::"memory");
}

// Eight accumulators as operands; for hopper_fp8.cuh too.
#define LOOSELEAF_F8(x, i)                                                                    \
  "+f"(x[i]), "+f"(x[i + 1]), "+f"(x[i + 2]), "+f"(x[i + 3]), "+f"(x[i + 4]), "+f"(x[i + 5]), \
      "+f"(x[i + 6]), "+f"(x[i + 7])

// s[64 x 32] (+)= a[64 x 16] b[32 x 16]^T, both with rows along the summed dimension.
__device__ __forceinline__ void wgmma_scores(float (&s)[16], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %18, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}, %16, %17, p, 1, 1, 0, 0;\n}\n"
      : LOOSELEAF_F8(s, 0), LOOSELEAF_F8(s, 8)
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

// The same for b[128 x 16].
__device__ __forceinline__ void wgmma_scores(float (&s)[64], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n.reg .pred p;\nsetp.ne.b32 p, %66, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
      "%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
      "%64, %65, p, 1, 1, 0, 0;\n}\n"
      : LOOSELEAF_F8(s, 0), LOOSELEAF_F8(s, 8), LOOSELEAF_F8(s, 16), LOOSELEAF_F8(s, 24),
        LOOSELEAF_F8(s, 32), LOOSELEAF_F8(s, 40), LOOSELEAF_F8(s, 48), LOOSELEAF_F8(s, 56)
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

// A matrix's descriptor moved on by that many bytes: its low bits are the address in units of 16.
__device__ __forceinline__ uint64_t moved(uint64_t matrix, int bytes) {
  return matrix + (bytes >> 4);
}

// s[64 x 128] = a b^T over all columns, under way when it returns. a, b: descriptors
template <int kHeadDim>
__device__ __forceinline__ void issue_scores(float (&s)[64], uint64_t a, uint64_t b) {
  wgmma_begin();
#pragma unroll
  for (int part = 0; part < kHeadDim / 16; ++part) {
    const int bytes = (part / 4) * kAtomBytes + (part % 4) * 32;
    wgmma_scores(s, moved(a, bytes), moved(b, bytes), part > 0);
  }
  wgmma_commit();
}

// o[64 x 128] += p[64 x 16] v[16 x 128], p in registers, v with rows across the summed dimension.
__device__ __forceinline__ void wgmma_values(float (&o)[64], const uint32_t (&p)[4], uint64_t v) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
      "%25,%26,%27,%28,%29,%30,%31,%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,"
      "%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}, "
      "{%64,%65,%66,%67}, %68, 1, 1, 1, 1;"
      : LOOSELEAF_F8(o, 0), LOOSELEAF_F8(o, 8), LOOSELEAF_F8(o, 16), LOOSELEAF_F8(o, 24),
        LOOSELEAF_F8(o, 32), LOOSELEAF_F8(o, 40), LOOSELEAF_F8(o, 48), LOOSELEAF_F8(o, 56)
      : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "l"(v));
}

// The same for 64 columns.
__device__ __forceinline__ void wgmma_values(float (&o)[32], const uint32_t (&p)[4], uint64_t v) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,"
      "%25,%26,%27,%28,%29,%30,%31}, {%32,%33,%34,%35}, %36, 1, 1, 1, 1;"
      : LOOSELEAF_F8(o, 0), LOOSELEAF_F8(o, 8), LOOSELEAF_F8(o, 16), LOOSELEAF_F8(o, 24)
      : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "l"(v));
}

__device__ __forceinline__ uint32_t pack(float low, float high) {
  const __nv_bfloat162 two = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const uint32_t*>(&two);
}

// Eight consecutive floats, rounded; 16-byte aligned.
__device__ __forceinline__ uint4 load_rounded(const float* from) {
  const float4 a = __ldg(reinterpret_cast<const float4*>(from));
  const float4 b = __ldg(reinterpret_cast<const float4*>(from) + 1);
  return {pack(a.x, a.y), pack(a.z, a.w), pack(b.x, b.y), pack(b.z, b.w)};
}

// 16 bytes at a shared address.
__device__ __forceinline__ uint4 load_shared(uint32_t address) {
  uint4 x;
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(x.x), "=r"(x.y), "=r"(x.z), "=r"(x.w)
               : "r"(address)
               : "memory");
  return x;
}
__device__ __forceinline__ void store_shared(uint32_t address, uint4 x) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(x.x), "r"(x.y),
               "r"(x.z), "r"(x.w)
               : "memory");
}

// A kernel that was launched to overlap this one may begin.
__device__ __forceinline__ void launch_dependents() {
  asm volatile("griddepcontrol.launch_dependents;");
}
// Waits until the kernel before this one in the stream has ended and its results can be read.
__device__ __forceinline__ void wait_for_predecessor() {
  asm volatile("griddepcontrol.wait;" ::: "memory");
}

}  // namespace looseleaf::cuda
