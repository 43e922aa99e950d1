#include "text/marked_string.h"

#include <algorithm>

namespace looseleaf {
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
  // The first range that reaches behind `from`.
  auto range = std::upper_bound(ranges_.begin(), ranges_.end(), from,
                                [](size_t at, const Range& r) { return at < r.end; });
  for (size_t begin = from; begin < to; ++range) {
    const size_t end = std::min(range->end, to);
    result.append(std::string_view(text_).substr(begin, end - begin), range->origin);
    begin = end;
  }
  return result;
}

}  // namespace looseleaf
