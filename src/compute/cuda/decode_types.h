// The types of pages that decode attention multiplies on tensor cores, each by its own kernel.
#pragma once

#include <array>
#include <vector>

#include "compute/cuda/attend_decode.h"
#include "compute/kv_layout.h"

namespace looseleaf::cuda {

struct DecodeType {
  KvType type;
  int token_rate;  // PlanShape::token_rate
  // overlapping: behind another type's kernel of the same step.
  cudaError_t (*attend)(const DecodeArgs& args, int head_dim, int blocks, bool overlapping,
                        cudaStream_t stream);
};
// The first never overlaps; the others wait for the one before them before they end.
extern const std::array<DecodeType, 2> kDecodeTypes;

std::vector<int> decode_token_rates();

// The layout's place in kDecodeTypes; -1: no kernel is for it.
int decode_type(const KvLayout& layout);

}  // namespace looseleaf::cuda
