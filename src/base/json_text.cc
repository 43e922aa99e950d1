#include "base/json_text.h"

#include <fmt/format.h>

#include <boost/json/serialize.hpp>
#include <cmath>

namespace looseleaf {
namespace {

namespace json = boost::json;

void append(std::string& out, const json::value& value) {
  if (const json::object* object = value.if_object()) {
    const char* separator = "{";
    for (const json::key_value_pair& member : *object) {
      out += separator;
      out += json::serialize(member.key());
      out += ':';
      append(out, member.value());
      separator = ",";
    }
    out += object->empty() ? "{}" : "}";
  } else if (const json::array* array = value.if_array()) {
    const char* separator = "[";
    for (const json::value& item : *array) {
      out += separator;
      append(out, item);
      separator = ",";
    }
    out += array->empty() ? "[]" : "]";
  } else if (const double* number = value.if_double()) {
    out += std::isfinite(*number) ? fmt::format("{}", *number) : "null";
  } else {
    out += json::serialize(value);
  }
}

}  // namespace

std::string write_json(const json::value& value) {
  std::string out;
  append(out, value);
  return out;
}

std::string in_quotes(std::string_view text) {
  constexpr size_t kShown = 40;
  const bool cut = text.size() > kShown;
  if (cut) {
    size_t end = kShown;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end);
  }
  return json::serialize(json::string_view(text.data(), text.size())) + (cut ? "..." : "");
}

}  // namespace looseleaf
