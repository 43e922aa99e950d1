// Writes GGUF files, valid ones and, through its public fields, broken ones.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/gguf.h"

namespace looseleaf {

template <typename T>
std::string raw(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

inline std::string gguf_string(std::string_view text) {
  return raw(static_cast<uint64_t>(text.size())) + std::string(text);
}

struct GgufBuilder {
  struct Entry {
    std::string key;
    uint32_t type = 0;
    std::string bytes;
  };
  struct Tensor {
    std::string name;
    std::vector<uint64_t> shape;  // innermost first, as in the file
    uint32_t type = 0;
    std::string bytes;
    std::optional<uint64_t> offset;  // otherwise behind the tensor before
  };

  std::string magic = "GGUF";
  uint32_t version = 3;
  uint64_t alignment = 32;  // of the layout; an entry says it to the reader
  std::optional<uint64_t> tensor_count, entry_count;
  std::vector<Entry> entries;
  std::vector<Tensor> tensors;

  template <typename T>
  void set(std::string_view key, GgufType type, const T& value) {
    set_raw(key, static_cast<uint32_t>(type), raw(value));
  }
  void set_u32(std::string_view key, uint32_t value) { set(key, GgufType::kU32, value); }
  void set_f32(std::string_view key, float value) { set(key, GgufType::kF32, value); }
  void set_bool(std::string_view key, bool value) { set(key, GgufType::kBool, value); }
  void set_string(std::string_view key, std::string_view value) {
    set_raw(key, static_cast<uint32_t>(GgufType::kString), gguf_string(value));
  }
  void set_strings(std::string_view key, const std::vector<std::string>& values) {
    std::string bytes = array_start(GgufType::kString, values.size());
    for (const auto& value : values) bytes += gguf_string(value);
    set_raw(key, static_cast<uint32_t>(GgufType::kArray), bytes);
  }
  template <typename T>
  void set_numbers(std::string_view key, GgufType element, const std::vector<T>& values) {
    std::string bytes = array_start(element, values.size());
    for (const T value : values) bytes += raw(value);
    set_raw(key, static_cast<uint32_t>(GgufType::kArray), bytes);
  }
  // Replaces an entry of this key.
  void set_raw(std::string_view key, uint32_t type, std::string bytes) {
    remove(key);
    entries.push_back({std::string(key), type, std::move(bytes)});
  }
  void remove(std::string_view key) {
    std::erase_if(entries, [&](const Entry& entry) { return entry.key == key; });
  }
  static std::string array_start(GgufType element, uint64_t count) {
    return raw(static_cast<uint32_t>(element)) + raw(count);
  }

  void add(std::string_view name, std::vector<uint64_t> shape, uint32_t type, std::string bytes) {
    tensors.push_back({std::string(name), std::move(shape), type, std::move(bytes), {}});
  }
  Tensor& tensor(std::string_view name) {
    for (Tensor& tensor : tensors)
      if (tensor.name == name) return tensor;
    std::abort();
  }
  void remove_tensor(std::string_view name) {
    std::erase_if(tensors, [&](const Tensor& tensor) { return tensor.name == name; });
  }

  std::string build() const {
    std::string out = magic + raw(version) + raw(tensor_count.value_or(tensors.size())) +
                      raw(entry_count.value_or(entries.size()));
    for (const Entry& entry : entries)
      out += gguf_string(entry.key) + raw(entry.type) + entry.bytes;
    std::string data;
    for (const Tensor& tensor : tensors) {
      data.resize((data.size() + alignment - 1) / alignment * alignment);
      out += gguf_string(tensor.name) + raw(static_cast<uint32_t>(tensor.shape.size()));
      for (const uint64_t extent : tensor.shape) out += raw(extent);
      out += raw(tensor.type) + raw(tensor.offset.value_or(data.size()));
      data += tensor.bytes;
    }
    if (!tensors.empty()) out.resize((out.size() + alignment - 1) / alignment * alignment);
    return out + data;
  }
};

}  // namespace looseleaf
