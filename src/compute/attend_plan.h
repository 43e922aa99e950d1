// The work list of decode attention: which block of the GPU reads which keys, and for which
// queries.
//
// Chunk-major: the query vectors of all requests that use a chunk are stacked, so that its keys and
// values are read once for everybody. Each item leaves one partial softmax a vector; a query's
// partials are merged.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "compute/least_loaded.h"

namespace looseleaf {

// Query vectors of an item at most: the rows of one tensor-core tile, whose cost is the same for
// fewer.
inline constexpr int kItemVectors = 64;

// Keys of one KV head of one chunk, or a part of them, and the vectors that attend to them.
struct WorkItem {
  int32_t first_page;  // index into the pages that the device knows
  int32_t tokens;      // keys, from the first page's first slot
  int32_t kv_head;
  int32_t first_vector;  // index into AttendPlan::vectors
  int32_t vectors;       // 1 .. kItemVectors
};

struct alignas(16) QueryVector {
  int32_t query;    // row * heads + head
  int32_t turn;     // which binding's cos and sin turn it back; -1: none
  int32_t end;      // keys [0, end) of the item are visible
  int32_t partial;  // where its result goes
};

// Tokens that lie in pages [first_page, first_page + pages_for(tokens)).
struct PlanChunk {
  int32_t first_page = 0;
  int32_t tokens = 0;
};

// One occurrence of a chunk in one request.
struct PlanUse {
  int32_t chunk = 0;
  int32_t turn = -1;
};

struct PlanShape {
  int heads = 0;
  int kv_heads = 0;         // divides heads; heads / kv_heads <= kItemVectors
  int blocks = 0;           // that run at the same time
  bool chunk_major = true;  // false: each use has items of its own, for comparison
  int token_rate = 1;       // how often a token is read in the time of one in bf16
};

struct AttendPlan {
  std::vector<WorkItem> items;         // by block, in the order in which the block takes them
  std::vector<int32_t> first_item;     // [blocks + 1]
  std::vector<QueryVector> vectors;    // by item
  std::vector<int32_t> first_partial;  // [rows * heads + 1] partials of a query, in prompt order
};

// What an item costs a block, in units of a token of K and V: `kItemCost` to begin and end,
// `kVectorCost` to turn a query and to write its partial, where tokens are bf16. Fitted to one
// H200.
inline constexpr int64_t kItemCost = 96;
inline constexpr int64_t kVectorCost = 4;
constexpr int64_t item_cost(int64_t tokens, int64_t vectors, int token_rate = 1) {
  return tokens + token_rate * (kItemCost + kVectorCost * vectors);
}

// Items are cut at multiples of this many tokens from the chunk's start.
inline constexpr int kCutTokens = 64;

// Makes plans, and keeps its buffers from one to the next. Not for several threads at once.
class AttendPlanner {
 public:
  // The same arguments give the same plan. Row r is the request with uses [first_use[r],
  // first_use[r + 1]), in prompt order. REQUIRES indices in range. The plan is valid until the next
  // call.
  const AttendPlan& plan(const PlanShape& shape, std::span<const PlanChunk> chunks,
                         std::span<const PlanUse> uses, std::span<const int32_t> first_use);

 private:
  struct User {
    int32_t row, use, turn;
  };
  // Users of one chunk.
  struct Group {
    int32_t chunk, first_user, users;
  };
  // An item before it is written down.
  struct Piece {
    int32_t first_user, users, kv_head, first_page, tokens, block;
    int32_t number;  // of the pieces that its keys were cut into
  };

  void group_uses(const PlanShape& shape, std::span<const PlanChunk> chunks,
                  std::span<const PlanUse> uses, std::span<const int32_t> first_use);
  void deal(const PlanShape& shape, std::span<const PlanChunk> chunks);
  int cut(const PlanShape& shape, const PlanChunk& chunk, Piece piece);
  void number_partials(const PlanShape& shape, std::span<const int32_t> first_use);
  void write(const PlanShape& shape);

  AttendPlan plan_;
  std::vector<Group> groups_;      // chunks in use, by first use
  std::vector<int32_t> group_of_;  // [chunks] -1: not in use
  std::vector<User> users_;        // [uses] by group, then by row and place in the prompt
  std::vector<Piece> pieces_;      // in the order in which they are dealt
  std::vector<int32_t>
      parts_;  // [uses, kv_heads] pieces of a use; then those of earlier uses of its row
  std::vector<int32_t> in_row_;     // [kv_heads]
  std::vector<int32_t> next_item_;  // [blocks]
  LeastLoaded blocks_;
  int64_t share_ = 0;    // of a block in the cost of all items, before any is cut
  int64_t vectors_ = 0;  // of all items
};

}  // namespace looseleaf
