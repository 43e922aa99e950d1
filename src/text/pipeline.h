// The tokenizer of every family: special tokens, normalizer, pre-tokenizer, model.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>

#include "text/normalizer.h"
#include "text/pretokenizer.h"
#include "text/special_tokens.h"
#include "text/subword_model.h"
#include "text/tokenizer.h"

namespace looseleaf {

class PipelineTokenizer final : public Tokenizer {
 public:
  // REQUIRES: check_spec(spec).
  static Expected<std::unique_ptr<const Tokenizer>> create(TokenizerSpec spec);

  Expected<std::vector<int32_t>> encode(std::string_view text) const override;
  Expected<std::vector<int32_t>> encode(const MarkedString& text) const override;
  std::string_view bytes(int32_t id) const override;
  std::optional<int32_t> special(std::string_view text) const override;
  const TokenizerSpec& spec() const override { return spec_; }

 private:
  PipelineTokenizer(TokenizerSpec spec, Normalizer normalizer, Pretokenizer pretokenizer,
                    std::unique_ptr<const SubwordModel> model);
  struct Encoding;  // one call's state
  // Appends the tokens of text[from, to), which holds no special token.
  Status encode_plain(Encoding& encoding, size_t from, size_t to) const;

  TokenizerSpec spec_;
  Normalizer normalizer_;
  Pretokenizer pretokenizer_;
  std::unique_ptr<const SubwordModel> model_;
  SpecialTokens special_tokens_;
  std::string bytes_;                  // all tokens' bytes, one after the other
  std::vector<size_t> bytes_offsets_;  // [vocab + 1]
  boost::unordered_flat_map<std::string_view, int32_t> whole_;  // filled if spec.ignore_merges
};

}  // namespace looseleaf
