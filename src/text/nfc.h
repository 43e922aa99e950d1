// Unicode normalization forms C and KC, which some tokenizers apply to text first.
#pragma once

#include <string>
#include <string_view>

namespace looseleaf {

// True only if `text` is in form C for certain: every code point is below U+0300, where the first
// combining mark stands. Most texts are, and need no copy.
bool is_surely_nfc(std::string_view text);

// `text` in form C, in O(n log n) whatever the marks.
// REQUIRES: `text` is UTF-8.
std::string to_nfc(std::string_view text);
// In form KC, the same way.
std::string to_nfkc(std::string_view text);

}  // namespace looseleaf
