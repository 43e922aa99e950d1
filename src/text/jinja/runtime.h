// What filters, tests and methods work with: the budget, and the making of values within it.
#pragma once

#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/budget.h"
#include "text/jinja/fault.h"
#include "text/jinja/value.h"

namespace looseleaf::jinja {

// The local time now. Empty: templates have no strftime_now.
using Clock = std::function<std::tm()>;

class Runtime {
 public:
  Runtime(const Limits& limits, Clock clock) : budget(limits), clock(std::move(clock)) {}

  // Each faults where its size, depth or contents are beyond the limits.
  Value text(MarkedString text);
  Value text(std::string_view text, Origin origin = Origin::kTemplate);
  Value sequence(std::vector<Value> items, Form form = Form::kList);
  Value dict(std::vector<std::pair<Value, Value>> entries);  // REQUIRES: keys differ
  // What a container may hold: everything but namespaces and loops, which would make circles.
  // Gives its depth.
  int storable(const Value& value) const;

  Budget budget;
  Clock clock;
};

// What a string takes beside its bytes.
inline constexpr size_t kTextOverhead = 96;

// Builds a string within the budget.
class TextBuilder {
 public:
  explicit TextBuilder(Runtime& runtime) : runtime_(runtime) {
    runtime_.budget.build(kTextOverhead);
  }

  void append(std::string_view text, Origin origin = Origin::kTemplate) {
    runtime_.budget.build(text.size());
    text_.append(text, origin);
  }
  void append(const MarkedString& text) {
    runtime_.budget.build(text.text().size());
    text_.append(text);
  }
  // `times` copies.
  void repeat(const MarkedString& text, int64_t times);

  const MarkedString& built() const { return text_; }
  Value take() { return Value::text(std::move(text_)); }

 private:
  Runtime& runtime_;
  MarkedString text_;
};

// The arguments of a call as they are written.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;
};

// The same, one for each parameter.
class Bound {
 public:
  // Undefined where it is left out.
  const Value& operator[](size_t parameter) const { return values_[parameter]; }
  bool has(size_t parameter) const { return given_[parameter]; }
  // Given, and not None.
  bool has_some(size_t parameter) const { return has(parameter) && !values_[parameter].is_none(); }

  size_t size() const { return values_.size(); }
  void add(Value value, bool given) {
    values_.push_back(std::move(value));
    given_.push_back(given);
  }

 private:
  std::vector<Value> values_;
  std::vector<bool> given_;
};

// `signature`: names in order with blanks between, an optional one ends in "=", e.g.
// "old new count="; "/" in front: none can be given by name. Faults like Python: `callee` starts
// the message.
Bound bind(std::string_view callee, std::string_view signature, const Arguments& arguments);

}  // namespace looseleaf::jinja
