// What attention gives each key, by Hopper's tensor cores: scores once more, over keys as they are
// stored, with queries turned back once a piece. docs/kernels.md has the map of it.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "compute/cuda/span_args.h"
#include "compute/mass_pieces.h"

namespace looseleaf::cuda {

// Blocks that one multiprocessor runs at the same time.
inline constexpr int kMassBlocksPerSm = 2;

struct MassArgs : SpanArgs {
  const MassPiece* pieces;
  int piece_count;
  const float* lse;        // [rows, heads] natural
  float* partials;         // [kv_heads][partial_stride] 0 where a key is hidden from all rows
  int64_t partial_stride;  // keys of all pieces at least
};

struct AddMassArgs {
  const MassPiece* pieces;
  int piece_count;
  int kv_heads;
  const float* partials;
  int64_t partial_stride;
  float* mass;
};

// Leaves partial sums. head_dim is 64 or 128; else cudaErrorInvalidValue. blocks: that run at the
// same time. Launch errors come back, none is left behind.
cudaError_t attend_mass_hopper(const MassArgs& args, int head_dim, int blocks, cudaStream_t stream);

// Adds the heads' partial sums of pieces, no two of which are of one key. Belongs right behind
// `attend_mass_hopper`, or another of its kind, in the same stream: it starts while that still
// runs.
cudaError_t add_mass(const AddMassArgs& args, cudaStream_t stream);

}  // namespace looseleaf::cuda
