// Counting a prefill's operations: 2 m n k a product, 4 heads head_dim a visible (row, key) pair.
#pragma once

#include <cstdint>

#include "engine/sequence.h"
#include "model/config.h"

namespace looseleaf {

// Of the tokens that the sequence still has to compute, up to the first logits. In the last layer
// only the last token runs attention and MLP.
double pending_flops(const ModelConfig& config, const Sequence& sequence);

// Of ordinary prefill of a prompt with nothing cached.
double full_prefill_flops(const ModelConfig& config, int prompt_tokens);

}  // namespace looseleaf
