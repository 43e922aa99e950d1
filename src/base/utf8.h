// Finding out whether, and where not, bytes are UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace looseleaf {

// Bytes of the code point that starts at `text[0]`: 1 to 4; 0 when these bytes can never start one
// (overlong forms, surrogates and values above U+10FFFF included); -1 when the text ends inside it.
int utf8_length(std::string_view text);

// Offset of the first byte that is not UTF-8, or nothing when all are.
std::optional<size_t> find_invalid_utf8(std::string_view text);

// `text` with U+FFFD for each byte that is not UTF-8: for names of files and models, in JSON.
std::string shown_as_utf8(std::string_view text);

}  // namespace looseleaf
