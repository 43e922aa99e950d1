#include "text/nfc.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

namespace looseleaf {

bool is_surely_nfc(std::string_view text) {
  // 0xCC leads U+0300 to U+033F.
  return std::all_of(text.begin(), text.end(),
                     [](char byte) { return static_cast<uint8_t>(byte) < 0xCC; });
}

namespace {

// The longest canonical decomposition has 4 code points, the longest of all (U+FDFA) 18.
constexpr utf8proc_ssize_t kMaxDecomposition = 32;

// U+11A7 lies just below the Hangul finals; utf8proc 2.8 takes it for an empty one and drops it
// behind a syllable, so it is kept away from composition.
constexpr utf8proc_int32_t kComposesWithNothing = 0x11A7;

utf8proc_propval_t combining_class(utf8proc_int32_t code_point) {
  return utf8proc_get_property(code_point)->combining_class;
}

std::vector<utf8proc_int32_t> decompose(std::string_view text, bool compatibility) {
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | UTF8PROC_STABLE |
                                                      (compatibility ? UTF8PROC_COMPAT : 0));
  std::vector<utf8proc_int32_t> code_points;
  code_points.reserve(text.size());
  const auto* at = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
  const auto* const end = at + text.size();
  while (at < end) {
    utf8proc_int32_t code_point = 0;
    const utf8proc_ssize_t size = utf8proc_iterate(at, end - at, &code_point);
    if (size <= 0) std::abort();  // the caller has checked the text
    at += size;
    utf8proc_int32_t parts[kMaxDecomposition];
    int boundary_class = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(code_point, parts, kMaxDecomposition, options, &boundary_class);
    if (count < 0 || count > kMaxDecomposition) std::abort();
    code_points.insert(code_points.end(), parts, parts + count);
  }
  return code_points;
}

void append(std::string& text, utf8proc_int32_t code_point) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t size = utf8proc_encode_char(code_point, bytes);
  text.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(size));
}

// utf8proc's own ordering is quadratic in the length of a run of marks.
void order_marks(std::vector<utf8proc_int32_t>& code_points) {
  const auto is_mark = [](utf8proc_int32_t c) { return combining_class(c) != 0; };
  auto at = code_points.begin();
  while (at != code_points.end()) {
    const auto begin = std::find_if(at, code_points.end(), is_mark);
    at = std::find_if_not(begin, code_points.end(), is_mark);
    std::stable_sort(begin, at, [](utf8proc_int32_t a, utf8proc_int32_t b) {
      return combining_class(a) < combining_class(b);
    });
  }
}

std::string normalize(std::string_view text, bool compatibility) {
  constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_STABLE);
  std::vector<utf8proc_int32_t> code_points = decompose(text, compatibility);
  order_marks(code_points);
  std::string result;
  result.reserve(text.size());
  for (auto at = code_points.begin(); at != code_points.end();) {
    const auto end = std::find(at, code_points.end(), kComposesWithNothing);
    const utf8proc_ssize_t count = utf8proc_normalize_utf32(&*at, end - at, kOptions);
    std::for_each(at, at + count, [&](utf8proc_int32_t c) { append(result, c); });
    if (end != code_points.end()) append(result, kComposesWithNothing);
    at = end == code_points.end() ? end : end + 1;
  }
  return result;
}

}  // namespace

std::string to_nfc(std::string_view text) { return normalize(text, false); }

std::string to_nfkc(std::string_view text) { return normalize(text, true); }

}  // namespace looseleaf
