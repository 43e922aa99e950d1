#include "base/json_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json_text.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

// What stands in a request is shown as it is: whoever wrote it will recognize it.
std::string describe(const json::value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return in_quotes({value.get_string().data(), value.get_string().size()});
  return write_json(value);
}

std::string_view kind_name(const json::value& value) {
  if (value.is_null()) return "null";
  if (value.is_bool()) return "a boolean";
  if (value.is_int64() || value.is_uint64()) return "an integer";
  if (value.is_double()) return "a number with a fraction";
  if (value.is_string()) return "a string";
  return value.is_array() ? "a list" : "an object";
}

// Compares before it converts: casting a double that is out of range is undefined, and above 2^53
// it need not be the number that was written.
std::optional<int64_t> as_integer(const json::value& value) {
  if (value.is_int64()) return value.get_int64();
  constexpr double kTwo53 = 9007199254740992.0;
  if (const double* number = value.if_double()) {
    if (std::abs(*number) <= kTwo53 && std::trunc(*number) == *number) {
      return static_cast<int64_t>(*number);
    }
  }
  return std::nullopt;  // also for uint64, which only holds what int64 cannot
}

std::optional<double> as_double(const json::value& value) {
  if (value.is_int64()) return static_cast<double>(value.get_int64());
  if (value.is_uint64()) return static_cast<double>(value.get_uint64());
  if (value.is_double()) return value.get_double();
  return std::nullopt;
}

std::string place(const std::string& file, const std::string& path) {
  if (file.empty() || path.empty()) return file.empty() ? path : file;
  return fmt::format("{}: {}", file, path);
}

