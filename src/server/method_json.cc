#include "server/method_json.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "base/json_text.h"

namespace looseleaf {
namespace {

// A value between the colons: numbers as they are, true and false as 1 and 0.
Expected<std::string> option_text(const JsonField& field) {
  const boost::json::value& value = field.value();
  if (value.is_number()) return write_json(value);
  if (value.is_bool()) return std::string(value.get_bool() ? "1" : "0");
  if (!value.is_string()) {
    return field.wrong("a number, a word or a boolean");
  }
  LL_ASSIGN(std::string text, field.string());
  if (text.empty() || text.find_first_of(":= \t\r\n") != std::string::npos) {
    return field.wrong("a word without ':', '=' and spaces");
  }
  return text;
}

Expected<std::vector<int32_t>> token_numbers(const JsonField& field) {
  std::vector<int32_t> numbers;
  LL_ASSIGN(const size_t length, field.length());
  for (size_t i = 0; i < length; ++i) {
    LL_ASSIGN(const int64_t number, field.item(i).integer(0, std::numeric_limits<int32_t>::max()));
    numbers.push_back(static_cast<int32_t>(number));
  }
  return numbers;
}

// What `plan` takes beside options: "targets", and a "context" that is a list.
Status read_targets(ObjectReader& object, MethodFields& fields) {
  RepairTargets targets;
  if (const auto field = object.take("targets")) {
    LL_ASSIGN(const size_t layers, field->length());
    for (size_t layer = 0; layer < layers; ++layer) {
      LL_ASSIGN(std::vector<int32_t> tokens, token_numbers(field->item(layer)));
      targets.layers.push_back(std::move(tokens));
    }
  }
  const auto context = object.take("context");
  if (context && context->value().is_array()) {
    LL_ASSIGN(targets.context, token_numbers(*context));
    fields.method += ":context=list";
  } else if (context) {
    LL_ASSIGN(const std::string value, option_text(*context));
    fields.method += ":context=" + value;
  }
  fields.targets = std::move(targets);
  return {};
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

Expected<MethodFields> read_method(const JsonField& field) {
  if (field.value().is_string()) {
    LL_ASSIGN(std::string method, field.string());
    LL_RETURN_IF_ERROR(check_method(method, field.path()));
    return MethodFields{std::move(method), {}};
  }
  if (!field.value().is_object()) return field.wrong("a string or an object");
  LL_ASSIGN(ObjectReader object, ObjectReader::open(field));
  const auto name = object.take("name");
  if (!name) return field_error(object.path_of("name"), "is missing");
  MethodFields fields;
  LL_ASSIGN(fields.method, option_text(*name));
  if (fields.method == "plan") LL_RETURN_IF_ERROR(read_targets(object, fields));
  if (const auto ratio = object.take("ratio")) {
    if (!ratio->value().is_number()) return ratio->wrong("a number");
    fields.method += ':' + write_json(ratio->value());
  }
  for (const std::string& key : object.unknown()) {
    LL_ASSIGN(const std::string value, option_text(*object.take(key)));
    fields.method += fmt::format(":{}={}", key, value);
  }
  LL_RETURN_IF_ERROR(check_method(fields.method, field.path()));
  return fields;
}

}  // namespace looseleaf
