// GPT-2's alphabet: each byte is spelled as one printable code point in vocabulary files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace looseleaf {

// The UTF-8 spelling of one byte: itself where it is printable Latin-1, else U+0100 onwards in
// order of the bytes.
std::string_view spell_byte(uint8_t byte);

// The bytes behind a spelling; nothing when a code point is outside the alphabet or the spelling is
// not UTF-8.
std::optional<std::string> unspell_bytes(std::string_view spelling);

}  // namespace looseleaf
