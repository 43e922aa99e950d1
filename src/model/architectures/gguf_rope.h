// The rotary embedding that a GGUF file's metadata describe.
#pragma once

#include "model/architectures/gguf_common.h"
#include "model/rope.h"

namespace looseleaf {

// `context`: FAMILY.context_length. What only tensors say (rope_freqs, rope_factors_*) comes with
// the weights; a file that has LongRoPE's tensors is longrope here already. The attention factor is
// rope.scaling.attn_factor, times 1 + 0.1 ln(factor) for yarn: what llama.cpp computes with.
// Errors: kCorrupt, kUnsupported (a scaling that is not run, by name).
Expected<RopeConfig> rope_from_gguf(const GgufFile& file, const GgufFamily& family, int head_dim,
                                    int context);

}  // namespace looseleaf
