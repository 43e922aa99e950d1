// Text to token ids and back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

class MarkedString;  // text/marked_string.h: a string whose ranges know template from data

// Immutable after creation, so one tokenizer serves any number of threads.
class Tokenizer {
 public:
  // Errors: kUnsupported (a model or pattern that cannot be followed exactly, by name), kCorrupt.
  static Expected<std::unique_ptr<const Tokenizer>> create(TokenizerSpec spec);
  virtual ~Tokenizer() = default;

  // Special-token text inside `text` stays text. No BOS is added.
  // Errors: kInvalidArgument (not UTF-8, or a character that the vocabulary cannot spell: a few
  // real ones lack control characters; both with the offset).
  virtual Expected<std::vector<int32_t>> encode(std::string_view text) const = 0;
  // Special tokens are parsed in the ranges that come from the template, and only there.
  virtual Expected<std::vector<int32_t>> encode(const MarkedString& text) const = 0;

  // The bytes that a token stands for: may be part of a code point; a control token gives its own
  // text. REQUIRES: 0 <= id < vocab_size().
  virtual std::string_view bytes(int32_t id) const = 0;

  // The id of a control or added token with exactly this text.
  virtual std::optional<int32_t> special(std::string_view text) const = 0;

  virtual const TokenizerSpec& spec() const = 0;
  int32_t vocab_size() const { return static_cast<int32_t>(spec().tokens.size()); }
  bool is_control(int32_t id) const {
    return spec().kinds[static_cast<size_t>(id)] == TokenKind::kControl;
  }
};

}  // namespace looseleaf
