#include "text/tokenizer_spec.h"

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cmath>
#include <limits>
#include <string_view>

#include "base/utf8.h"
#include "text/byte_fallback.h"
#include "text/quote.h"

namespace looseleaf {
namespace {

// Names that mean "the answer ends here" in every model family that has them as control tokens.
constexpr std::array<std::string_view, 12> kEndNames = {
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|endoftext|>",
    "<|EOT|>",
    "<|end_of_text|>",
    "<|end_of_turn|>",
    "<end_of_turn>",
    "<|end|>",
    "<|END_OF_TURN_TOKEN|>",
    "<｜end▁of▁sentence｜>",
    "<|return|>",
};

bool contains(const TokenizerSpec& spec, int32_t id) {
  return id >= 0 && static_cast<size_t>(id) < spec.tokens.size();
}

}  // namespace

Status check_spec(const TokenizerSpec& spec) {
  if (spec.tokens.empty() ||
      spec.tokens.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max()))
    return error(ErrorCode::kCorrupt,
                 "tokenizer: a vocabulary of {} tokens; convert the model again",
                 spec.tokens.size());
  const auto check_size = [&](const char* what, size_t size) -> Status {
    if (size == spec.tokens.size()) return {};
    return error(ErrorCode::kCorrupt, "tokenizer: {} {} for {} tokens; convert the model again",
                 size, what, spec.tokens.size());
  };
  LL_RETURN_IF_ERROR(check_size("token kinds", spec.kinds.size()));
  if (spec.model == "spm" || spec.model == "unigram")
    LL_RETURN_IF_ERROR(check_size("scores", spec.scores.size()));
  if (!spec.strips.empty()) LL_RETURN_IF_ERROR(check_size("strip flags", spec.strips.size()));
  for (const double score : spec.scores) {
    if (!std::isfinite(score))
      return error(ErrorCode::kCorrupt, "tokenizer: a score of {}; convert the model again", score);
  }
  const auto check_id = [&](const char* name, int32_t id) -> Status {
    if (id == -1 || contains(spec, id)) return {};
    return error(ErrorCode::kCorrupt,
                 "tokenizer: {} token {} is outside the vocabulary of {}; convert the model again",
                 name, id, spec.tokens.size());
  };
  LL_RETURN_IF_ERROR(check_id("bos", spec.bos));
  LL_RETURN_IF_ERROR(check_id("eos", spec.eos));
  LL_RETURN_IF_ERROR(check_id("unknown", spec.unk));
  if (spec.add_bos && spec.bos == -1)
    return error(
        ErrorCode::kCorrupt,
        "tokenizer: a BOS token is to be added but none is named; convert the model again");
  for (const int32_t id : spec.end_of_generation) {
    if (!contains(spec, id)) return check_id("end-of-generation", id == -1 ? -2 : id);
  }
  boost::unordered_flat_map<std::string_view, size_t> seen;
  seen.reserve(spec.tokens.size());
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.kinds[id] == TokenKind::kUnused) continue;
    const bool special =
        spec.kinds[id] == TokenKind::kControl || spec.kinds[id] == TokenKind::kAdded;
    if (special && find_invalid_utf8(spec.tokens[id]))
      return error(ErrorCode::kCorrupt,
                   "tokenizer: special token {} is not UTF-8: {}; convert the model again", id,
                   quote(spec.tokens[id]));
    if (spec.kinds[id] == TokenKind::kByte && !read_byte_token(spec.tokens[id]))
      return error(
          ErrorCode::kCorrupt,
          "tokenizer: token {} is marked as a byte token but is {}; convert the model again", id,
          quote(spec.tokens[id]));
    const auto [first, is_new] = seen.emplace(spec.tokens[id], id);
    if (!is_new)
      return error(ErrorCode::kCorrupt,
                   "tokenizer: tokens {} and {} are both {}; convert the model again",
                   first->second, id, quote(spec.tokens[id]));
  }
  return {};
}

std::vector<int32_t> end_of_generation_tokens(const TokenizerSpec& spec,
                                              std::vector<int32_t> from_config) {
  std::vector<int32_t> ids = std::move(from_config);
  ids.push_back(spec.eos);
  bool ends_messages_apart = false;
  int32_t end_of_message = -1;
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    if (spec.kinds[id] != TokenKind::kControl) continue;
    const std::string_view text = spec.tokens[id];
    if (std::find(kEndNames.begin(), kEndNames.end(), text) == kEndNames.end()) continue;
    if (text == "<|end|>") {
      end_of_message = static_cast<int32_t>(id);
      continue;
    }
    ends_messages_apart |= text == "<|return|>";
    ids.push_back(static_cast<int32_t>(id));
  }
  // Beside <|return|>, <|end|> closes one message of an answer that goes on.
  if (!ends_messages_apart) ids.push_back(end_of_message);
  std::erase_if(ids, [&](int32_t id) { return !contains(spec, id); });
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}

}  // namespace looseleaf
