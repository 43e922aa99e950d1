// Typed reading of a request's JSON, where every error names the path of its field.
#pragma once

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
  JsonField(const boost::json::value& value, std::string path)
      : value_(&value), path_(std::move(path)) {}

  const boost::json::value& value() const { return *value_; }
  const std::string& path() const { return path_; }

  // Each gives kInvalidArgument for another type or a value out of range.
  Expected<std::string> string() const;
  Expected<bool> boolean() const;
  Expected<int64_t> integer(int64_t low, int64_t high) const;  // 16.0 is 16
  Expected<double> number(double low, double high) const;
  Expected<std::vector<int32_t>> token_ids() const;  // not empty, none negative
  Expected<size_t> length() const;                   // of an array

  // REQUIRES: length() gave more than i.
  JsonField item(size_t i) const;

  // "must be WHAT, not 5"
  tl::unexpected<Error> wrong(std::string_view what) const;

 private:
  const boost::json::value* value_;
  std::string path_;
};

// An object whose members are asked for by name; what nobody asked for is unknown.
class ObjectReader {
 public:
  static Expected<ObjectReader> open(const JsonField& field);

  // The member, or nothing where it is missing or null.
  std::optional<JsonField> take(std::string_view name);

  // Names of the members that were never taken and are not null.
  std::vector<std::string> unknown() const;

  std::string path_of(std::string_view name) const;
  const std::string& path() const { return path_; }

  // Each sets `out` if the member is there.
  Status read(std::string_view name, std::string& out);
  Status read(std::string_view name, bool& out);
  Status read(std::string_view name, int& out, int low, int high);

 private:
  ObjectReader(const boost::json::object& object, std::string path)
      : object_(&object), path_(std::move(path)) {}
  const boost::json::object* object_;
  std::string path_;
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
