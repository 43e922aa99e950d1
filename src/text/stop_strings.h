// Finds stop strings in streamed text, and says what of the text may be shown.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace looseleaf {

// The result does not depend on how the text is cut: the stop string that is complete first wins,
// the longest of those that end together.
class StopStrings {
 public:
  // Errors: kInvalidArgument (an empty stop string, or one that is not UTF-8; `param` is
  // "stop[i]").
  static Expected<StopStrings> create(std::vector<std::string> stops);

  struct Released {
    std::string text;            // what cannot be part of a stop string any more
    std::optional<size_t> stop;  // index of the stop string found; text before it is all released
  };
  // REQUIRES: no stop string was found since the last finish().
  Released push(std::string_view text);
  // The text held back; the object is then as new. Nothing after a stop.
  std::string finish();

 private:
  struct Stop {
    std::string text;
    // [i]: the longest proper beginning of text[0, i] that also ends it, as in Knuth, Morris and
    // Pratt (1977).
    std::vector<size_t> fallback;
    size_t matched = 0;  // bytes of `text` that the stream ends with
  };
  explicit StopStrings(std::vector<Stop> stops) : stops_(std::move(stops)) {}

  std::vector<Stop> stops_;
  std::string held_;
};

}  // namespace looseleaf
