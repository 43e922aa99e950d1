// The components of a tokenizer.json around its model: normalizer to decoder.
#pragma once

#include <string>
#include <string_view>

#include "text/json_fields.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

// Reads `normalizer`, `pre_tokenizer` and `decoder` of tokenizer.json into spec.nfc and
// spec.split_patterns.
// Errors: kCorrupt, kUnsupported (the component, by name).
Status read_tokenizer_pipeline(const JsonFields& tokenizer, TokenizerSpec& spec);

// The token that `post_processor` puts before a text, empty if none.
Expected<std::string> leading_token(const JsonFields& tokenizer);

}  // namespace looseleaf
