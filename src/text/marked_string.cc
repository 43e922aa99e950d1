#include "text/marked_string.h"

#include <algorithm>
#include <array>

namespace looseleaf {
namespace {

// Python's white space: what str.isspace() accepts, which is Unicode's and U+001C to U+001F.
constexpr std::array<std::string_view, 29> kSpaces = {
    "\t",           "\n",           "\v",           "\f",           "\r",
    "\x1c",         "\x1d",         "\x1e",         "\x1f",         " ",
    "\xc2\x85",     "\xc2\xa0",     "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x81",
    "\xe2\x80\x82", "\xe2\x80\x83", "\xe2\x80\x84", "\xe2\x80\x85", "\xe2\x80\x86",
    "\xe2\x80\x87", "\xe2\x80\x88", "\xe2\x80\x89", "\xe2\x80\x8a", "\xe2\x80\xa8",
    "\xe2\x80\xa9", "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80"};

}  // namespace

void MarkedString::append(std::string_view text, Origin origin) {
  if (text.empty()) return;
  text_ += text;
  if (!ranges_.empty() && ranges_.back().origin == origin)
    ranges_.back().end = text_.size();
  else
    ranges_.push_back({text_.size(), origin});
}

void MarkedString::append(const MarkedString& other) {
  if (&other == this) return append(MarkedString(other));
  size_t begin = 0;
  for (const Range& range : other.ranges_) {
    append(std::string_view(other.text_).substr(begin, range.end - begin), range.origin);
    begin = range.end;
  }
}

MarkedString MarkedString::substr(size_t from, size_t count) const {
  from = std::min(from, text_.size());
  const size_t to = from + std::min(count, text_.size() - from);
  MarkedString result;
  size_t begin = 0;
  for (const Range& range : ranges_) {
    const size_t low = std::max(begin, from);
    const size_t high = std::min(range.end, to);
    if (low < high) result.append(std::string_view(text_).substr(low, high - low), range.origin);
    begin = range.end;
  }
  return result;
}

MarkedString MarkedString::trim() const {
  std::string_view rest = text_;
  const auto strip = [&](auto matches, auto remove) {
    const auto found = std::find_if(kSpaces.begin(), kSpaces.end(), matches);
    if (found == kSpaces.end()) return false;
    remove(found->size());
    return true;
  };
  while (strip([&](std::string_view space) { return rest.starts_with(space); },
               [&](size_t size) { rest.remove_prefix(size); })) {
  }
  const auto from = static_cast<size_t>(rest.data() - text_.data());
  while (strip([&](std::string_view space) { return rest.ends_with(space); },
               [&](size_t size) { rest.remove_suffix(size); })) {
  }
  return substr(from, rest.size());
}

}  // namespace looseleaf
