// What an engine must do with its model before it answers anything.
#pragma once

#include "engine/core.h"

namespace looseleaf {

// Binds one chunk at positions 0 and 4,000 odd and compares the log-probabilities after it. They
// must agree, since positions are relative: when they do not, queries, stored keys and turns
// disagree about what rotates, and reuse would answer wrongly. Each RoPE regime is tried. What no
// test of arithmetic can tell is metadata that are wrong in themselves and consistent. Leaves the
// caches empty. REQUIRES: nothing is in them. Errors: kCorrupt (the log-probabilities differ, or
// are not numbers).
Status self_test(EngineCore& core);

}  // namespace looseleaf
