#include "model/json.h"

#include <boost/json/basic_parser_impl.hpp>
#include <boost/json/parse.hpp>
#include <limits>
#include <set>
#include <vector>

#include "base/mapped_file.h"
#include "text/quote.h"

namespace looseleaf {
namespace json = boost::json;
namespace {

constexpr size_t kMaxDepth = 32;

// Boost's own parser keeps the last of two equal keys without a word, so a first walk that builds
// nothing looks for them.
struct DuplicateKeys {
  static constexpr size_t max_array_size = std::numeric_limits<size_t>::max();
  static constexpr size_t max_object_size = max_array_size;
  static constexpr size_t max_string_size = max_array_size;
  static constexpr size_t max_key_size = max_array_size;

  std::vector<std::set<std::string, std::less<>>> open_objects;
  std::string key;
  std::optional<std::string> duplicate;

  bool on_object_begin(json::error_code&) {
    open_objects.emplace_back();
    return true;
  }
  bool on_object_end(size_t, json::error_code&) {
    open_objects.pop_back();
    return true;
  }
  bool on_key_part(json::string_view part, size_t, json::error_code&) {
    key += std::string_view(part);
    return true;
  }
  bool on_key(json::string_view part, size_t, json::error_code& status) {
    key += std::string_view(part);
    if (!open_objects.back().insert(key).second) {
      duplicate = key;
      status = json::error::syntax;
      return false;
    }
    key.clear();
    return true;
  }
  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }
  bool on_array_begin(json::error_code&) { return true; }
  bool on_array_end(size_t, json::error_code&) { return true; }
  bool on_string_part(json::string_view, size_t, json::error_code&) { return true; }
  bool on_string(json::string_view, size_t, json::error_code&) { return true; }
  bool on_number_part(json::string_view, json::error_code&) { return true; }
  bool on_int64(int64_t, json::string_view, json::error_code&) { return true; }
  bool on_uint64(uint64_t, json::string_view, json::error_code&) { return true; }
  bool on_double(double, json::string_view, json::error_code&) { return true; }
  bool on_bool(bool, json::error_code&) { return true; }
  bool on_null(json::error_code&) { return true; }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }
};

std::string_view kind_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null:
      return "null";
    case json::kind::bool_:
      return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
      return "an integer";
    case json::kind::double_:
      return "a number with a fraction";
    case json::kind::string:
      return "a string";
    case json::kind::array:
      return "an array";
    case json::kind::object:
      return "an object";
  }
  return "?";
}

// One overload a type of JsonView::find: the value, or what was expected instead.
template <typename T>
using Converted = tl::expected<T, std::string>;

template <std::integral T>
Converted<T> convert(const json::value& value, std::string_view, T*) {
  if (!value.is_int64() && !value.is_uint64()) return tl::unexpected<std::string>("an integer");
  const auto expected = [] {
    return fmt::format("an integer from {} to {}", std::numeric_limits<T>::min(),
                       std::numeric_limits<T>::max());
  };
  if (value.is_uint64() || !std::in_range<T>(value.get_int64())) return tl::unexpected(expected());
  return static_cast<T>(value.get_int64());
}

Converted<bool> convert(const json::value& value, std::string_view, bool*) {
  if (!value.is_bool()) return tl::unexpected<std::string>("true or false");
  return value.get_bool();
}

Converted<double> convert(const json::value& value, std::string_view, double*) {
  if (value.is_double()) return value.get_double();
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  return tl::unexpected<std::string>("a number");
}

Converted<std::vector<double>> convert(const json::value& value, std::string_view where,
                                       std::vector<double>*) {
  if (!value.is_array()) return tl::unexpected<std::string>("an array of numbers");
  std::vector<double> numbers;
  for (const json::value& element : value.get_array()) {
    const auto number = convert(element, where, static_cast<double*>(nullptr));
    if (!number)
      return tl::unexpected(fmt::format("an array of numbers alone: element {} is {}",
                                        numbers.size(), kind_name(element)));
    numbers.push_back(*number);
  }
  return numbers;
}

Converted<std::string_view> convert(const json::value& value, std::string_view, std::string_view*) {
  if (!value.is_string()) return tl::unexpected<std::string>("a string");
  return std::string_view(value.get_string());
}

Converted<JsonView> convert(const json::value& value, std::string_view where, JsonView*) {
  if (!value.is_object()) return tl::unexpected<std::string>("an object");
  return JsonView(value.get_object(), std::string(where));
}

}  // namespace

Expected<json::object> parse_json_object(std::string_view text, std::string_view where) {
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::error_code status;
  json::basic_parser<DuplicateKeys> walk(options);
  const size_t walked = walk.write_some(false, text.data(), text.size(), status);
  if (walk.handler().duplicate)
    return error(ErrorCode::kCorrupt, "{}: key {} stands twice in one object", where,
                 quote(*walk.handler().duplicate));
  if (status)
    return error(ErrorCode::kCorrupt, "{}: offset {}: not JSON that can be read: {}", where, walked,
                 status.message());
  json::value value = json::parse(json::string_view(text.data(), text.size()), status, {}, options);
  if (status)
    return error(ErrorCode::kCorrupt, "{}: not JSON that can be read: {}", where, status.message());
  if (!value.is_object())
    return error(ErrorCode::kCorrupt, "{}: holds {}, not an object", where, kind_name(value));
  return std::move(value.get_object());
}

Expected<json::object> read_json_object(const std::filesystem::path& path) {
  LL_ASSIGN(const auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  return parse_json_object({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                           path.string());
}

template <typename T>
Expected<std::optional<T>> JsonView::find(std::string_view key) const {
  const json::value* value = object_->if_contains(key);
  if (value == nullptr || value->is_null()) return std::optional<T>();
  auto converted = convert(*value, fmt::format("{}: '{}'", where_, key), static_cast<T*>(nullptr));
  if (!converted)
    return error(ErrorCode::kCorrupt, "{}: '{}' is {}, not {}", where_, key, kind_name(*value),
                 converted.error());
  return std::optional<T>(std::move(*converted));
}

template Expected<std::optional<bool>> JsonView::find(std::string_view) const;
template Expected<std::optional<int32_t>> JsonView::find(std::string_view) const;
template Expected<std::optional<int64_t>> JsonView::find(std::string_view) const;
template Expected<std::optional<double>> JsonView::find(std::string_view) const;
template Expected<std::optional<std::vector<double>>> JsonView::find(std::string_view) const;
template Expected<std::optional<std::string_view>> JsonView::find(std::string_view) const;
template Expected<std::optional<JsonView>> JsonView::find(std::string_view) const;

}  // namespace looseleaf
