// Token ids to text, one id at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "text/tokenizer.h"

namespace looseleaf {

// Gives whole code points only: bytes that may still become one are held back, bytes that never can
// are given as U+FFFD at once (one for each maximal part of a code point, as Unicode recommends).
// Whatever the ids, the pieces add up to decode() of all of them.
class Detokenizer {
 public:
  // `tokenizer` must outlive the object. Control tokens give nothing unless `show_control`.
  explicit Detokenizer(const Tokenizer& tokenizer, bool show_control = false)
      : tokenizer_(&tokenizer), show_control_(show_control) {}

  // REQUIRES: 0 <= id < tokenizer.vocab_size().
  std::string push(int32_t id);
  // What is held back; the object is then as new.
  std::string finish();

 private:
  const Tokenizer* tokenizer_;
  bool show_control_;
  std::string pending_;  // the beginning of a code point: at most 3 bytes between calls
};

// The text of `ids`. REQUIRES: each id is in the vocabulary.
std::string decode(const Tokenizer& tokenizer, std::span<const int32_t> ids,
                   bool show_control = false);

}  // namespace looseleaf
