// Cuts text into the pieces that the tokenizer proper works on.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

// Immutable after creation and thread-safe.
class Pretokenizer {
 public:
  // `rules`: TokenizerSpec::split_patterns; none leaves a text whole.
  // Errors: kUnsupported (a pattern that cannot be followed exactly).
  static Expected<Pretokenizer> create(const std::vector<SplitRule>& rules);

  // Appends the pieces of `text` to `pieces`. None is empty; together they are `text`, but for what
  // a rule removes.
  // REQUIRES: `text` is UTF-8.
  // Errors: kUnsupported (the matcher ran into one of its limits).
  Status split(std::string_view text, std::vector<std::string_view>& pieces) const;

 private:
  struct Rule;
  std::vector<std::shared_ptr<const Rule>> rules_;
};

}  // namespace looseleaf
