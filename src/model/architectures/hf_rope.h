// The rotary embedding that a config.json describes, in its old and its new spelling.
#pragma once

#include "model/architectures/hf_common.h"
#include "model/rope.h"

namespace looseleaf {

// Old: `rope_theta` beside `rope_scaling` (with `rope_type` or `type`). New: `rope_parameters`,
// which holds all of them. `context`: max_position_embeddings.
// Errors: kUnsupported (a scaling that is not run, by name), kCorrupt (the spellings contradict
// each other, numbers missing, lists of another length than the pairs that turn).
Expected<RopeConfig> rope_from_json(const ObjectReader& config, const HfFamily& family,
                                    int head_dim, int context);

}  // namespace looseleaf
