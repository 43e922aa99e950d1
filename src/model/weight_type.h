// The number formats in which weights are stored: one file each in model/weight_types/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace looseleaf {

struct WeightType {
  std::string_view name;              // as people write it: "q4_1"
  int gguf_id;                        // ggml type number; -1: not in GGUF
  std::string_view safetensors_name;  // "" : not in safetensors
  int block;                          // weights in a block
  int block_bytes;
  // Writes `blocks * block` floats. `source` need not be aligned.
  void (*dequantize)(const std::byte* source, float* target, int64_t blocks);
};

// Every type that this build reads; the table stands in weight_type.cc.
std::span<const WeightType* const> weight_types();
const WeightType* find_gguf_weight_type(uint32_t gguf_id);                    // null: unknown
const WeightType* find_safetensors_weight_type(std::string_view dtype_name);  // null: unknown

// A matrix as it lies in the file, row-major; not owned. y = W x has `rows` outputs.
struct WeightMatrix {
  const WeightType* type = nullptr;
  const std::byte* data = nullptr;  // [rows][cols / block] blocks
  int64_t rows = 0;
  int64_t cols = 0;  // a multiple of type->block

  explicit operator bool() const { return data != nullptr; }
  int64_t row_bytes() const { return cols / type->block * type->block_bytes; }
  int64_t bytes() const { return rows * row_bytes(); }
  // Writes row `row` as floats. target: [cols]
  void dequantize_row(int64_t row, float* target) const {
    type->dequantize(data + row * row_bytes(), target, cols / type->block);
  }
};

}  // namespace looseleaf
