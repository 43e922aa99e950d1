// Reads GGUF files (versions 2 and 3, little-endian): metadata, and where each tensor lies.
#pragma once

#include <cstring>
#include <memory>
#include <optional>
#include <unordered_map>

#include "model/tensor_table.h"

namespace looseleaf {

// The numbers that stand in the file.
enum class GgufType : uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
};

// An array of numbers as it lies in the file, at any alignment.
template <typename T>
class GgufNumbers {
 public:
  GgufNumbers() = default;
  explicit GgufNumbers(std::span<const std::byte> bytes) : bytes_(bytes) {}
  size_t size() const { return bytes_.size() / sizeof(T); }
  T operator[](size_t i) const {
    T value;
    std::memcpy(&value, bytes_.data() + i * sizeof(T), sizeof(T));
    return value;
  }
  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

struct GgufValue {
  GgufType type = GgufType::kU8;
  GgufType element = GgufType::kU8;       // of a kArray
  std::span<const std::byte> bytes;       // the number, the string's characters or the numbers
  std::vector<std::string_view> strings;  // of an array of strings
};

// Everything points into `files`, which it keeps. Metadata are those of the first file.
class GgufFile {
 public:
  // One file, a part of a split model too (gguf_split.h reads all of them).
  // Errors: kCorrupt (with the offset, key or tensor), kUnsupported (version, byte order, weight
  // type).
  static Expected<GgufFile> read(std::shared_ptr<const MappedFile> file);

  // Takes the tensors of another part of the same model. Errors: kCorrupt (a name that is there).
  Status add_part(GgufFile&& part);

  uint32_t version() const { return version_; }
  // At least one.
  const std::vector<std::shared_ptr<const MappedFile>>& files() const { return files_; }
  std::string path() const { return files_.front()->path().string(); }
  const TensorTable& tensors() const { return tensors_; }

  bool has(std::string_view key) const { return metadata_.contains(key); }
  // T: bool, int32_t, uint16_t, uint32_t, int64_t, uint64_t (any integer type whose value fits),
  // float or double (any floating-point type), std::string_view, std::span<const std::string_view>,
  // GgufNumbers<int32_t>, GgufNumbers<float>, GgufNumbers<uint8_t> (i8 too).
  // Errors: kCorrupt (no such key, another type, a value that does not fit).
  template <typename T>
  Expected<T> get(std::string_view key) const;
  // Nothing when there is no such key.
  template <typename T>
  Expected<std::optional<T>> find(std::string_view key) const {
    if (!has(key)) return std::optional<T>();
    LL_ASSIGN(T value, get<T>(key));
    return std::optional<T>(std::move(value));
  }

 private:
  GgufFile() = default;

  std::vector<std::shared_ptr<const MappedFile>> files_;
  uint32_t version_ = 0;
  std::unordered_map<std::string_view, GgufValue> metadata_;
  TensorTable tensors_;
};

}  // namespace looseleaf
