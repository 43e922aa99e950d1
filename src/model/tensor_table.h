// The tensors of a model's files by name: what GGUF and safetensors have in common.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mapped_file.h"
#include "base/status.h"
#include "model/weight_type.h"

namespace looseleaf {

constexpr int kMaxRank = 4;

// A tensor as it lies in a file: row-major, the innermost dimension a multiple of type->block.
struct StoredTensor {
  std::string name;
  const WeightType* type = nullptr;
  std::array<int64_t, kMaxRank> shape = {};  // outermost first; [0, rank) hold
  int rank = 0;
  std::span<const std::byte> data;
  const MappedFile* file = nullptr;  // holds `data`; owned by whoever owns the table

  std::string shape_text() const;  // "[576, 1536]"
  std::string where() const;       // "model.gguf: tensor 'x'", the start of a message
};

// Bytes of a tensor of this shape, or an error that says what is wrong with it, without saying
// which tensor it is. Errors: kCorrupt.
Expected<uint64_t> stored_bytes(const WeightType& type, std::span<const int64_t> shape);

class TensorTable {
 public:
  // Errors: kCorrupt (a tensor of this name is there already).
  Status add(StoredTensor tensor);
  const StoredTensor* find(std::string_view name) const;  // null: none
  std::span<const StoredTensor> tensors() const { return tensors_; }

 private:
  std::vector<StoredTensor> tensors_;
  std::unordered_map<std::string, size_t> by_name_;
};

}  // namespace looseleaf
