#include "text/stop_strings.h"

#include <algorithm>

#include "base/utf8.h"

namespace looseleaf {
namespace {

// One step of the search: the bytes of `text` matched after `byte`, given those matched before it.
size_t advance(const std::string& text, const std::vector<size_t>& fallback, size_t matched,
               char byte) {
  while (matched > 0 && (matched == text.size() || text[matched] != byte))
    matched = fallback[matched - 1];
  return text[matched] == byte ? matched + 1 : 0;
}

}  // namespace

Expected<StopStrings> StopStrings::create(std::vector<std::string> stops) {
  std::vector<Stop> result;
  for (size_t i = 0; i < stops.size(); ++i) {
    const std::string field = fmt::format("stop[{}]", i);
    if (stops[i].empty()) return field_error(field, "is empty; give at least one character");
    if (const auto offset = find_invalid_utf8(stops[i]))
      return field_error(field, "is not UTF-8 at offset {}", *offset);
    Stop stop{std::move(stops[i]), {0}, 0};
    for (size_t n = 1; n < stop.text.size(); ++n)
      stop.fallback.push_back(
          advance(stop.text, stop.fallback, stop.fallback.back(), stop.text[n]));
    result.push_back(std::move(stop));
  }
  return StopStrings(std::move(result));
}

StopStrings::Released StopStrings::push(std::string_view text) {
  for (const char byte : text) {
    held_ += byte;
    std::optional<size_t> found;
    for (size_t i = 0; i < stops_.size(); ++i) {
      Stop& stop = stops_[i];
      stop.matched = advance(stop.text, stop.fallback, stop.matched, byte);
      const bool complete = stop.matched == stop.text.size();
      if (complete && (!found || stop.text.size() > stops_[*found].text.size())) found = i;
    }
    if (!found) continue;
    Released released{held_.substr(0, held_.size() - stops_[*found].text.size()), found};
    held_.clear();
    for (Stop& stop : stops_) stop.matched = 0;
    return released;
  }
  size_t keep = 0;
  for (const Stop& stop : stops_) keep = std::max(keep, stop.matched);
  Released released{held_.substr(0, held_.size() - keep), std::nullopt};
  held_.erase(0, held_.size() - keep);
  return released;
}

std::string StopStrings::finish() {
  for (Stop& stop : stops_) stop.matched = 0;
  return std::exchange(held_, {});
}

}  // namespace looseleaf
