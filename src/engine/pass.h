// A pass: rows run through the layers, attend over segments, and write their own keys and values.
#pragma once

#include <cstdint>
#include <vector>

#include "compute/segment.h"
#include "model/rope.h"

namespace looseleaf {

struct PassRow {
  int32_t token = 0;
  int32_t position = 0;  // in the prompt; negative in an encoding prefix
  // The row computes keys and values in layers 0..depth, and runs attention and MLP in layers below
  // depth: the number of layers for a row whose logits are wanted, one less for one that only
  // leaves keys and values behind.
  int32_t depth = 0;
  KvSlot slot;  // where its keys and values go
  int32_t group = 0;
};

// The rows of one sequence.
struct PassGroup {
  std::vector<SegmentUse> uses;      // what they see, in prompt order
  const RopeRegime* rope = nullptr;  // how their positions become angles; never null in a pass
};

struct Pass {
  std::vector<PassRow> rows;      // by falling depth (see sort_rows)
  std::vector<Segment> segments;  // views of memory that the caller keeps alive
  std::vector<PassGroup> groups;
  int outputs = 0;  // rows [0, outputs) give logits; their depth is the layer count

  // Brings rows into order of falling depth, keeping the order among equals, so that the rows that
  // are active in a layer are always the first ones.
  void sort_rows();
};

}  // namespace looseleaf
