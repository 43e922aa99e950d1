// Number formats in which the GPU holds weights and takes activations into products.
#pragma once

#include <cstddef>
#include <cstdint>

namespace looseleaf::cuda {

enum class Number : uint8_t { kF32, kBF16, kF16 };

constexpr size_t number_bytes(Number number) { return number == Number::kF32 ? 4 : 2; }
constexpr const char* number_name(Number number) {
  return number == Number::kF32 ? "f32" : number == Number::kBF16 ? "bf16" : "f16";
}

// Where a copy of a result goes, rounded to what a product takes; null: nowhere.
struct Rounded {
  Number type = Number::kF32;
  void* to = nullptr;
};

// A matrix in the GPU's memory, row-major.
struct GpuMatrix {
  const void* data = nullptr;  // [rows, cols]
  Number type = Number::kF32;
  int64_t rows = 0, cols = 0;
};

}  // namespace looseleaf::cuda
