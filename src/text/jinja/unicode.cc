#include "text/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>

namespace looseleaf::jinja {
namespace {

constexpr int32_t kSharpS = 0xDF;

bool continues(char byte) { return (static_cast<uint8_t>(byte) & 0xC0) == 0x80; }

}  // namespace

CodePoint first_code_point(std::string_view text) {
  if (static_cast<uint8_t>(text[0]) < 0x80) return {text[0], 1};
  int32_t value = -1;
  const auto size =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                       static_cast<utf8proc_ssize_t>(std::min<size_t>(text.size(), 4)), &value);
  if (size <= 0) return {0xFFFD, 1};
  return {value, static_cast<size_t>(size)};
}

CodePoint last_code_point(std::string_view text) {
  size_t start = text.size() - 1;
  while (start > 0 && text.size() - start < 4 && continues(text[start])) --start;
  return first_code_point(text.substr(start));
}

void append_code_point(std::string& out, int32_t value) {
  utf8proc_uint8_t bytes[4];
  const auto size = utf8proc_encode_char(value, bytes);
  out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

size_t count_code_points(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char byte) { return !continues(byte); }));
}

size_t byte_of(std::string_view text, size_t index) {
  size_t at = 0;
  for (; at < text.size(); ++at)
    if (!continues(text[at]) && index-- == 0) return at;
  return at;
}

bool is_space(int32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

bool is_printable(int32_t c) {
  if (c == ' ') return true;
  switch (utf8proc_category(c)) {
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
    case UTF8PROC_CATEGORY_ZS:
      return false;
    default:
      return true;
  }
}

bool is_letter(int32_t c) {
  const auto category = utf8proc_category(c);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}
bool is_decimal(int32_t c) { return utf8proc_category(c) == UTF8PROC_CATEGORY_ND; }
bool is_numeric(int32_t c) {
  const auto category = utf8proc_category(c);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}
bool is_upper(int32_t c) { return utf8proc_category(c) == UTF8PROC_CATEGORY_LU; }
bool is_lower(int32_t c) { return utf8proc_category(c) == UTF8PROC_CATEGORY_LL; }
bool is_cased(int32_t c) {
  return is_upper(c) || is_lower(c) || utf8proc_category(c) == UTF8PROC_CATEGORY_LT;
}

void append_upper(std::string& out, int32_t c) {
  if (c == kSharpS)
    out += "SS";
  else
    append_code_point(out, utf8proc_toupper(c));
}
void append_lower(std::string& out, int32_t c) { append_code_point(out, utf8proc_tolower(c)); }
void append_title(std::string& out, int32_t c) {
  if (c == kSharpS)
    out += "Ss";
  else
    append_code_point(out, utf8proc_totitle(c));
}

size_t leading_spaces(std::string_view text) {
  size_t bytes = 0;
  while (bytes < text.size()) {
    const CodePoint c = first_code_point(text.substr(bytes));
    if (!is_space(c.value)) break;
    bytes += c.size;
  }
  return bytes;
}

size_t trailing_spaces(std::string_view text) {
  const size_t size = text.size();
  while (!text.empty()) {
    const CodePoint c = last_code_point(text);
    if (!is_space(c.value)) break;
    text.remove_suffix(c.size);
  }
  return size - text.size();
}

}  // namespace looseleaf::jinja
