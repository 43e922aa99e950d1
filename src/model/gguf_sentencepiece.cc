#include "model/gguf_sentencepiece.h"

#include <algorithm>
#include <limits>

namespace looseleaf {
namespace {

using Kind = NormalizeStep::Kind;

// SentencePiece's mark for a space, U+2581.
constexpr std::string_view kMark = "\xE2\x96\x81";

// An unknown character costs so much more than the worst token: SentencePiece's kUnkPenalty.
constexpr float kUnknownPenalty = 10;

Status read_scores(const GgufFile& file, TokenizerSpec& spec) {
  LL_ASSIGN(const auto scores, file.get<GgufNumbers<float>>("tokenizer.ggml.scores"));
  if (scores.size() != spec.tokens.size())
    return error(ErrorCode::kCorrupt,
                 "{}: tokenizer.ggml.scores has {} entries for {} tokens: convert it again",
                 file.path(), scores.size(), spec.tokens.size());
  float worst = std::numeric_limits<float>::max();
  spec.scores.reserve(scores.size());
  for (size_t id = 0; id < scores.size(); ++id) {
    spec.scores.push_back(scores[id]);
    if (spec.kinds[id] == TokenKind::kNormal) worst = std::min(worst, scores[id]);
  }
  spec.unk_score = worst - kUnknownPenalty;
  return {};
}

// The file's, or where SentencePiece's own defaults have it. `fallback`: that id.
Status read_unknown(const GgufFile& file, size_t fallback, TokenizerSpec& spec) {
  LL_ASSIGN(const auto id, file.find<int64_t>("tokenizer.ggml.unknown_token_id"));
  spec.fuse_unk = true;
  if (id && (*id < -1 || *id >= static_cast<int64_t>(spec.tokens.size())))
    return error(ErrorCode::kCorrupt,
                 "{}: tokenizer.ggml.unknown_token_id is {}, outside the {} "
                 "tokens",
                 file.path(), *id, spec.tokens.size());
  if (id)
    spec.unk = static_cast<int32_t>(*id);
  else if (fallback < spec.kinds.size() && spec.kinds[fallback] == TokenKind::kControl)
    spec.unk = static_cast<int32_t>(fallback);
  if (spec.unk >= 0) spec.kinds[static_cast<size_t>(spec.unk)] = TokenKind::kControl;
  return {};
}

Status read_normalizer(const GgufFile& file, bool unigram, TokenizerSpec& spec) {
  constexpr std::string_view kPrefix = "tokenizer.ggml.add_space_prefix";
  constexpr std::string_view kCollapse = "tokenizer.ggml.remove_extra_whitespaces";
  LL_ASSIGN(const auto prefix, file.find<bool>(kPrefix));
  LL_ASSIGN(const auto collapse, file.find<bool>(kCollapse));
  if (unigram && !(prefix && collapse))
    return error(ErrorCode::kCorrupt, "{}: metadata has no '{}': convert the model again",
                 file.path(), prefix ? kCollapse : kPrefix);
  LL_ASSIGN(const auto charsmap,
            file.find<GgufNumbers<uint8_t>>("tokenizer.ggml.precompiled_charsmap"));
  if (charsmap && charsmap->size() > 0) {
    const auto bytes = charsmap->bytes();
    spec.normalize.push_back(
        {Kind::kCharsmap, std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())});
  }
  const bool prefixed = prefix.value_or(true);
  const bool collapsed = collapse.value_or(false);
  if (collapsed) spec.normalize.push_back({Kind::kCollapseSpaces});
  if (prefixed) spec.normalize.push_back({Kind::kPrepend, {}, " "});
  spec.normalize.push_back({Kind::kReplace, " ", std::string(kMark)});
  // SentencePiece looks for white space at the end when it is marked already.
  if (collapsed) spec.normalize.push_back({Kind::kDropTrailing, std::string(kMark)});
  spec.leading_space = collapsed  ? LeadingSpace::kAllDropped
                       : prefixed ? LeadingSpace::kOneDropped
                                  : LeadingSpace::kKept;
  spec.space_mark = kMark;
  return {};
}

// Added tokens are matched in text as it is, where spaces are spaces.
void unmark_added_tokens(TokenizerSpec& spec) {
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.kinds[id] != TokenKind::kAdded) continue;
    std::string& token = spec.tokens[id];
    for (size_t at = 0; (at = token.find(kMark, at)) != std::string::npos;)
      token.replace(at, kMark.size(), " ");
  }
}

// The special tokens of Phi-3 take the white space behind them, but for three; no key says so.
void strip_as_phi3(TokenizerSpec& spec) {
  spec.strips.resize(spec.tokens.size());
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    const std::string_view token = spec.tokens[id];
    const bool special =
        spec.kinds[id] == TokenKind::kControl || spec.kinds[id] == TokenKind::kAdded;
    if (special && token != "<unk>" && token != "<s>" && token != "<|endoftext|>")
      spec.strips[id] = TokenStrip::kBehind;
  }
}

}  // namespace

Status read_sentencepiece(const GgufFile& file, std::string_view model, TokenizerSpec& spec) {
  const bool unigram = model == "t5";
  spec.model = unigram ? "unigram" : "spm";
  spec.add_bos = !unigram;
  LL_RETURN_IF_ERROR(read_scores(file, spec));
  LL_RETURN_IF_ERROR(read_unknown(file, unigram ? 2 : 0, spec));
  LL_RETURN_IF_ERROR(read_normalizer(file, unigram, spec));
  unmark_added_tokens(spec);
  LL_ASSIGN(const auto architecture, file.find<std::string_view>("general.architecture"));
  if (!unigram && architecture == "phi3") strip_as_phi3(spec);
  return {};
}

}  // namespace looseleaf
