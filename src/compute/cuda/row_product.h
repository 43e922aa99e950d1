// Products of few rows, which take as long as reading the weights: the GPU's
// compute/cpu/row_product.cc. Weights are read once for all rows and multiplied in float32 with x
// as it is.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "compute/cuda/numbers.h"

namespace looseleaf::cuda {

// What one launch takes at most.
inline constexpr int kFewRows = 8, kMostProducts = 3;

// Several products with the same x. y = x W^T + bias, or y += where `accumulate`.
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
  Number type;
  bool accumulate;
};

// Whether a matrix can be read in steps of 16 bytes.
inline bool has_row_product(const GpuMatrix& w) { return w.cols % 8 == 0; }

// REQUIRES: has_row_product of each W.
void row_products(const RowProducts& products, cudaStream_t stream);

}  // namespace looseleaf::cuda
