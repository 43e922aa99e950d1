// How one layer of a page lies in the GPU's memory: the one description that kernels, tests and
// benches share.
//
// A layer of a page is [K, V][kv_heads] of pieces, in KvLayout's order. A piece is one head's K or
// V of the page's tokens:
//   [kPageTokens / 8][head_dim / 64][8][64] bf16
// where the 16-byte group g of a 128-byte row stands at g ^ (row % 8). That is the 128-byte swizzle
// of the tensor cores' shared-memory operands: a bulk copy brings a piece to shared memory as it
// is, without a tensor map, and eight rows of one column lie in eight different bank groups there.
// Pieces that follow each other in shared memory are one operand of more rows.
#pragma once

#include <cstdint>

#include "compute/kv_layout.h"

namespace looseleaf::cuda {

static_assert(kPageTokens == 32, "the decode kernel takes a page as 32 columns of scores");

// Eight rows of 64 columns, the unit of the swizzle.
inline constexpr int kAtomBytes = 8 * 128;
// From eight rows to the next eight of the same columns.
constexpr int rows_apart(int head_dim) { return head_dim / 64 * kAtomBytes; }

// Byte offset of the 16-byte group `group` (of head_dim / 8) of `row` in
// [rows / 8][head_dim / 64][8][64] bf16.
constexpr int swizzled(int row, int group, int head_dim) {
  return (row >> 3) * rows_apart(head_dim) + (group >> 3) * kAtomBytes + (row & 7) * 128 +
         (((group & 7) ^ (row & 7)) << 4);
}

constexpr int piece_bytes(int head_dim) { return kPageTokens * head_dim * 2; }

// A layer of a page.
constexpr int64_t page_layer_bytes(int kv_heads, int head_dim) {
  return int64_t{2} * kv_heads * piece_bytes(head_dim);
}

// Offsets of a head's pieces in the layer.
constexpr int64_t key_piece(int head, int head_dim) {
  return int64_t{head} * piece_bytes(head_dim);
}
constexpr int64_t value_piece(int head, int kv_heads, int head_dim) {
  return int64_t{kv_heads + head} * piece_bytes(head_dim);
}

// Byte offset in a piece of dimension `dim` of the token in `slot`.
constexpr int element_offset(int slot, int dim, int head_dim) {
  return swizzled(slot, dim / 8, head_dim) + dim % 8 * 2;
}

}  // namespace looseleaf::cuda
