// SentencePiece's Unigram model: the most probable way to cut a piece into tokens.
#pragma once

#include "base/status.h"
#include "text/byte_fallback.h"
#include "text/byte_trie.h"
#include "text/subword_model.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

class Unigram final : public SubwordModel {
 public:
  // REQUIRES: check_spec(spec).
  // Errors: kCorrupt (nothing to spell unknown characters with), kUnsupported (a token longer than
  // any real one).
  static Expected<Unigram> create(const TokenizerSpec& spec);

  std::optional<size_t> find_unknown_byte(std::string_view) const override { return std::nullopt; }
  // Viterbi's algorithm in float64. Of equally good ways the one whose last token begins first.
  void encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const override;

 private:
  explicit Unigram(const TokenizerSpec& spec)
      : bytes_(spec), unk_(spec.unk), unk_score_(spec.unk_score), fuse_unk_(spec.fuse_unk) {}

  ByteFallback bytes_;
  ByteTrie trie_;               // of normal tokens
  std::vector<double> scores_;  // [vocab]
  int32_t unk_;
  double unk_score_;
  bool fuse_unk_;
};

}  // namespace looseleaf
