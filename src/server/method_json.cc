#include "server/method_json.h"

#include <algorithm>
#include <optional>

#include "base/json_text.h"

namespace looseleaf {
namespace {

// A value between the colons: numbers as they are, true and false as 1 and 0.
Expected<std::string> option_text(const JsonField& field) {
  const boost::json::value& value = field.value();
  if (value.is_number()) return write_json(value);
  if (value.is_bool()) return std::string(value.get_bool() ? "1" : "0");
  if (!value.is_string()) {
    return unsupported_field(field.path(), "lists and objects are not supported in a method yet");
  }
  LL_ASSIGN(std::string text, field.string());
  if (text.empty() || text.find_first_of(":= \t\r\n") != std::string::npos) {
    return field.wrong("a word without ':', '=' and spaces");
  }
  return text;
}

}  // namespace

Status check_method(std::string_view method, const std::string& field) {
  if (method.empty()) return field_error(field, "must not be empty");
  constexpr size_t kLongest = 256;
  const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7F; };
  if (method.size() > kLongest || std::ranges::any_of(method, is_control)) {
    return field_error(field, "{} is not a method; see `looseleaf methods`", in_quotes(method));
  }
  if (method.find("..") != std::string_view::npos) {
    return field_error(field, "{} is a sweep, which is for eval; give one number",
                       in_quotes(method));
  }
  return {};
}

Expected<std::string> read_method(const JsonField& field) {
  if (field.value().is_string()) {
    LL_ASSIGN(std::string method, field.string());
    LL_RETURN_IF_ERROR(check_method(method, field.path()));
    return method;
  }
  if (!field.value().is_object()) return field.wrong("a string or an object");
  LL_ASSIGN(ObjectReader object, ObjectReader::open(field));
  const auto name = object.take("name");
  if (!name) return field_error(object.path_of("name"), "is missing");
  LL_ASSIGN(std::string method, option_text(*name));
  if (const auto ratio = object.take("ratio")) {
    if (!ratio->value().is_number()) return ratio->wrong("a number");
    method += ':' + write_json(ratio->value());
  }
  for (const std::string& key : object.unknown()) {
    LL_ASSIGN(const std::string value, option_text(*object.take(key)));
    method += fmt::format(":{}={}", key, value);
  }
  LL_RETURN_IF_ERROR(check_method(method, field.path()));
  return method;
}

}  // namespace looseleaf
