#include "text/small_spec.h"

#include <gtest/gtest.h>

#include "text/byte_alphabet.h"
#include "text/split_patterns.h"

namespace looseleaf {

std::string spell(std::string_view text) {
  std::string spelling;
  for (const char byte : text) spelling += spell_byte(static_cast<uint8_t>(byte));
  return spelling;
}

TokenizerSpec SmallSpec::build() const {
  TokenizerSpec spec;
  spec.model = "bpe";
  spec.split_patterns = {std::string(gpt2_split_pattern())};
  const auto add = [&](std::string text, TokenKind kind) {
    spec.tokens.push_back(std::move(text));
    spec.kinds.push_back(kind);
  };
  for (int byte = 0; byte < 256; ++byte)
    add(std::string(spell_byte(static_cast<uint8_t>(byte))), TokenKind::kNormal);
  for (const auto& [left, right] : merges) {
    add(spell(left + right), TokenKind::kNormal);
    spec.merges.emplace_back(spell(left), spell(right));
  }
  for (const std::string& text : control) add(text, TokenKind::kControl);
  for (const std::string& text : added) add(text, TokenKind::kAdded);
  return spec;
}

std::unique_ptr<const Tokenizer> make_tokenizer(TokenizerSpec spec) {
  auto tokenizer = Tokenizer::create(std::move(spec));
  if (!tokenizer) {
    ADD_FAILURE() << tokenizer.error().message;
    std::abort();
  }
  return *std::move(tokenizer);
}

}  // namespace looseleaf
