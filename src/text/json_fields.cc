#include "text/json_fields.h"

#include <boost/json/array.hpp>
#include <boost/json/monotonic_resource.hpp>
#include <boost/json/parser.hpp>

namespace looseleaf {

namespace json = boost::json;

Expected<json::value> parse_json(std::string_view text, std::string_view name) {
  json::parse_options options;
  options.max_depth = 32;
  json::parser parser({}, options);
  parser.reset(json::make_shared_resource<json::monotonic_resource>());
  json::error_code code;
  const size_t offset = parser.write(text.data(), text.size(), code);
  if (code)
    return error(ErrorCode::kCorrupt, "{}: not valid JSON at offset {}: {}; fetch the file again",
                 name, offset, code.message());
  return parser.release();
}

Expected<JsonFields> JsonFields::of(const json::value& value, std::string where) {
  if (!value.is_object()) return error(ErrorCode::kCorrupt, "{} is not a JSON object", where);
  return JsonFields(value.get_object(), std::move(where));
}

std::string JsonFields::where(std::string_view field) const {
  // "file" + "field" is "file: field", "file: a" + "b" is "file: a.b"
  const bool is_file = where_.find(": ") == std::string::npos;
  return fmt::format("{}{}{}", where_, is_file ? ": " : ".", field);
}

tl::unexpected<Error> JsonFields::wrong(std::string_view field, std::string_view wanted) const {
  return error(ErrorCode::kCorrupt, "{} is missing or not {}; fetch the file again", where(field),
               wanted);
}

const json::value* JsonFields::find(std::string_view field) const {
  const json::value* value = object_->if_contains(field);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Expected<bool> JsonFields::boolean(std::string_view field, bool fallback) const {
  const json::value* value = find(field);
  if (value == nullptr) return fallback;
  if (!value->is_bool()) return wrong(field, "true or false");
  return value->get_bool();
}

Expected<std::optional<std::string_view>> JsonFields::text(std::string_view field) const {
  const json::value* value = find(field);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) return wrong(field, "a string");
  return std::string_view(value->get_string());
}

Expected<std::string_view> JsonFields::required_text(std::string_view field) const {
  LL_ASSIGN(const auto found, text(field));
  if (!found) return wrong(field, "a string");
  return *found;
}

Expected<int64_t> JsonFields::required_integer(std::string_view field) const {
  const json::value* value = find(field);
  if (value == nullptr || !value->is_int64()) return wrong(field, "an integer");
  return value->get_int64();
}

Expected<const json::array*> JsonFields::list(std::string_view field) const {
  const json::value* value = find(field);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) return wrong(field, "a list");
  return &value->get_array();
}

Expected<std::optional<JsonFields>> JsonFields::object(std::string_view field) const {
  const json::value* value = find(field);
  if (value == nullptr) return std::nullopt;
  LL_ASSIGN(auto fields, of(*value, where(field)));
  return std::optional<JsonFields>(std::move(fields));
}

Expected<JsonFields> JsonFields::required_object(std::string_view field) const {
  LL_ASSIGN(auto found, object(field));
  if (!found) return wrong(field, "an object");
  return *std::move(found);
}

}  // namespace looseleaf
