// Products of few rows with weights as the file stores them: what decoding mostly does.
#pragma once

#include <cstdint>

#include "compute/cpu/integer_rows.h"
#include "compute/cpu/weight_kind.h"

namespace looseleaf {

inline constexpr int kRowProductRows = 8;  // rows of x at most

struct RowProduct {
  WeightKind kind;
  const std::byte* weights = nullptr;  // [count] rows, of row_bytes each
  int64_t row_bytes = 0;
  int64_t count = 0;
  int64_t cols = 0;
  const float* x = nullptr;  // [rows, cols]
  int rows = 0;              // [1, kRowProductRows]
  // In place of x, where have_integer_products(kind): rows [first_integer_row, + rows) of these.
  const IntegerRows* integers = nullptr;
  int64_t first_integer_row = 0;
  const float* bias = nullptr;  // [count] or null
  bool accumulate = false;
  float* y = nullptr;  // [rows, y_stride], of which the first `count` columns are written
  int64_t y_stride = 0;
};

// y = x W^T + bias (or y +=). Each weight is decoded once into a register and multiplied with all
// rows there. With `x` in float32: what differs from the float64 product is the rounding of a sum.
// With `integers` also that of x: at most sum over blocks of scale / 2 * sum of |weights|.
void row_product(const RowProduct& args);

// Whether there is a kernel for integers, in this type and on this processor.
bool have_integer_products(WeightKind kind);

// The same by family. REQUIRES: the kind is of the family.
void row_product_numbers(const RowProduct& args);   // f32, f16, bf16
void row_product_blocks(const RowProduct& args);    // blocks of 32 weights
void row_product_k(const RowProduct& args);         // blocks of 256 weights
void row_product_integers(const RowProduct& args);  // blocks of 32, by `integers`

}  // namespace looseleaf
