// Products of few rows with weights as the file stores them: what decoding mostly does.
#pragma once

#include <cstdint>

#include "compute/cpu/weight_kind.h"

namespace looseleaf {

inline constexpr int kRowProductRows = 8;  // rows of x at most

struct RowProduct {
  WeightKind kind;
  const std::byte* weights = nullptr;  // [count] rows, of row_bytes each
  int64_t row_bytes = 0;
  int64_t count = 0;
  int64_t cols = 0;
  const float* x = nullptr;     // [rows, cols]
  int rows = 0;                 // [1, kRowProductRows]
  const float* bias = nullptr;  // [count] or null
  bool accumulate = false;
  float* y = nullptr;  // [rows, y_stride], of which the first `count` columns are written
  int64_t y_stride = 0;
};

// y = x W^T + bias (or y +=). Each weight is decoded once into a register and multiplied with all
// rows there, in float32: what differs from the float64 product is the rounding of a sum.
void row_product(const RowProduct& args);

// The same by family. REQUIRES: the kind is of the family.
void row_product_numbers(const RowProduct& args);  // f32, f16, bf16
void row_product_blocks(const RowProduct& args);   // blocks of 32 weights
void row_product_k(const RowProduct& args);        // blocks of 256 weights

}  // namespace looseleaf
