// Text that nothing is asked about: what facts are hidden in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "eval/random.h"

namespace looseleaf {

// Sentences of plain prose, made up from word lists or taken from a text.
class Haystack {
 public:
  // The built-in one: sentences of a small grammar.
  Haystack() = default;
  // Sentences of `text` in their order, from a random one on and around the end.
  explicit Haystack(std::string_view text);

  // "built-in", or a name for the text.
  bool built_in() const { return sentences_.empty(); }

  // One sample's sentences. The haystack must outlive it.
  class Reader {
   public:
    Reader(const Haystack& haystack, EvalRandom& random);
    std::string next();  // one sentence, ending in a full stop or the like

   private:
    const Haystack& haystack_;
    EvalRandom& random_;
    size_t at_ = 0;
  };

 private:
  std::vector<std::string> sentences_;  // empty: the built-in one
};

// An adjective and a noun, such as "quiet-harbor": a name that no sentence of the built-in haystack
// holds.
std::string random_key(EvalRandom& random);

}  // namespace looseleaf
