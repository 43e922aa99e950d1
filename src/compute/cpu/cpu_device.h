// The CPU device: the readable specification of every operation.
#pragma once

#include <memory>

#include "base/thread_pool.h"
#include "compute/device.h"

namespace looseleaf {

// How products compute; all sum in float32.
enum class Products {
  kFast,           // many rows from bfloat16 where the processor has it, few from 16-bit integers
  kF32,            // from float32 throughout
  kDeterministic,  // likewise, and by one kernel: a row's bits do not depend on its neighbours
};

struct CpuOptions {
  int threads = 1;
  Products products = Products::kFast;
};

std::unique_ptr<Device> make_cpu_device(const CpuOptions& options);

// What stores the same bits as this: "cpu-bf16". On a processor with other instructions kFast is
// another path.
std::string_view cpu_numeric_path(Products products);

// The operations, one file each.
void cpu_embed(ThreadPool& pool, const WeightMatrix& table, std::span<const int32_t> tokens,
               float* out);
void cpu_rms_norm(ThreadPool& pool, const float* x, std::span<const float> weight, float eps,
                  int rows, float* out);
void cpu_matmul(ThreadPool& pool, Products products, const WeightMatrix& w,
                std::span<const float> bias, const float* x, int rows, bool accumulate, float* y);
void cpu_rotate(ThreadPool& pool, float* x, std::span<const float> angles, int rows, int heads,
                int head_dim, int rotary_dims, RopePairs pairs);
void cpu_silu_multiply(ThreadPool& pool, float* gate, const float* up, int64_t count);
void cpu_store(ThreadPool& pool, int layer, const float* k, const float* v,
               std::span<const KvSlot> slots);
void cpu_attend(ThreadPool& pool, const AttendArgs& args);
void cpu_attend_mass(ThreadPool& pool, const AttendArgs& args);
void cpu_value_deviation(ThreadPool& pool, const DeviationArgs& args);
void cpu_gather(ThreadPool& pool, const GatherArgs& args);

// See Device::measure_ceilings. memory: what is read, more than any cache; 4 MiB at least.
Ceilings cpu_ceilings(ThreadPool& pool, Products products, std::span<std::byte> memory);

// Attention by its definition, in float64, key by key: what cpu_attend is tested against.
// out: [active, heads, head_dim], lse: [active, heads]
void attend_reference(const AttendArgs& args, double* out, double* lse);
// Likewise what cpu_attend_mass is tested against. lse: [active, heads]; mass: as AttendArgs::mass
void attend_mass_reference(const AttendArgs& args, const double* lse, double* mass);

}  // namespace looseleaf