// One overload a type of ObjectReader::find.
Expected<bool> convert(const JsonField& field, bool*) { return field.boolean(); }
Expected<double> convert(const JsonField& field, double*) { return field.number(); }
Expected<std::string_view> convert(const JsonField& field, std::string_view*) {
  return field.text();
}
Expected<std::vector<double>> convert(const JsonField& field, std::vector<double>*) {
  return field.numbers();
}
Expected<const json::array*> convert(const JsonField& field, const json::array**) {
  return field.list();
}
Expected<ObjectReader> convert(const JsonField& field, ObjectReader*) {
  return ObjectReader::open(field);
}
template <std::integral T>
Expected<T> convert(const JsonField& field, T*) {
  LL_ASSIGN(const int64_t number,
            field.integer(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
  return static_cast<T>(number);
}

}  // namespace

tl::unexpected<Error> unsupported_field(std::string path, std::string_view why) {
  std::string message = fmt::format("{}: {}", path, why);
  return tl::unexpected(Error{ErrorCode::kUnsupported, std::move(message), std::move(path)});
}

std::string JsonField::where() const { return place(file_, path_); }

tl::unexpected<Error> JsonField::wrong(std::string_view what) const {
  if (!file_.empty()) {
    return error(ErrorCode::kCorrupt, "{} is {}, not {}; fetch the file again", where(),
                 kind_name(*value_), what);
  }
  if (path_.empty()) {
    return error(ErrorCode::kInvalidArgument, "the body must be {}, not {}", what,
                 describe(*value_));
  }
  return field_error(path_, "must be {}, not {}", what, describe(*value_));
}

Expected<std::string_view> JsonField::text() const {
  const json::string* text = value_->if_string();
  if (text == nullptr) return wrong("a string");
  return std::string_view(text->data(), text->size());
}

Expected<std::string> JsonField::string() const {
  LL_ASSIGN(const std::string_view view, text());
  return std::string(view);
}

Expected<bool> JsonField::boolean() const {
  if (!value_->is_bool()) return wrong("true or false");
  return value_->get_bool();
}

Expected<int64_t> JsonField::integer(int64_t low, int64_t high) const {
  const std::optional<int64_t> number = as_integer(*value_);
  if (!number || *number < low || *number > high) {
    return wrong(fmt::format("a whole number from {} to {}", low, high));
  }
  return *number;
}

Expected<double> JsonField::number() const {
  const std::optional<double> number = as_double(*value_);
  if (!number) return wrong("a number");
  return *number;
}

Expected<double> JsonField::number(double low, double high) const {
  const std::optional<double> number = as_double(*value_);
  if (!number || !(*number >= low && *number <= high)) {
    return wrong(fmt::format("a number from {} to {}", low, high));
  }
  return *number;
}

Expected<std::vector<double>> JsonField::numbers() const {
  if (!value_->is_array()) return wrong("a list of numbers");
  std::vector<double> numbers;
  numbers.reserve(value_->get_array().size());
  for (size_t i = 0; i < value_->get_array().size(); ++i) {
    LL_ASSIGN(const double number, item(i).number());
    numbers.push_back(number);
  }
  return numbers;
}

Expected<std::vector<int32_t>> JsonField::token_ids() const {
  const json::array* list = value_->if_array();
  if (list == nullptr || list->empty()) return wrong("a list of token ids that is not empty");
  std::vector<int32_t> tokens;
  tokens.reserve(list->size());
  for (size_t i = 0; i < list->size(); ++i) {
    const std::optional<int64_t> token = as_integer((*list)[i]);
    if (!token || *token < 0 || *token > std::numeric_limits<int32_t>::max()) {
      return item(i).wrong("a token id");
    }
    tokens.push_back(static_cast<int32_t>(*token));
  }
  return tokens;
}

Expected<const json::array*> JsonField::list() const {
  const json::array* list = value_->if_array();
  if (list == nullptr) return wrong("a list");
  return list;
}

Expected<size_t> JsonField::length() const {
  LL_ASSIGN(const json::array* items, list());
  return items->size();
}

JsonField JsonField::item(size_t i) const {
  return {value_->get_array()[i], fmt::format("{}[{}]", path_, i), file_};
}

Expected<ObjectReader> ObjectReader::open(const JsonField& field) {
  const json::object* object = field.value().if_object();
  if (object != nullptr) return ObjectReader(*object, field.path(), field.file());
  if (field.file().empty()) return field.wrong("an object");
  return error(ErrorCode::kCorrupt, "{} is not a JSON object", field.where());
}

std::string ObjectReader::path_of(std::string_view name) const {
  // The key of a stranger must neither break a message into lines nor fill pages.
  constexpr size_t kLongest = 64;
  const bool plain = name.size() <= kLongest && std::ranges::none_of(name, [](char c) {
                       return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
                     });
  const std::string shown = plain ? std::string(name) : in_quotes(name);
  return path_.empty() ? shown : fmt::format("{}.{}", path_, shown);
}

std::string ObjectReader::where() const { return place(file_, path_); }

std::string ObjectReader::where(std::string_view name) const { return place(file_, path_of(name)); }

std::optional<JsonField> ObjectReader::member(std::string_view name) const {
  const json::value* value = object_->if_contains({name.data(), name.size()});
  if (value == nullptr || value->is_null()) return std::nullopt;
  return JsonField(*value, path_of(name), file_);
}

template <typename T>
Expected<std::optional<T>> ObjectReader::find(std::string_view name) const {
  const auto field = member(name);
  if (!field) return std::optional<T>();
  LL_ASSIGN(T value, convert(*field, static_cast<T*>(nullptr)));
  return std::optional<T>(std::move(value));
}

template Expected<std::optional<bool>> ObjectReader::find(std::string_view) const;
template Expected<std::optional<int32_t>> ObjectReader::find(std::string_view) const;
template Expected<std::optional<int64_t>> ObjectReader::find(std::string_view) const;
template Expected<std::optional<double>> ObjectReader::find(std::string_view) const;
template Expected<std::optional<std::vector<double>>> ObjectReader::find(std::string_view) const;
template Expected<std::optional<std::string_view>> ObjectReader::find(std::string_view) const;
template Expected<std::optional<const json::array*>> ObjectReader::find(std::string_view) const;
template Expected<std::optional<ObjectReader>> ObjectReader::find(std::string_view) const;

Expected<bool> ObjectReader::boolean(std::string_view name, bool fallback) const {
  LL_ASSIGN(const auto value, find<bool>(name));
  return value.value_or(fallback);
}

Expected<JsonItems> ObjectReader::items(std::string_view name) const {
  const auto field = member(name);
  if (!field) return JsonItems();
  LL_RETURN_IF_ERROR(field->list());
  return JsonItems(*field);
}

tl::unexpected<Error> ObjectReader::missing(std::string_view name) const {
  if (file_.empty()) return field_error(path_of(name), "is missing");
  return error(ErrorCode::kCorrupt, "{} is missing; fetch the file again", where(name));
}

std::optional<JsonField> ObjectReader::take(std::string_view name) {
  taken_.emplace(name);
  return member(name);
}

std::vector<std::string> ObjectReader::unknown() const {
  std::vector<std::string> names;
  for (const json::key_value_pair& member : *object_) {
    std::string name(member.key().data(), member.key().size());
    if (!member.value().is_null() && !taken_.contains(name)) names.push_back(std::move(name));
  }
  return names;
}

Status ObjectReader::read(std::string_view name, std::string& out) {
  if (const auto field = take(name)) {
    LL_ASSIGN(out, field->string());
  }
  return {};
}

Status ObjectReader::read(std::string_view name, bool& out) {
  if (const auto field = take(name)) {
    LL_ASSIGN(out, field->boolean());
  }
  return {};
}

Status ObjectReader::read(std::string_view name, int& out, int low, int high) {
  const auto field = take(name);
  if (!field) return {};
  LL_ASSIGN(const int64_t number, field->integer(low, high));
  out = static_cast<int>(number);
  return {};
}

void IgnoredFields::add(const std::string& path) {
  constexpr size_t kMost = 64;
  if (paths_.size() == kMost || std::ranges::find(paths_, path) != paths_.end()) return;
  paths_.push_back(path);
}

void IgnoredFields::add_unknown(const ObjectReader& object, const std::string& path) {
  for (const std::string& name : object.unknown()) {
    add(path.empty() ? name : fmt::format("{}.{}", path, name));
  }
}

}  // namespace looseleaf
