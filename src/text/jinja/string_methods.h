// The methods of Python's str, as a table.
#pragma once

#include <span>
#include <string_view>

#include "text/jinja/runtime.h"

namespace looseleaf::jinja {

struct Method {
  std::string_view name;
  std::string_view signature;  // as bind() takes it
  Value (*call)(Runtime& runtime, const Value& self, const Bound& arguments);
};

// `format` is here by name; its arguments have no signature.
std::span<const Method> string_methods();

}  // namespace looseleaf::jinja
