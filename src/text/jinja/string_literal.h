// What stands between the quotes of a template's string.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace looseleaf::jinja {

// Python's escapes resolved; a backslash before anything else stays. Nothing when \x, \u or \U
// lacks digits, names no character, or \N asks for one by name.
std::optional<std::string> read_string_literal(std::string_view text);

}  // namespace looseleaf::jinja
