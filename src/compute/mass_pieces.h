// The work list of attention given to each key: which stretches of keys a block of the GPU takes
// through all query vectors of a group.
//
// A piece belongs to one use of one group. Each KV head of it is a block's work, which leaves a
// partial sum a key: over the group's vectors of that head. Those of all heads are added up
// afterwards, so that a key's sum has one order.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace looseleaf {

// Keys of one step, the tile of the tensor cores.
inline constexpr int kMassKeys = 128;
// Steps of a piece at most. They share the turning of the queries, and are read again for every 128
// vectors: so many that what all blocks of a GPU have at hand stays in its L2 (33 MB).
inline constexpr int kMassSteps = 4;

struct alignas(16) MassPiece {
  int32_t span;       // index into the device's spans
  int32_t first_key;  // of the span, a multiple of kMassKeys
  int32_t keys;       // 1 .. kMassSteps * kMassKeys
  int32_t first_row;  // of the group, index into the device's list of rows
  int32_t vectors;    // of the group: rows times heads a KV head
  int32_t mass;       // where the first key's mass is added
  int32_t partial;    // where its partial sums lie; the next keys' follow
  int32_t unused = 0;
};

// A use whose mass is wanted.
struct MassUse {
  int32_t span, tokens;
  int32_t mass;  // where its first key's mass is added
};

// Rows of one sequence.
struct MassGroup {
  int32_t first_row = 0, rows = 0;
  std::span<const MassUse> uses;
};

struct MassPieces {
  std::vector<MassPiece> pieces;  // by group
  std::vector<int32_t> first;     // [groups + 1] groups may add to the same keys, one after another
  int32_t keys = 0;               // of all pieces: partial sums of a head
};

// blocks: that run at the same time.
MassPieces cut_mass_pieces(int heads, int kv_heads, int blocks, std::span<const MassGroup> groups);

}  // namespace looseleaf
