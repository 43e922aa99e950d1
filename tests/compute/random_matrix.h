// Random weight matrices of every type.
#pragma once

#include <cstring>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "model/weight_type.h"

namespace looseleaf {

// A matrix of random bytes in the type's format; scales are kept small and finite.
struct RandomMatrix {
  RandomMatrix(const WeightType& type, int64_t rows, int64_t cols, std::mt19937& random) {
    matrix = {&type, nullptr, rows, cols};
    bytes.resize(static_cast<size_t>(matrix.bytes()));
    matrix.data = bytes.data();
    std::normal_distribution<float> normal(0, 0.1f);
    if (type.block == 1) {  // plain numbers: f32, f16, bf16 from the same float
      for (int64_t i = 0; i < rows * cols; ++i) {
        const float x = normal(random);
        uint32_t bits;
        std::memcpy(&bits, &x, 4);
        const uint16_t brain = static_cast<uint16_t>(bits >> 16);
        const uint16_t half = static_cast<uint16_t>(random() % 0x3800 | (random() & 0x8000));
        const void* source = type.block_bytes == 4 ? static_cast<const void*>(&x)
                             : type.name == "bf16" ? static_cast<const void*>(&brain)
                                                   : static_cast<const void*>(&half);
        std::memcpy(bytes.data() + i * type.block_bytes, source,
                    static_cast<size_t>(type.block_bytes));
      }
      return;
    }
    for (std::byte& b : bytes) b = static_cast<std::byte>(random());
    const auto [scale_at, least_at] = halves(type.name);
    for (size_t at = 0; at < bytes.size(); at += static_cast<size_t>(type.block_bytes)) {
      const uint16_t scale = static_cast<uint16_t>(0x2000 + random() % 0x400);  // about 0.008-0.016
      const uint16_t least = static_cast<uint16_t>(0xA800 + random() % 0x400);  // about -0.03
      std::memcpy(bytes.data() + at + scale_at, &scale, 2);
      if (least_at >= 0) std::memcpy(bytes.data() + at + least_at, &least, 2);
    }
  }
  // Where a block has its scale and, or -1, its minimum.
  static std::pair<int, int> halves(std::string_view type) {
    if (type == "q4_1" || type == "q5_1" || type == "q4_K" || type == "q5_K") return {0, 2};
    if (type == "q2_K") return {80, 82};
    if (type == "q3_K") return {108, -1};
    if (type == "q6_K") return {208, -1};
    return {0, -1};
  }

  std::vector<std::byte> bytes;
  WeightMatrix matrix;
};

// Rows must be whole blocks.
inline std::vector<int64_t> column_counts(const WeightType& type) {
  if (type.block > 32) return {type.block, 2 * type.block};
  return {32, 96, 160, 576};
}

}  // namespace looseleaf
