// Typed reading of JSON, where every error names the path of its field.
//
// What a request holds is the caller's to set right: "documents[2].text: must be a string, not 5",
// kInvalidArgument, with the field as `param`. What a file holds came with the model: "config.json:
// rope_scaling.factor is a string, not a number; fetch the file again", kCorrupt.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace looseleaf {

// An error of a field that is well-formed and that this version cannot serve.
tl::unexpected<Error> unsupported_field(std::string path, std::string_view why);

// A value and its path, such as "documents[2].text". The value must outlive it.
class JsonField {
 public:
  // `file`: whose value it is; empty: a request's. An empty path is the root.
  JsonField(const boost::json::value& value, std::string path, std::string file = {})
      : value_(&value), path_(std::move(path)), file_(std::move(file)) {}

  const boost::json::value& value() const { return *value_; }
  const std::string& path() const { return path_; }
  const std::string& file() const { return file_; }
  std::string where() const;  // "config.json: rope_scaling", or the path in a request

  // Each is an error for another type or a value out of range.
  Expected<std::string> string() const;
  Expected<std::string_view> text() const;  // the same, as a view of the value
  Expected<bool> boolean() const;
  Expected<int64_t> integer(int64_t low, int64_t high) const;  // 16.0 is 16
  Expected<double> number() const;
  Expected<double> number(double low, double high) const;
  Expected<std::vector<double>> numbers() const;
  Expected<std::vector<int32_t>> token_ids() const;  // not empty, none negative
  Expected<const boost::json::array*> list() const;
  Expected<size_t> length() const;  // of a list

  // REQUIRES: length() gave more than i.
  JsonField item(size_t i) const;

  // "must be WHAT, not 5", or "is an integer, not WHAT"
  tl::unexpected<Error> wrong(std::string_view what) const;

 private:
  const boost::json::value* value_;
  std::string path_;
  std::string file_;
};

// The elements of a list, each made a field when it is asked for: a stranger chooses how many.
class JsonItems {
 public:
  JsonItems() = default;  // none
  // REQUIRES: a list.
  explicit JsonItems(JsonField list) : list_(std::move(list)) {}
  size_t size() const { return list_ ? list_->value().get_array().size() : 0; }
  JsonField operator[](size_t i) const { return list_->item(i); }

 private:
  std::optional<JsonField> list_;
};

// An object whose members are asked for by name. A member that is null counts as missing.
class ObjectReader {
 public:
  static Expected<ObjectReader> open(const JsonField& field);
  // A file's root.
  ObjectReader(const boost::json::object& object, std::string file)
      : ObjectReader(object, std::string(), std::move(file)) {}

  const boost::json::object& object() const { return *object_; }
  const std::string& path() const { return path_; }
  std::string path_of(std::string_view name) const;
  std::string where() const;  // as JsonField's; the root: the file
  std::string where(std::string_view name) const;

  // The member, or nothing.
  std::optional<JsonField> member(std::string_view name) const;

  // T: bool, int32_t, int64_t, double (integers too), std::vector<double>, std::string_view,
  // const boost::json::array*, ObjectReader. Errors: another type, a value out of range.
  template <typename T>
  Expected<std::optional<T>> find(std::string_view name) const;
  // The same; a missing member is an error too.
  template <typename T>
  Expected<T> get(std::string_view name) const {
    LL_ASSIGN(std::optional<T> value, find<T>(name));
    if (!value) return missing(name);
    return *std::move(value);
  }

  Expected<bool> boolean(std::string_view name, bool fallback) const;
  // None where the list is missing.
  Expected<JsonItems> items(std::string_view name) const;

  // As member(); what nobody took is unknown.
  std::optional<JsonField> take(std::string_view name);
  // Names of the members that were never taken and are not null.
  std::vector<std::string> unknown() const;

  // Each takes the member, and sets `out` if it is there.
  Status read(std::string_view name, std::string& out);
  Status read(std::string_view name, bool& out);
  Status read(std::string_view name, int& out, int low, int high);

 private:
  ObjectReader(const boost::json::object& object, std::string path, std::string file)
      : object_(&object), path_(std::move(path)), file_(std::move(file)) {}
  tl::unexpected<Error> missing(std::string_view name) const;

  const boost::json::object* object_;
  std::string path_;
  std::string file_;
  std::set<std::string, std::less<>> taken_;
};

// Paths of fields that had no effect. Bounded, because a stranger chooses how many there are.
class IgnoredFields {
 public:
  void add(const std::string& path);
  void add_unknown(const ObjectReader& object, const std::string& path);
  std::vector<std::string> release() && { return std::move(paths_); }

 private:
  std::vector<std::string> paths_;  // in order of appearance, each once
};

}  // namespace looseleaf
