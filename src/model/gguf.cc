// Typed access to metadata; gguf_read.cc reads the file.
#include "model/gguf.h"

#include <fmt/format.h>

#include <limits>
#include <type_traits>

#include "model/gguf_metadata.h"
#include "text/quote.h"

namespace looseleaf {
namespace {

template <typename T>
T load(const GgufValue& value) {
  T number;
  std::memcpy(&number, value.bytes.data(), sizeof number);
  return number;
}

std::string describe(const GgufValue& value) {
  if (value.type != GgufType::kArray) return std::string(gguf_type_name(value.type));
  return fmt::format("array of {}", gguf_type_name(value.element));
}

// Calls `use` with the value when it is an integer; false otherwise.
template <typename Use>
bool visit_integer(const GgufValue& value, const Use& use) {
  switch (value.type) {
    case GgufType::kU8:
      use(load<uint8_t>(value));
      return true;
    case GgufType::kI8:
      use(load<int8_t>(value));
      return true;
    case GgufType::kU16:
      use(load<uint16_t>(value));
      return true;
    case GgufType::kI16:
      use(load<int16_t>(value));
      return true;
    case GgufType::kU32:
      use(load<uint32_t>(value));
      return true;
    case GgufType::kI32:
      use(load<int32_t>(value));
      return true;
    case GgufType::kU64:
      use(load<uint64_t>(value));
      return true;
    case GgufType::kI64:
      use(load<int64_t>(value));
      return true;
    default:
      return false;
  }
}

// One overload a type of get<T>: fills `out`, or says what was expected instead.
using Mismatch = std::optional<std::string>;

template <typename T>
requires std::is_integral_v<T> Mismatch convert(const GgufValue& value, T& out) {
  bool fits = false;
  std::string shown;
  const bool integer = visit_integer(value, [&](auto number) {
    fits = std::in_range<T>(number);
    out = static_cast<T>(number);
    shown = fmt::to_string(+number);
  });
  if (!integer) return fmt::format("is {}, not an integer", describe(value));
  if (!fits)
    return fmt::format("is {}, outside {} to {}", shown, std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::max());
  return {};
}

Mismatch convert(const GgufValue& value, bool& out) {
  if (value.type != GgufType::kBool) return fmt::format("is {}, not bool", describe(value));
  out = value.bytes[0] != std::byte{0};
  return {};
}

template <typename T>
requires std::is_floating_point_v<T> Mismatch convert(const GgufValue& value, T& out) {
  if (value.type == GgufType::kF32)
    out = static_cast<T>(load<float>(value));
  else if (value.type == GgufType::kF64)
    out = static_cast<T>(load<double>(value));
  else
    return fmt::format("is {}, not a floating-point number", describe(value));
  return {};
}

Mismatch convert(const GgufValue& value, std::string_view& out) {
  if (value.type != GgufType::kString) return fmt::format("is {}, not a string", describe(value));
  out = {reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()};
  return {};
}

Mismatch convert(const GgufValue& value, std::span<const std::string_view>& out) {
  if (value.type != GgufType::kArray || value.element != GgufType::kString)
    return fmt::format("is {}, not an array of strings", describe(value));
  out = value.strings;
  return {};
}

template <typename T>
Mismatch convert(const GgufValue& value, GgufNumbers<T>& out) {
  constexpr GgufType kElement = std::is_same_v<T, float>     ? GgufType::kF32
                                : std::is_same_v<T, uint8_t> ? GgufType::kU8
                                                             : GgufType::kI32;
  // Bytes stand there signed or unsigned, as a converter happened to have them.
  const bool same =
      value.element == kElement || (kElement == GgufType::kU8 && value.element == GgufType::kI8);
  if (value.type != GgufType::kArray || !same)
    return fmt::format("is {}, not an array of {}", describe(value), gguf_type_name(kElement));
  out = GgufNumbers<T>(value.bytes);
  return {};
}

}  // namespace

template <typename T>
Expected<T> GgufFile::get(std::string_view key) const {
  const auto place = metadata_.find(key);
  if (place == metadata_.end())
    return error(ErrorCode::kCorrupt, "{}: metadata has no {}: convert the model again", path(),
                 quote(key));
  T out = {};
  if (const Mismatch mismatch = convert(place->second, out))
    return error(ErrorCode::kCorrupt, "{}: metadata {} {}: convert the model again", path(),
                 quote(key), *mismatch);
  return out;
}

template Expected<bool> GgufFile::get(std::string_view) const;
template Expected<int32_t> GgufFile::get(std::string_view) const;
template Expected<uint16_t> GgufFile::get(std::string_view) const;
template Expected<uint32_t> GgufFile::get(std::string_view) const;
template Expected<int64_t> GgufFile::get(std::string_view) const;
template Expected<uint64_t> GgufFile::get(std::string_view) const;
template Expected<float> GgufFile::get(std::string_view) const;
template Expected<double> GgufFile::get(std::string_view) const;
template Expected<std::string_view> GgufFile::get(std::string_view) const;
template Expected<std::span<const std::string_view>> GgufFile::get(std::string_view) const;
template Expected<GgufNumbers<int32_t>> GgufFile::get(std::string_view) const;
template Expected<GgufNumbers<float>> GgufFile::get(std::string_view) const;
template Expected<GgufNumbers<uint8_t>> GgufFile::get(std::string_view) const;

}  // namespace looseleaf
