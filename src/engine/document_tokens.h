// The documents' tokens of a sequence, numbered through.
#pragma once

#include "engine/sequence.h"
#include "repair/plan.h"

namespace looseleaf {

PromptShape shape_of(const Sequence& sequence, int layers);
std::vector<int32_t> chunk_tokens(const Sequence& sequence);  // [bindings]
std::vector<size_t> binding_parts(const Sequence& sequence);  // [bindings] which part each is

// The token ids. [tokens]
std::vector<int32_t> document_token_ids(const Sequence& sequence);

}  // namespace looseleaf
