// The components of a tokenizer.json around its model: normalizer to decoder.
#pragma once

#include <string>
#include <string_view>

#include "base/json_reader.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

// Reads `normalizer` and `pre_tokenizer` into spec.normalize and spec.split_patterns, and sets
// spec.model to "bpe" where the model sees bytes, else to "char-bpe".
// Errors: kCorrupt, kUnsupported (the component, by name).
Status read_tokenizer_pipeline(const ObjectReader& tokenizer, TokenizerSpec& spec);

// Reads `decoder` into spec.space_mark and spec.leading_space. REQUIRES: the model has been read.
// Errors: kCorrupt, kUnsupported (the component, by name).
Status read_decoder(const ObjectReader& tokenizer, TokenizerSpec& spec);

// The token that `post_processor` puts before a text, empty if none.
Expected<std::string> leading_token(const ObjectReader& tokenizer);

}  // namespace looseleaf
