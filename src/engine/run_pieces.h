// Long passes, cut.
#pragma once

#include <span>

#include "engine/core.h"

namespace looseleaf {

// Runs the rows of `all`, which stand in prompt order, `piece_rows` at a time (0: as many as the
// device takes at most, in the mean over layers). Rows of full depth give logits where `all` has
// outputs: [outputs, vocab] in prompt order, and io.largest likewise; logits may be empty where
// that is wanted alone. The rows of hidden_in and hidden_out are those of `all`, in its order;
// REQUIRES for hidden_out that all depths are equal. Errors: kUnavailable (memory).
Status run_in_pieces(EngineCore& core, const Pass& all, std::span<float> logits,
                     const PassIo& io = {}, size_t piece_rows = 0);

}  // namespace looseleaf
