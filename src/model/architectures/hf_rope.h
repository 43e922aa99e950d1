// The rotary embedding that a config.json describes, in its old and its new spelling.
#pragma once

#include "model/json.h"
#include "model/rope.h"

namespace looseleaf {

// Old: `rope_theta` beside `rope_scaling` (with `rope_type` or `type`). New: `rope_parameters`,
// which holds all of them. `dims`: rotary dimensions of a head. Errors: kUnsupported (another type
// than default and llama3, by name), kCorrupt (the spellings contradict each other).
Expected<RopeConfig> rope_from_json(const JsonView& config, int dims);

}  // namespace looseleaf
