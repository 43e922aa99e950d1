// Operations by formula: 2 m n k a product, 4 heads head_dim a visible (row, key) pair. Forward
// counts what it runs by itself; here they are worked out ahead.
#pragma once

#include <cstdint>

#include "engine/pass.h"
#include "model/config.h"

namespace looseleaf {

// Of a pass, which need not have memory. REQUIRES: no mass is wanted; rows sorted by depth.
double pass_flops(const ModelConfig& config, const Pass& pass);

// Of ordinary prefill of a prompt with nothing cached. In the last layer only the last token runs
// attention and MLP.
double full_prefill_flops(const ModelConfig& config, int prompt_tokens);

}  // namespace looseleaf
