// Products of few rows, which take as long as reading the weights: the GPU's
// compute/cpu/row_product.cc. Weights are read once for all rows and multiplied in float32 with x
// as it is.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "compute/cuda/numbers.h"

namespace looseleaf::cuda {

// What one launch takes at most. More rows are faster on the tensor cores.
inline constexpr int kFewRows = 2, kMostProducts = 3;

enum class RowOutput : int32_t {
  kAssign,      // y = x W^T + bias
  kAccumulate,  // y += x W^T + bias
  kGate,  // of two products of as many outputs: the first's y = silu(gate) * up (2002.05202); the
          // second's is not written
};

// Several products with the same x.
struct RowProducts {
  struct Each {
    const void* w;      // [outputs, cols] of `type`
    const float* bias;  // [outputs] or null
    float* y;           // [rows, outputs]
    int64_t outputs;
  } each[kMostProducts];
  const float* x;  // [rows, cols]
  int64_t cols;
  int32_t count;  // of products
  int32_t rows;   // 1 to kFewRows
  RowOutput output;
  Number type;
};

// Whether a matrix can be read in steps of 4 values.
inline bool has_row_product(const GpuMatrix& w) { return w.cols % 4 == 0; }

// REQUIRES: has_row_product of each W.
void row_products(const RowProducts& products, cudaStream_t stream);

}  // namespace looseleaf::cuda
