// Parsing JSON that strangers send: UTF-8 only, no duplicate keys, bounded depth, exact numbers.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "base/status.h"

namespace looseleaf {

// Arrays and objects inside one another; our own bodies need 8.
inline constexpr size_t kMaxJsonDepth = 32;

// Whole numbers that fit become int64 or uint64, all others the nearest double.
// Errors: kInvalidArgument, with line and column of what could not be read.
Expected<boost::json::value> parse_json(std::string_view text);

}  // namespace looseleaf
