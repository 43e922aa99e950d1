// Token ids to text, one id at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "text/tokenizer.h"

namespace looseleaf {

// Gives whole code points only: bytes that may still become one are held back, bytes that never can
// are given as U+FFFD at once (one for each maximal part of a code point, as Unicode recommends).
// Where a text begins, the space that the tokenizer put there is dropped (LeadingSpace).
// Whatever the ids, the pieces add up to decode() of all of them.
class Detokenizer {
 public:
  struct Options {
    bool show_control = false;  // control tokens give their text; otherwise nothing
    bool continues = false;     // the ids go on from a text: no space is dropped
  };

  // `tokenizer` must outlive the object.
  explicit Detokenizer(const Tokenizer& tokenizer) : Detokenizer(tokenizer, Options()) {}
  Detokenizer(const Tokenizer& tokenizer, Options options)
      : tokenizer_(&tokenizer), options_(options) {}

  // REQUIRES: 0 <= id < tokenizer.vocab_size().
  std::string push(int32_t id);
  // What is held back; the object is then as new.
  std::string finish();

 private:
  void append(std::string_view bytes);  // to pending_, less what the beginning drops

  const Tokenizer* tokenizer_;
  Options options_;
  bool begun_ = false;   // the beginning of the text is behind us
  std::string pending_;  // the beginning of a code point: at most 3 bytes between calls
};

// The text of `ids`. REQUIRES: each id is in the vocabulary.
std::string decode(const Tokenizer& tokenizer, std::span<const int32_t> ids,
                   bool show_control = false);

}  // namespace looseleaf
