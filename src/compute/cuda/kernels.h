// The simple operations: one kernel a file. Pointers are the GPU's; all run in the given stream.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/cuda/numbers.h"
#include "model/rope.h"

namespace looseleaf::cuda {

// out: [count, table.cols]
void embed(const GpuMatrix* table, const int32_t* tokens, int count, float* out,
           cudaStream_t stream);

// x, out: [rows, cols]; may be the same. rounded: where a copy of `out` goes, of `type`; or null
void rms_norm(const float* x, const float* weight, float eps, int rows, int cols, float* out,
              Number type, void* rounded, cudaStream_t stream);

// Where `rounded` is not null, the result goes there alone.
void silu_multiply(float* gate, const float* up, int64_t count, Number type, void* rounded,
                   cudaStream_t stream);

// out[r] = the place of the largest of row r of x [rows, cols], the first of equal ones.
void largest(const float* x, int rows, int cols, int32_t* out, cudaStream_t stream);

// Kernels in place of copies, for graphs: a copy in a graph knows the allocations that it is
// between, and these may be others at the same addresses when the graph is replayed. Either may be
// pinned memory of the host.
void copy_bytes(void* to, const void* from, size_t bytes, cudaStream_t stream);
// bytes: a multiple of 4
void zero_words(void* to, size_t bytes, cudaStream_t stream);

// Rounds to nearest; f16 holds values beyond +-65504 at that.
void narrow(const float* from, int64_t count, Number type, void* to, cudaStream_t stream);

// y = x, or y += where `accumulate`.
void assign(const float* x, int64_t count, bool accumulate, float* y, cudaStream_t stream);

// Reads the bytes once, past the caches' policy for what is used again; `out` stays as it is.
void read_all(const void* from, int64_t bytes, int blocks, void* out, cudaStream_t stream);
// Numbers of 0.5 to 1 and of either sign, as bf16 and as f32.
void fill_numbers(void* to, int64_t bytes, cudaStream_t stream);

}  // namespace looseleaf::cuda
