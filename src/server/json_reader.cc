#include "server/json_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "server/json_text.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

std::string describe(const json::value& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  if (value.is_string()) return in_quotes({value.get_string().data(), value.get_string().size()});
  return write_json(value);
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

}  // namespace

tl::unexpected<Error> unsupported_field(std::string path, std::string_view why) {
  std::string message = fmt::format("{}: {}", path, why);
  return tl::unexpected(Error{ErrorCode::kUnsupported, std::move(message), std::move(path)});
}

tl::unexpected<Error> JsonField::wrong(std::string_view what) const {
  if (path_.empty()) {
    return error(ErrorCode::kInvalidArgument, "the body must be {}, not {}", what,
                 describe(*value_));
  }
  return field_error(path_, "must be {}, not {}", what, describe(*value_));
}

Expected<std::string> JsonField::string() const {
  const json::string* text = value_->if_string();
  if (text == nullptr) return wrong("a string");
  return std::string(text->data(), text->size());
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

Expected<double> JsonField::number(double low, double high) const {
  const std::optional<double> number = as_double(*value_);
  if (!number || !(*number >= low && *number <= high)) {
    return wrong(fmt::format("a number from {} to {}", low, high));
  }
  return *number;
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

Expected<size_t> JsonField::length() const {
  const json::array* list = value_->if_array();
  if (list == nullptr) return wrong("a list");
  return list->size();
}

JsonField JsonField::item(size_t i) const {
  return {value_->get_array()[i], fmt::format("{}[{}]", path_, i)};
}

Expected<ObjectReader> ObjectReader::open(const JsonField& field) {
  const json::object* object = field.value().if_object();
  if (object == nullptr) return field.wrong("an object");
  return ObjectReader(*object, field.path());
}

std::optional<JsonField> ObjectReader::take(std::string_view name) {
  taken_.emplace(name);
  const json::value* value = object_->if_contains({name.data(), name.size()});
  if (value == nullptr || value->is_null()) return std::nullopt;
  return JsonField(*value, path_of(name));
}

std::vector<std::string> ObjectReader::unknown() const {
  std::vector<std::string> names;
  for (const json::key_value_pair& member : *object_) {
    std::string name(member.key().data(), member.key().size());
    if (!member.value().is_null() && !taken_.contains(name)) names.push_back(std::move(name));
  }
  return names;
}

std::string ObjectReader::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
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
