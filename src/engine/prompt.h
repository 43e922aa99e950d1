// A prompt as the engine sees it: pieces of token ids, each text or a chunk.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "engine/chat_template.h"
#include "looseleaf/looseleaf.h"
#include "text/tokenizer.h"

namespace looseleaf {

struct PromptPiece {
  std::vector<int32_t> tokens;
  int document = -1;        // index among the prompt's documents; -1: text
  std::string document_id;  // the caller's name for it

  bool is_chunk() const { return document >= 0; }
};

struct Prompt {
  std::vector<PromptPiece> pieces;  // none is empty, no two texts are neighbours, the last is text
  std::vector<int32_t> encoding_prefix;

  int tokens() const;
  int document_tokens() const;
  bool has_documents() const;
};

// What a prompt is built with. `tokenizer` is null for a model without one, which takes token
// lists; `tokenizer_problem` says why. REQUIRES: a chat template where there is a tokenizer.
struct PromptContext {
  const Tokenizer* tokenizer = nullptr;
  std::string tokenizer_problem;
  int vocab = 0;
  const ChatTemplate* chat_template = nullptr;
};

// Errors: kInvalidArgument (with the field's path: empty prompt or document, ids outside the
// vocabulary, bytes that are not UTF-8, unknown layout or encoding prefix), kUnsupported.
Expected<Prompt> build_prompt(const PromptContext& context, const Request& request);

// The one piece of a document, and the encoding prefix that it is computed behind: what
// Engine::prefill computes.
Expected<Prompt> build_document(const PromptContext& context, const Document& document,
                                const Request& request);

}  // namespace looseleaf
