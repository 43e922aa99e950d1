#include "cli/size.h"

#include <cctype>
#include <charconv>
#include <string>

#include "base/json_text.h"

namespace looseleaf {
namespace {

// log2 of what a suffix multiplies by, or -1.
int suffix_bits(std::string_view suffix) {
  std::string lower;
  for (const char c : suffix) {
    lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  if (lower.empty() || lower == "b") return 0;
  const size_t unit = std::string_view("kmgt").find(lower[0]);
  const std::string rest = lower.substr(1);
  if (unit == std::string_view::npos || !(rest.empty() || rest == "b" || rest == "ib")) return -1;
  return 10 * (static_cast<int>(unit) + 1);
}

}  // namespace

Expected<int64_t> parse_size(std::string_view text) {
  const auto wrong = [&] {
    return error(ErrorCode::kUsage, "{} is not a size; write it like 512M or 4G", in_quotes(text));
  };
  const char* end = text.data() + text.size();
  const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
  double number = 0;
  const auto [rest, ec] = std::from_chars(text.data(), text.data() + digits, number);
  const int bits = suffix_bits({rest, static_cast<size_t>(end - rest)});
  if (ec != std::errc() || bits < 0) return wrong();
  const double bytes = number * static_cast<double>(int64_t{1} << bits);
  // Exact: a double holds whole numbers up to 2^53, and no memory is larger.
  if (bytes > 9007199254740992.0) return wrong();
  return static_cast<int64_t>(bytes);
}

}  // namespace looseleaf
