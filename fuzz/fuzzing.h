// What the fuzz targets share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.h"
#include "text/marked_string.h"
#include "text/tokenizer_spec.h"

namespace looseleaf::fuzz {

inline std::string_view text_of(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// Ends the process where an error is no message for a person: empty, of several lines, not UTF-8,
// or pages long.
void check_message(const Error& error);

template <typename T>
void check(const Expected<T>& result) {
  if (!result) check_message(result.error());
}

// Ends the process where a text is not UTF-8, or its ranges are not as marked_string.h says.
void check_marks(const MarkedString& text);

// A folder of this process, in memory where the system has such, gone when the process ends.
const std::filesystem::path& folder();

// Makes the tokenizer and encodes a fixed set of strings, each with a bound on what comes out.
void use_tokenizer(const TokenizerSpec& spec);

}  // namespace looseleaf::fuzz
