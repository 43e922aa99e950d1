// How fp8 heads of 64 and 128 dimensions lie in the GPU's memory: as operands of the tensor cores,
// which take 8-bit matrices with rows along the summed dimension only. For scores that is a key's
// dimensions, for the weighted values it is the tokens; so values are stored transposed.
//
// Both are made of blocks of 8 rows of 16 codes, 128 bytes that follow each other (no swizzle: any
// 16-byte address will do, and scales may lie between).
//   K: [kPageTokens / 8] of { [head_dim / 16][8 tokens][16 dims] codes, [8] f16 scales }
//   V: [head_dim / 8][2][8 dims][16 tokens] codes, then [kPageTokens] f16 scales
// K pieces of several pages that follow each other are one operand of more tokens.
#pragma once

#include <cstdint>

#include "compute/kv_layout.h"

namespace looseleaf::cuda {

static_assert(kPageTokens == 32, "a page's tokens are one step of an 8-bit product");

// From a block to the next along the summed dimension.
inline constexpr int kFp8Block = 8 * 16;

constexpr int fp8_piece_bytes(int head_dim) { return kPageTokens * (head_dim + 2); }

// From 8 tokens of K to the next 8.
constexpr int fp8_keys_apart(int head_dim) { return 8 * (head_dim + 2); }
// From 8 dimensions of V to the next 8.
inline constexpr int kFp8ValuesApart = 2 * kFp8Block;

// Byte offset in a matrix of rows of codes whose blocks of 8 rows lie `apart` bytes apart.
constexpr int fp8_offset(int row, int col, int apart) {
  return row / 8 * apart + col / 16 * kFp8Block + row % 8 * 16 + col % 16;
}

// Where a slot stands among V's tokens: a thread of the tensor cores holds the scores of tokens 2q
// and 2q + 1 of each eight, and is asked for weights 4q .. 4q + 3 of each sixteen. In this order
// those are the same.
constexpr int fp8_value_column(int slot) {
  return slot / 16 * 16 + slot % 8 / 2 * 4 + slot / 8 % 2 * 2 + slot % 2;
}

constexpr int fp8_key_offset(int slot, int dim, int head_dim) {
  return fp8_offset(slot, dim, fp8_keys_apart(head_dim));
}
constexpr int fp8_key_scale_offset(int slot, int head_dim) {
  return slot / 8 * fp8_keys_apart(head_dim) + 8 * head_dim + slot % 8 * 2;
}
constexpr int fp8_value_offset(int slot, int dim) {
  return fp8_offset(dim, fp8_value_column(slot), kFp8ValuesApart);
}
constexpr int fp8_value_scale_offset(int slot, int head_dim) {
  return kPageTokens * head_dim + slot * 2;
}

}  // namespace looseleaf::cuda
