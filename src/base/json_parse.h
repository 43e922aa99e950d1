// Parsing JSON of strangers: UTF-8 only, no duplicate keys, bounded depth and size, exact numbers.
#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <filesystem>
#include <string_view>

#include "base/status.h"

namespace looseleaf {

// Arrays and objects inside one another; our own bodies need 8, tokenizer.json about as many.
inline constexpr size_t kMaxJsonDepth = 32;
// Values take up to 16 times the bytes of their text. The largest tokenizer.json has 35 MB.
inline constexpr size_t kMaxJsonBytes = size_t{256} << 20;

// Whole numbers that fit become int64 or uint64, all others the nearest double.
// Errors: kInvalidArgument, with line and column of what could not be read.
Expected<boost::json::value> parse_json(std::string_view text);

// The same for text of the file `name`, which starts the messages; they give the offset.
// Errors: kCorrupt.
Expected<boost::json::value> parse_json(std::string_view text, std::string_view name);

// The same where the whole text must be one object.
Expected<boost::json::object> parse_json_object(std::string_view text, std::string_view name);

// Errors: those of parse_json_object and MappedFile::open.
Expected<boost::json::object> read_json_object(const std::filesystem::path& path);

}  // namespace looseleaf
