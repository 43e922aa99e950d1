// The tokenizer that a GGUF file's metadata describe.
#pragma once

#include "model/gguf.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

bool has_tokenizer(const GgufFile& file);

// Byte-level BPE ("gpt2") and SentencePiece ("llama", "t5"). Another tokenizer keeps its name in
// `model`; Tokenizer::create refuses it.
// Errors: kCorrupt (lists of different lengths, ids outside the vocabulary), kUnsupported (an
// unknown or missing tokenizer.ggml.pre).
Expected<TokenizerSpec> tokenizer_spec_from_gguf(const GgufFile& file);

}  // namespace looseleaf
