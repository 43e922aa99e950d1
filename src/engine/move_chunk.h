// Block-Attention's way to bring a chunk to its place: keys rewritten at prompt positions.
#pragma once

#include "engine/core.h"
#include "engine/sequence.h"

namespace looseleaf {

// Gives the binding a private copy with keys moved to binding.position; with `inplace`, moves the
// chunk itself where nobody but its cache and this binding holds it.
// Errors: kUnavailable (no room for the copy).
Status move_chunk(EngineCore& core, const RopeRegime& rope, Binding& binding, bool inplace);

}  // namespace looseleaf
