// One request from prompt to answer.
#pragma once

#include "base/status.h"
#include "engine/core.h"
#include "engine/prompt.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

// `queue_ms`: how long the request waited before this call; part of the time to first token.
// Errors: kInvalidArgument, kContextLength, kKvBudget, kUnsupported. Whatever happens, nothing
// stays held afterwards.
Expected<Answer> generate(EngineCore& core, const Request& request, const OnText& on_text,
                          double queue_ms);

// The same, then the log-probabilities of `continuation` after the prompt: see Engine::score.
Expected<Score> generate_and_score(EngineCore& core, const Request& request,
                                   const TextOrTokens& continuation, const OnLogits& on_logits,
                                   double queue_ms);

// Computes a document's chunk where it is not there yet. Returns the chunk's id.
// Errors: kInvalidArgument, kContextLength, kKvBudget, kUnsupported.
Expected<std::string> prefill_document(EngineCore& core, const Document& document,
                                       const Request& request);

}  // namespace looseleaf
