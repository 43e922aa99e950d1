// Characters as Python's str sees them. All texts are UTF-8; REQUIRES: they are valid.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace looseleaf::jinja {

struct CodePoint {
  int32_t value;
  size_t size;  // bytes
};
CodePoint first_code_point(std::string_view text);  // REQUIRES: text is not empty
CodePoint last_code_point(std::string_view text);   // REQUIRES: text is not empty
void append_code_point(std::string& out, int32_t value);

size_t count_code_points(std::string_view text);
// The byte at which code point `index` begins; text.size() behind the last.
size_t byte_of(std::string_view text, size_t index);

bool is_space(int32_t c);      // str.isspace
bool is_printable(int32_t c);  // str.isprintable
bool is_letter(int32_t c);     // str.isalpha
bool is_decimal(int32_t c);    // str.isdecimal
bool is_numeric(int32_t c);    // str.isnumeric, by category
bool is_upper(int32_t c);
bool is_lower(int32_t c);
bool is_cased(int32_t c);

// One character to one, but for the sharp s, which becomes SS or Ss.
void append_upper(std::string& out, int32_t c);
void append_lower(std::string& out, int32_t c);
void append_title(std::string& out, int32_t c);

// Bytes of white space that `text` begins or ends with.
size_t leading_spaces(std::string_view text);
size_t trailing_spaces(std::string_view text);

}  // namespace looseleaf::jinja
