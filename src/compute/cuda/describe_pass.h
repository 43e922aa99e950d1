// What attention of a pass reads besides keys and values, in one block of bytes that is copied to
// the GPU once a pass: layers share it.
#pragma once

#include <cstddef>
#include <vector>

#include "compute/cuda/attend_rows.h"
#include "compute/device.h"

namespace looseleaf::cuda {

struct PassDescription {
  std::vector<std::byte> bytes;
  // Byte offsets in it.
  int64_t segments_at = 0, uses_at = 0, rows_at = 0, positions_at = 0, alibi_at = -1;

  // The launch's pointers into a copy of the bytes at `base`.
  void point(const std::byte* base, AttendLaunch& launch) const;
};

// Nothing in it depends on the layer.
PassDescription describe_pass(const AttendArgs& args);

// How the rows that are active in a layer are cut into tiles, and the keys of few rows into parts,
// so that they fill `multiprocessors`. Depends on a group's own rows and keys only: a request's
// results are the same alone and among others.
struct TilePlan {
  std::vector<AttendTile> tiles;
  std::vector<MergeRow> merges;
  int32_t partials = 0;
  int32_t most_vectors = 0;
};
TilePlan plan_tiles(const AttendArgs& args, int multiprocessors);

// Pages of uses whose mass is wanted. Groups may add to the same keys, one after the other: those
// of group g are tasks [first[g], first[g + 1]).
struct MassPlan {
  std::vector<MassTask> tasks;
  std::vector<size_t> first;
};
MassPlan plan_mass(const AttendArgs& args);

}  // namespace looseleaf::cuda
