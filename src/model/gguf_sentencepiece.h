// SentencePiece models in GGUF: pieces, scores and how text is brought into their form.
#pragma once

#include "model/gguf.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

// `model`: tokenizer.ggml.model, "llama" (BPE by scores) or "t5" (Unigram).
// REQUIRES: spec.tokens and spec.kinds are filled.
// Errors: kCorrupt (scores missing or of another length, a "t5" that does not say what becomes of
// white space).
Status read_sentencepiece(const GgufFile& file, std::string_view model, TokenizerSpec& spec);

}  // namespace looseleaf
