// A byte-level vocabulary small enough to know by heart.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/tokenizer.h"

namespace looseleaf {

// Id b is the byte b; then come the results of `merges`, in order, then the special tokens.
// Split like GPT-2.
struct SmallSpec {
  std::vector<std::pair<std::string, std::string>> merges;  // plain text, not spelled
  std::vector<std::string> control;
  std::vector<std::string> added;

  TokenizerSpec build() const;
};

// The tokenizer of a spec that must be good.
std::unique_ptr<const Tokenizer> make_tokenizer(TokenizerSpec spec);

// `text` in GPT-2's byte alphabet.
std::string spell(std::string_view text);

// What a failed call says.
template <typename T>
std::string message_of(const Expected<T>& result) {
  return result ? "no error" : result.error().message;
}

}  // namespace looseleaf
