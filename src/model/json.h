// Strict JSON for what stands beside a model: depth limit, no duplicate keys, typed fields.
#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace looseleaf {

// `text` must hold one object and nothing else but blanks. `where` starts the messages.
// Errors: kCorrupt (syntax with its offset, not UTF-8, nested too deep, a key twice in one object).
Expected<boost::json::object> parse_json_object(std::string_view text, std::string_view where);

// Errors: those of parse_json_object and MappedFile::open.
Expected<boost::json::object> read_json_object(const std::filesystem::path& path);

// An object and where it stands; borrows the object.
class JsonView {
 public:
  JsonView(const boost::json::object& object, std::string where)
      : object_(&object), where_(std::move(where)) {}

  const std::string& where() const { return where_; }  // "config.json: rope_scaling"
  const boost::json::object& object() const { return *object_; }

  // T: bool, int32_t, int64_t, double (integers too), std::vector<double>, std::string_view,
  // JsonView.
  // Nothing when the key is missing or null. Errors: kCorrupt (another type, a value out of range).
  template <typename T>
  Expected<std::optional<T>> find(std::string_view key) const;
  // The same; missing and null are errors too.
  template <typename T>
  Expected<T> get(std::string_view key) const {
    LL_ASSIGN(std::optional<T> value, find<T>(key));
    if (!value) return error(ErrorCode::kCorrupt, "{}: '{}' is missing", where_, key);
    return std::move(*value);
  }

 private:
  const boost::json::object* object_;
  std::string where_;
};

}  // namespace looseleaf
