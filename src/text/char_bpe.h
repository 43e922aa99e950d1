// BPE whose symbols are characters, as SentencePiece makes it.
#pragma once

#include <string>

#include "base/status.h"
#include "text/byte_fallback.h"
#include "text/subword_model.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

class CharBpe final : public SubwordModel {
 public:
  // By spec.merges ("char-bpe"), or by spec.scores ("spm"): any two neighbours whose text together
  // is a token merge, the best score first.
  // REQUIRES: check_spec(spec).
  // Errors: kCorrupt (merges that no text leads to, nothing to spell unknown characters with),
  // kUnsupported (a token longer than any real one, an unused token that text leads to).
  static Expected<CharBpe> create(const TokenizerSpec& spec);

  std::optional<size_t> find_unknown_byte(std::string_view) const override { return std::nullopt; }
  void encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const override;

 private:
  explicit CharBpe(const TokenizerSpec& spec)
      : bytes_(spec), unk_(spec.unk), fuse_unk_(spec.fuse_unk) {}
  Status add_scored(const TokenizerSpec& spec);

  ByteFallback bytes_;
  int32_t unk_;
  bool fuse_unk_;
  // Token ids, and behind the vocabulary one for each character that is part of a token without
  // being one itself.
  boost::unordered_flat_map<std::string, int32_t> characters_;
  std::vector<std::string> tokenless_;  // those characters
  int32_t first_tokenless_ = 0;         // the first one's id
  MergeTable merges_;
};

}  // namespace looseleaf
