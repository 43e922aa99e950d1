// Writing JSON for people as well as programs: 38.2, where Boost writes 3.82E1.
#pragma once

#include <boost/json/value.hpp>
#include <string>
#include <string_view>

namespace looseleaf {

// On one line, keys in the order of insertion. Numbers that JSON cannot hold (NaN, infinities)
// become null.
std::string write_json(const boost::json::value& value);

// A text in double quotes for an error message: escaped onto one line, cut after 40 bytes.
// REQUIRES: UTF-8.
std::string in_quotes(std::string_view text);

}  // namespace looseleaf
