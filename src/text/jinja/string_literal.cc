#include "text/jinja/string_literal.h"

#include <charconv>
#include <cstdint>

#include "text/jinja/unicode.h"

namespace looseleaf::jinja {
namespace {

constexpr std::string_view kEscapes = "abfnrtv\\'\"", kMeanings = "\a\b\f\n\r\t\v\\'\"";

std::optional<int32_t> read_digits(std::string_view digits, int base) {
  uint32_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), end, value, base);
  if (code != std::errc() || stop != end) return std::nullopt;
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value > 0x10FFFF || surrogate) return std::nullopt;
  return static_cast<int32_t>(value);
}

}  // namespace

std::optional<std::string> read_string_literal(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i++];
      continue;
    }
    const char c = text[i + 1];
    i += 2;
    if (const size_t known = kEscapes.find(c); known != std::string_view::npos) {
      out += kMeanings[known];
    } else if (c == '\n') {
      // A line that goes on.
    } else if (c == 'x' || c == 'u' || c == 'U') {
      const size_t count = c == 'x' ? 2 : c == 'u' ? 4 : 8;
      if (text.size() - i < count) return std::nullopt;
      const auto value = read_digits(text.substr(i, count), 16);
      if (!value) return std::nullopt;
      append_code_point(out, *value);
      i += count;
    } else if (c >= '0' && c <= '7') {
      size_t count = 1;
      while (count < 3 && i - 1 + count < text.size() && text[i - 1 + count] >= '0' &&
             text[i - 1 + count] <= '7')
        ++count;
      append_code_point(out, *read_digits(text.substr(i - 1, count), 8));
      i += count - 1;
    } else if (c == 'N') {
      return std::nullopt;
    } else {
      out += '\\';
      out += c;
    }
  }
  return out;
}

}  // namespace looseleaf::jinja
