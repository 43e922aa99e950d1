// attend_decode over fp8 pages, which lie as in page_layout_fp8.h: the codes go into the tensor
// cores as they are stored.
#pragma once

#include "compute/cuda/attend_decode.h"

namespace looseleaf::cuda {

// `args.layer` is of fp8 pages. head_dim is 64 or 128; else cudaErrorInvalidValue.
// overlapping: right behind `attend_decode` of the same step in the same stream, starts while that
// still runs; both are done when this one is.
// DecodeArgs::rotate_keys is passed over: queries are turned.
cudaError_t attend_decode_fp8(const DecodeArgs& args, int head_dim, int blocks, bool overlapping,
                              cudaStream_t stream);

}  // namespace looseleaf::cuda
