// Activations as 16-bit integers, for products with weights that are integers with a scale a block.
#pragma once

#include <cstdint>
#include <vector>

namespace looseleaf {

// Value i of row r is scales[r][i / 32] * codes[r][i], off by at most half a scale: 2^-16 of the
// largest of its 32 neighbours. A block that holds a NaN or an infinity has a NaN for its scale.
struct IntegerRows {
  static constexpr int64_t kBlock = 32;
  std::vector<int16_t> codes;  // [rows, cols] in [-32767, 32767]
  std::vector<float> scales;   // [rows, cols / kBlock]
  std::vector<float> eighths;  // [rows, cols / kBlock] scale / 8 * the sum of the block's codes

  // x: [rows, cols]. REQUIRES: cols is a multiple of kBlock
  void assign(const float* x, int rows, int64_t cols);
};

}  // namespace looseleaf
