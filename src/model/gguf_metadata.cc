#include "model/gguf_metadata.h"

#include "text/quote.h"

namespace looseleaf {
namespace {

// Bytes of a number of this type; 0: not a number.
uint64_t number_bytes(GgufType type) {
  switch (type) {
    case GgufType::kU8:
    case GgufType::kI8:
    case GgufType::kBool:
      return 1;
    case GgufType::kU16:
    case GgufType::kI16:
      return 2;
    case GgufType::kU32:
    case GgufType::kI32:
    case GgufType::kF32:
      return 4;
    case GgufType::kU64:
    case GgufType::kI64:
    case GgufType::kF64:
      return 8;
    default:
      return 0;
  }
}

// `what`: "metadata 'key'".
Expected<GgufValue> read_array(GgufCursor& cursor, std::string_view what) {
  GgufValue out;
  out.type = GgufType::kArray;
  const uint64_t start = cursor.position();
  LL_ASSIGN(const auto element, cursor.number<uint32_t>(what));
  LL_ASSIGN(const auto count, cursor.number<uint64_t>(what));
  out.element = static_cast<GgufType>(element);
  if (out.element == GgufType::kArray)
    return error(ErrorCode::kUnsupported, "{}: offset {}: {} is an array of arrays", cursor.path(),
                 start, what);
  const bool strings = out.element == GgufType::kString;
  const uint64_t least = strings ? sizeof(uint64_t) : number_bytes(out.element);
  if (least == 0)
    return error(ErrorCode::kCorrupt, "{}: offset {}: {} is an array of the unknown type {}",
                 cursor.path(), start, what, element);
  if (count > cursor.left() / least)
    return error(ErrorCode::kCorrupt,
                 "{}: offset {}: {} has {} elements, more than the file can hold: get it again",
                 cursor.path(), start, what, count);
  if (!strings) {
    LL_ASSIGN(out.bytes, cursor.take(count * least, what));
    return out;
  }
  out.strings.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    LL_ASSIGN(const auto text, cursor.string(what));
    out.strings.push_back(text);
  }
  return out;
}

Expected<GgufValue> read_value(GgufCursor& cursor, std::string_view what) {
  const uint64_t start = cursor.position();
  LL_ASSIGN(const auto type, cursor.number<uint32_t>(what));
  GgufValue out;
  out.type = static_cast<GgufType>(type);
  if (out.type == GgufType::kArray) return read_array(cursor, what);
  if (out.type == GgufType::kString) {
    LL_ASSIGN(const auto text, cursor.string(what));
    out.bytes = std::as_bytes(std::span(text));
    return out;
  }
  const uint64_t size = number_bytes(out.type);
  if (size == 0)
    return error(ErrorCode::kCorrupt, "{}: offset {}: {} has the unknown type {}", cursor.path(),
                 start, what, type);
  LL_ASSIGN(out.bytes, cursor.take(size, what));
  if (out.type == GgufType::kBool && std::to_integer<int>(out.bytes[0]) > 1)
    return error(ErrorCode::kCorrupt, "{}: offset {}: {} is {}, not 0 or 1", cursor.path(), start,
                 what, std::to_integer<int>(out.bytes[0]));
  return out;
}

}  // namespace

std::string_view gguf_type_name(GgufType type) {
  static constexpr std::string_view kNames[] = {"u8",  "i8",  "u16",  "i16",    "u32",
                                                "i32", "f32", "bool", "string", "array",
                                                "u64", "i64", "f64"};
  const auto id = static_cast<uint32_t>(type);
  return id < std::size(kNames) ? kNames[id] : "?";
}

Expected<std::pair<std::string_view, GgufValue>> read_gguf_entry(GgufCursor& cursor) {
  LL_ASSIGN(const auto key, cursor.string("a metadata key"));
  LL_ASSIGN(GgufValue value, read_value(cursor, "metadata " + quote(key)));
  return std::pair(key, std::move(value));
}

}  // namespace looseleaf
