// Typed access to the fields of a JSON object, with errors that say where.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace looseleaf {

// Parses one document, nested at most 32 deep. `name` is the file's, for messages.
// Errors: kCorrupt (with the offset).
Expected<boost::json::value> parse_json(std::string_view text, std::string_view name);

// A view: the value that it was made from must outlive it. A field that is missing and one that is
// null are the same. All errors are kCorrupt: a field of the wrong type.
class JsonFields {
 public:
  // `where`: how messages name the object, e.g. "tokenizer.json: model".
  static Expected<JsonFields> of(const boost::json::value& value, std::string where);

  const std::string& where() const { return where_; }
  std::string where(std::string_view field) const;

  const boost::json::value* find(std::string_view field) const;  // nullptr: missing or null
  Expected<bool> boolean(std::string_view field, bool fallback) const;
  Expected<std::optional<std::string_view>> text(std::string_view field) const;
  Expected<std::string_view> required_text(std::string_view field) const;
  Expected<int64_t> required_integer(std::string_view field) const;
  Expected<const boost::json::array*> list(std::string_view field) const;  // nullptr: missing
  Expected<std::optional<JsonFields>> object(std::string_view field) const;
  Expected<JsonFields> required_object(std::string_view field) const;

  const boost::json::object& json() const { return *object_; }

 private:
  JsonFields(const boost::json::object& object, std::string where)
      : object_(&object), where_(std::move(where)) {}
  tl::unexpected<Error> wrong(std::string_view field, std::string_view wanted) const;

  const boost::json::object* object_;
  std::string where_;
};

}  // namespace looseleaf
