// The work list of prefill attention: which block of the GPU computes which query vectors over
// which keys.
//
// The heads that share a KV head are packed: vector v of a group of rows is head v % (heads /
// kv_heads) of row v / (heads / kv_heads). An item is a tile of vectors over all keys that they
// see, or over a part of them; the partial softmaxes of a tile's parts are merged.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "compute/least_loaded.h"

namespace looseleaf {

// Query vectors of an item at most, and keys of one step: the tile of the tensor cores.
inline constexpr int kPrefillVectors = 128;
inline constexpr int kPrefillKeys = 128;

// Keys in consecutive pages, from the first page's first slot.
struct alignas(16) PrefillSpan {
  int32_t first_page = 0;  // index into the pages that the device knows
  int32_t tokens = 0;
  int32_t turn = -1;           // which binding's cos and sin turn the queries back; -1: none
  int32_t position = 0;        // of token 0 in the prompt; the others follow
  int32_t key_positions = -1;  // or token i stands at the device's key_positions[this + i]; even
  int32_t stale =
      -1;  // bit i % 32 of the device's stale[this + i / 32]: token i is skipped; -1: none is
  int32_t limit =
      std::numeric_limits<int32_t>::max();  // keys at this position or later are not visible
  int32_t unused = 0;
};

struct PrefillItem {
  int32_t kv_head;
  int32_t first_row;          // of the group, index into the device's list of rows
  int32_t first_vector;       // of the group
  int32_t vectors;            // 1 .. kPrefillVectors
  int32_t first_span, spans;  // of PrefillPlan::spans
  int32_t first_key;          // of the first span, a multiple of kPrefillKeys
  int32_t end_key;            // of the last span
  int32_t lowest, highest;    // prompt positions of the rows
  int32_t first_partial;  // vector v of the item leaves its result there + v * parts; -1: it is the
                          // only part
  int32_t parts;
};

// Rows of one sequence and what they attend over, in prompt order.
struct PrefillGroup {
  int32_t first_row = 0, rows = 0;
  std::span<const PrefillSpan> spans;
};

struct PrefillShape {
  int heads = 0;
  int kv_heads = 0;  // divides heads
  int blocks = 0;    // that run at the same time
  int window = 0;    // keys further back than this are not visible; 0: none
};

struct PrefillPlan {
  std::vector<PrefillItem> items;      // by block, in the order in which the block takes them
  std::vector<int32_t> first_item;     // [blocks + 1]
  std::vector<PrefillSpan> spans;      // by tile of rows, shared by its KV heads
  std::vector<int32_t> merged;         // queries (row * heads + head) whose partials are merged
  std::vector<int32_t> first_partial;  // [merged.size() + 1] partials of a merged query, in prompt
                                       // order; none where it sees no key
};

// What an item costs a block beyond its steps of kPrefillKeys keys, in halves of a step. Fitted to
// one H200.
inline constexpr int64_t kPrefillItemCost = 2;

// Steps of a part at least, where a tile is cut.
inline constexpr int32_t kPrefillMinSteps = 2;

// Makes plans, and keeps its buffers from one to the next. Not for several threads at once.
class PrefillPlanner {
 public:
  // rows: row numbers, by group; positions: [all rows of the pass], of a group's rows ascending.
  // The same arguments give the same plan, valid until the next call. REQUIRES ranges inside the
  // arrays.
  const PrefillPlan& plan(const PrefillShape& shape, std::span<const PrefillGroup> groups,
                          std::span<const int32_t> rows, std::span<const int32_t> positions);

 private:
  // Vectors of one group that an item takes, and the spans that they see.
  struct Tile {
    int32_t group, first_row, first_vector, vectors, lowest, highest, first_span, spans, steps;
  };

  void make_tiles(const PrefillShape& shape, std::span<const PrefillGroup> groups,
                  std::span<const int32_t> rows, std::span<const int32_t> positions);
  void add_visible(const PrefillShape& shape, PrefillSpan span, Tile& tile);
  void deal(const PrefillShape& shape, std::span<const int32_t> rows);
  int cut(const Tile& tile, int32_t kv_head);
  void number_parts(const PrefillShape& shape, std::span<const int32_t> rows, const Tile& tile,
                    int32_t kv_head, int parts);

  PrefillPlan plan_;
  std::vector<Tile> tiles_;
  std::vector<PrefillItem> dealt_;  // in the order in which they are dealt
  std::vector<int32_t> block_of_;   // [dealt_]
  LeastLoaded blocks_;
  int64_t share_ = 0;  // of a block in the cost of all tiles, before any is cut
};

}  // namespace looseleaf
