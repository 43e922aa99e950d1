// Brings text into the form that is tokenized.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

// Immutable after creation and thread-safe.
class Normalizer {
 public:
  // Errors: kUnsupported (a pattern that cannot be followed exactly), kCorrupt (a charsmap).
  static Expected<Normalizer> create(const std::vector<NormalizeStep>& steps);

  // All steps, in order, on the text between two special tokens; `first` where nothing stands
  // before it. The result is `text` itself or lies in `storage`. REQUIRES: `text` is UTF-8; so is
  // the result. Errors: kUnsupported (a pattern ran into one of its limits, a text that grows out
  // of proportion, a charsmap that leads to what is not UTF-8).
  Expected<std::string_view> apply(std::string_view text, bool first, std::string& storage) const;

 private:
  struct Step;
  std::vector<std::shared_ptr<const Step>> steps_;
};

}  // namespace looseleaf
