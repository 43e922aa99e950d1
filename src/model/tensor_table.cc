#include "model/tensor_table.h"

#include <fmt/ranges.h>

#include "text/quote.h"

namespace looseleaf {

std::string StoredTensor::shape_text() const {
  return fmt::format("[{}]", fmt::join(shape.begin(), shape.begin() + rank, ", "));
}

std::string StoredTensor::where() const {
  return fmt::format("{}: tensor {}", file->path().string(), quote(name));
}

Expected<uint64_t> stored_bytes(const WeightType& type, std::span<const int64_t> shape) {
  uint64_t count = 1;
  for (const int64_t extent : shape) {
    if (extent <= 0)
      return error(ErrorCode::kCorrupt, "a dimension is {}: dimensions are at least 1", extent);
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(extent), &count))
      return error(ErrorCode::kCorrupt, "the product of its dimensions overflows 64 bits");
  }
  const int64_t inner = shape.empty() ? 1 : shape.back();
  if (inner % type.block != 0)
    return error(ErrorCode::kCorrupt, "its rows of {} weights are no multiple of {}'s block of {}",
                 inner, type.name, type.block);
  uint64_t bytes = 0;
  if (__builtin_mul_overflow(count / static_cast<uint64_t>(type.block),
                             static_cast<uint64_t>(type.block_bytes), &bytes) ||
      bytes > INT64_MAX || count > INT64_MAX)
    return error(ErrorCode::kCorrupt, "its size in bytes overflows 63 bits");
  return bytes;
}

Status TensorTable::add(StoredTensor tensor) {
  const auto [place, inserted] = by_name_.emplace(tensor.name, tensors_.size());
  if (!inserted) {
    const StoredTensor& other = tensors_[place->second];
    return error(ErrorCode::kCorrupt, "{}: the same name stands in {} already", tensor.where(),
                 other.file->path().string());
  }
  tensors_.push_back(std::move(tensor));
  return {};
}

const StoredTensor* TensorTable::find(std::string_view name) const {
  const auto place = by_name_.find(std::string(name));
  return place == by_name_.end() ? nullptr : &tensors_[place->second];
}

}  // namespace looseleaf
