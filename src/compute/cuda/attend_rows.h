// Attention over segments for every shape, type and mask: the GPU's compute/cpu/attend.cc. Right
// before it is fast: products in float32, without tensor cores.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "compute/cuda/page_view.h"
#include "model/rope.h"

namespace looseleaf::cuda {

// A Segment in the description of a pass; `*_at` are byte offsets from the description's start, -1
// where there is none.
struct GpuSegment {
  PageView view;
  int64_t pages_at;           // [pages] of std::byte*
  int64_t positions_at;       // [count] int32
  int64_t turn_at;            // [2][rotary_dims / 2] float
  int64_t stale_at;           // [layers][stale_words] uint64
  int64_t count_by_layer_at;  // [layers] int32
  int32_t count;
  int32_t position;
};

struct GpuUse {
  int32_t segment;
  int32_t limit;
};

// Query vectors that go through the same pages. Vector g of a group is head g % share of each KV
// head in row rows[g / share]. A tile takes `vectors` of them, and pages from `first_page` of use
// `first_use` to `end_page` (exclusive) of use `last_use`.
struct AttendTile {
  int32_t first_row;     // of the group, in the description's list of rows
  int32_t first_vector;  // of the group
  int32_t vectors;
  int32_t first_use, last_use;
  int32_t first_page, end_page;
  int32_t lowest, highest;  // positions of its rows
  int32_t part;             // of the parts that the group's keys are cut into
  int32_t parts;            // 1: the result is written, else a partial one
  int32_t first_partial;    // of the group: [rows, heads, parts]
};

struct AttendLaunch {
  const std::byte* description;
  const GpuSegment* segments;
  const GpuUse* uses;
  const int32_t* rows;       // of all groups
  const int32_t* positions;  // [rows of the pass]
  const float* alibi;        // [heads] or null
  const AttendTile* tiles;
  int32_t tile_count;
  int32_t most_vectors;  // of a tile
  int32_t layer, heads, kv_heads, head_dim, rotary_dims, window;
  RopePairs pairs;
  float scale;
  const float* query;       // [active, heads, head_dim]
  float* out;               // [active, heads, head_dim]
  float* lse;               // [active, heads] or null
  float* mass;              // of attend_mass
  float* partial_values;    // [partials, head_dim] not divided by the sum
  float2* partial_softmax;  // [partials] largest score, sum
};

// Vectors of a tile at most, for groups of few and of many.
inline constexpr int kFewVectors = 16, kManyVectors = 32;

// REQUIRES: head_dim <= kMaxHeadDim.
void attend_rows(const AttendLaunch& launch, cudaStream_t stream);

// A row whose keys were cut into parts.
struct MergeRow {
  int32_t row, first_partial, parts;
};
// rows: [count]
void merge_rows(const AttendLaunch& launch, const MergeRow* rows, int count, cudaStream_t stream);

// One page of a use whose mass is wanted, and all vectors of the group.
struct MassTask {
  int32_t first_row;  // of the group, in the description's list of rows
  int32_t vectors;
  int32_t use;
  int32_t page;
  int32_t mass;  // where the use's first key's mass is added
};
// tasks: [count], no two for one key. `out` is not used, `lse` is read.
void attend_mass(const AttendLaunch& launch, const MassTask* tasks, int count, cudaStream_t stream);

}  // namespace looseleaf::cuda
