// A vocabulary of pieces and scores small enough to know by heart.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "text/tokenizer_spec.h"

namespace looseleaf {

// Ids: 0 <unk>, 1 <s>, then `pieces` with their scores, then, if wanted, the 256 byte tokens.
inline TokenizerSpec small_pieces(std::string model,
                                  const std::vector<std::pair<std::string, double>>& pieces,
                                  bool bytes = false) {
  TokenizerSpec spec;
  spec.model = std::move(model);
  spec.unk = 0;
  spec.fuse_unk = true;
  spec.unk_score = -100;
  const auto add = [&](std::string text, double score, TokenKind kind) {
    spec.tokens.push_back(std::move(text));
    spec.scores.push_back(score);
    spec.kinds.push_back(kind);
  };
  add("<unk>", 0, TokenKind::kControl);
  add("<s>", 0, TokenKind::kControl);
  for (const auto& [text, score] : pieces) add(text, score, TokenKind::kNormal);
  for (int byte = 0; bytes && byte < 256; ++byte)
    add(fmt::format("<0x{:02X}>", byte), 0, TokenKind::kByte);
  return spec;
}

}  // namespace looseleaf
