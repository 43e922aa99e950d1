#include "text/white_space.h"

#include <algorithm>
#include <array>

namespace looseleaf {
namespace {

constexpr std::array<std::string_view, 25> kSpaces = {" ",
                                                      "\n",
                                                      "\t",
                                                      "\r",
                                                      "\v",
                                                      "\f",
                                                      "\xc2\x85",
                                                      "\xc2\xa0",
                                                      "\xe1\x9a\x80",
                                                      "\xe2\x80\x80",
                                                      "\xe2\x80\x81",
                                                      "\xe2\x80\x82",
                                                      "\xe2\x80\x83",
                                                      "\xe2\x80\x84",
                                                      "\xe2\x80\x85",
                                                      "\xe2\x80\x86",
                                                      "\xe2\x80\x87",
                                                      "\xe2\x80\x88",
                                                      "\xe2\x80\x89",
                                                      "\xe2\x80\x8a",
                                                      "\xe2\x80\xa8",
                                                      "\xe2\x80\xa9",
                                                      "\xe2\x80\xaf",
                                                      "\xe2\x81\x9f",
                                                      "\xe3\x80\x80"};

// Bytes of the one that matches, 0 if none does.
template <typename Matches>
size_t space_size(Matches matches) {
  const auto* found = std::find_if(kSpaces.begin(), kSpaces.end(), matches);
  return found == kSpaces.end() ? 0 : found->size();
}

}  // namespace

size_t leading_space_bytes(std::string_view text) {
  size_t bytes = 0;
  for (;;) {
    const std::string_view rest = text.substr(bytes);
    const size_t size = space_size([&](std::string_view space) { return rest.starts_with(space); });
    if (size == 0) return bytes;
    bytes += size;
  }
}

size_t trailing_space_bytes(std::string_view text) {
  size_t bytes = 0;
  for (;;) {
    const std::string_view rest = text.substr(0, text.size() - bytes);
    const size_t size = space_size([&](std::string_view space) { return rest.ends_with(space); });
    if (size == 0) return bytes;
    bytes += size;
  }
}

}  // namespace looseleaf
