// The `model` of a tokenizer.json: vocabulary, merges, scores.
#pragma once

#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

// Far above any vocabulary: a wrong id must not make us allocate gigabytes.
constexpr int64_t kMaxVocabulary = 1 << 20;

// Puts `text` at `id`, growing the vocabulary with unused tokens; `where` for messages.
// Errors: kCorrupt (an id out of bounds, one that has another text).
Status place_token(TokenizerSpec& spec, int64_t id, std::string_view text, TokenKind kind,
                   const std::string& where);

// The id of the token that is `text`, unused ones apart; -1: none.
int32_t find_token(const TokenizerSpec& spec, std::string_view text);

// REQUIRES: read_tokenizer_pipeline() has set spec.model. Errors: kCorrupt, kUnsupported (by name).
Status read_model(const ObjectReader& model, TokenizerSpec& spec);

}  // namespace looseleaf
