// Cuts text into the pieces within which merges apply.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace looseleaf {

// Immutable after creation and thread-safe.
class Pretokenizer {
 public:
  // `patterns`: TokenizerSpec::split_patterns; none leaves a text whole.
  // Errors: kUnsupported (a pattern that cannot be followed exactly).
  static Expected<Pretokenizer> create(const std::vector<std::string>& patterns);

  // Appends the pieces of `text` to `pieces`; together they are `text`, and none is empty.
  // REQUIRES: `text` is UTF-8.
  // Errors: kInternal (the matcher ran into one of its limits).
  Status split(std::string_view text, std::vector<std::string_view>& pieces) const;

 private:
  struct Pattern;
  std::vector<std::shared_ptr<const Pattern>> patterns_;
};

}  // namespace looseleaf
