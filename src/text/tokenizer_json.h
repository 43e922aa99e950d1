// Reads the tokenizer files of a Hugging Face model folder.
#pragma once

#include <string_view>

#include "base/status.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

// The files' contents; an empty one is a file that the folder does not have.
struct TokenizerFiles {
  std::string_view tokenizer;          // tokenizer.json
  std::string_view tokenizer_config;   // tokenizer_config.json
  std::string_view generation_config;  // generation_config.json
  std::string_view chat_template;      // chat_template.jinja, which comes before the one in
                                       // tokenizer_config.json
};

// Everything that changes token ids is followed exactly or refused by name.
// Errors: kCorrupt (with the file and field), kUnsupported (a component, by name).
Expected<TokenizerSpec> tokenizer_spec_from_json(const TokenizerFiles& files);

}  // namespace looseleaf
