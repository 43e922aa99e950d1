// Filters and tests by name.
#pragma once

#include <span>
#include <string_view>

#include "text/jinja/runtime.h"

namespace looseleaf::jinja {

// Faults: no such filter or test, and what it faults with itself.
Value call_filter(Runtime& runtime, std::string_view name, const Value& input,
                  const Arguments& arguments);
bool call_test(Runtime& runtime, std::string_view name, const Value& value,
               const Arguments& arguments);

bool has_filter(std::string_view name);
bool has_test(std::string_view name);

struct Filter {
  std::string_view name;
  std::string_view signature;  // as bind() takes it
  Value (*call)(Runtime& runtime, const Value& input, const Bound& arguments);
};
// The tables that call_filter looks through.
std::span<const Filter> text_filters();      // of strings and numbers
std::span<const Filter> sequence_filters();  // of lists and dicts

// jinja2's way to an attribute: "a.b.0", or an int; undefined means the item itself. `missing`
// stands for each step that is undefined, unless it is None.
Value attribute_path(Runtime& runtime, const Value& item, const Value& path,
                     const Value& missing = Value(None{}));

}  // namespace looseleaf::jinja
