// How each known byte-level BPE family cuts text before its merges apply.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

// The patterns behind a GGUF file's `tokenizer.ggml.pre`, for TokenizerSpec::split_patterns.
// Errors: kUnsupported (an unknown name, which the message gives): a wrong pattern would change
// token ids silently.
Expected<std::vector<SplitRule>> split_patterns_for(std::string_view pre);

// What else the name implies where the GGUF file does not say it (no key there holds the first two;
// the third is the default of `tokenizer.ggml.add_bos_token`). Unknown names: false.
bool ignores_merges(std::string_view pre);  // TokenizerSpec::ignore_merges
// Text is brought into form C, as the Hugging Face original of the family says.
bool normalizes_to_nfc(std::string_view pre);
bool adds_bos(std::string_view pre);  // TokenizerSpec::add_bos

// The pattern of GPT-2, which tokenizer.json's ByteLevel component stands for.
std::string_view gpt2_split_pattern();

}  // namespace looseleaf
