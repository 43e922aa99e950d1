#include "compute/cuda/weights.h"

#include <algorithm>
#include <vector>

#include "compute/cuda/kernels.h"

namespace looseleaf::cuda {
namespace {

// Weights that are widened at a time: 32 MB as floats.
constexpr int64_t kPiece = int64_t{8} << 20;

}  // namespace

Number Weights::held_as(const WeightType& type) const {
  if (exact_ || type.name == "f32") return Number::kF32;
  return type.name == "f16" ? Number::kF16 : Number::kBF16;
}

Status Weights::load(const WeightMatrix& matrix) {
  const std::pair<const void*, int64_t> key{matrix.data, matrix.rows};
  if (matrices_.contains(key)) return {};
  const Number type = held_as(*matrix.type);
  const auto count = static_cast<size_t>(matrix.rows * matrix.cols);
  LL_ASSIGN(Memory memory, gpu_.memory(count * number_bytes(type), "a weight matrix"));
  if (matrix.type->name == number_name(type))
    gpu_.upload(memory.get(), matrix.data, count * number_bytes(type));
  else
    LL_RETURN_IF_ERROR(widen(matrix, type, memory.get()));
  const GpuMatrix held{memory.get(), type, matrix.rows, matrix.cols};
  matrices_.emplace(key, Held{held, std::move(memory)});
  ++counts_[{number_name(type), std::string(matrix.type->name)}];
  return {};
}

Status Weights::widen(const WeightMatrix& matrix, Number type, void* to) {
  const int64_t panel = std::clamp<int64_t>(kPiece / matrix.cols, 1, matrix.rows);
  std::vector<float> floats(static_cast<size_t>(panel * matrix.cols));
  Memory on_gpu;
  LL_ASSIGN(on_gpu, gpu_.memory(floats.size() * sizeof(float), "widening weights"));
  for (int64_t first = 0; first < matrix.rows; first += panel) {
    const int64_t rows = std::min(panel, matrix.rows - first);
    pool_.parallel_for(rows, [&](int64_t r) {
      matrix.dequantize_row(first + r, floats.data() + r * matrix.cols);
    });
    const auto count = rows * matrix.cols;
    gpu_.upload(on_gpu.get(), floats.data(), static_cast<size_t>(count) * sizeof(float));
    narrow(
        static_cast<const float*>(on_gpu.get()), count, type,
        static_cast<std::byte*>(to) + static_cast<size_t>(first * matrix.cols) * number_bytes(type),
        gpu_.stream());
  }
  gpu_.synchronize();
  return {};
}

Status Weights::load(std::span<const float> vector) {
  const std::pair<const void*, size_t> key{vector.data(), vector.size()};
  if (vectors_.contains(key)) return {};
  LL_ASSIGN(Memory memory, gpu_.memory(vector.size_bytes(), "a weight vector"));
  gpu_.upload(memory.get(), vector.data(), vector.size_bytes());
  vectors_.emplace(key, std::move(memory));
  return {};
}

const GpuMatrix& Weights::find(const WeightMatrix& matrix) const {
  return matrices_.at({matrix.data, matrix.rows}).matrix;
}

const float* Weights::find(std::span<const float> vector) const {
  if (vector.empty()) return nullptr;
  return static_cast<const float*>(vectors_.at({vector.data(), vector.size()}).get());
}

std::string Weights::describe() const {
  std::string text;
  for (const auto& [types, count] : counts_) {
    const auto& [held, stored] = types;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, held);
    if (held != stored) text += fmt::format(" (from {})", stored);
  }
  return text;
}

}  // namespace looseleaf::cuda
