// The methods of strings, dicts, lists and loops that a template may call.
#pragma once

#include <optional>
#include <string_view>

#include "text/jinja/runtime.h"

namespace looseleaf::jinja {

// The method `name` bound to `self`. A method that would change its object gives an undefined value
// that says so. Nothing where the type has none of that name.
std::optional<Value> find_method(const Value& self, std::string_view name);

// REQUIRES: `method` came from find_method.
Value call_method(Runtime& runtime, const Function& method, const Arguments& arguments);

// str.isupper and str.islower.
bool all_upper(std::string_view text);
bool all_lower(std::string_view text);

}  // namespace looseleaf::jinja
