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
  // The last position that it sees, where that is not its own (CacheBlend's released mask).
  int32_t sees = kOwnPosition;

  static constexpr int32_t kOwnPosition = -1;
  int32_t last_seen() const { return sees == kOwnPosition ? position : sees; }
};

// The rows of one sequence.
struct PassGroup {
  std::vector<SegmentUse> uses;      // what they see, in prompt order
  const RopeRegime* rope = nullptr;  // how their positions become angles; never null in a pass
};

// Scattered tokens of several segments, brought together before each layer's attention.
struct PassGather {
  struct Source {
    int32_t segment = 0;
    std::vector<int32_t> tokens;  // indices into the source
    std::vector<int32_t> places;  // rising: which token of the target each becomes
    std::vector<KvSlot> slots;    // of the places
  };
  // Its layout has one layer, filled anew with its first tokens(layer) tokens in each layer.
  int32_t target = 0;
  std::vector<Source> sources;
};

struct Pass {
  std::vector<PassRow> rows;      // by falling depth (see sort_rows)
  std::vector<Segment> segments;  // views of memory that the caller keeps alive
  std::vector<PassGroup> groups;
  int outputs = 0;  // rows [0, outputs) give logits; their depth is the layer count

  // Layers [first_layer, end_layer) run; end_layer may lie beyond the last. Rows enter the first
  // one as PassIo::hidden_in, layer 0 as embeddings.
  int first_layer = 0;
  int end_layer = INT32_MAX;
  int first_kv_layer = 0;  // in layers below, the rows' keys and values are there already

  std::vector<PassGather> gathers;

  // How far PassIo::mass reaches in each layer; 0: it is not wanted. All rows attend for it in
  // their deepest layer too.
  int mass_places = 0;
  bool mass_of_documents = false;  // shares of what uses with a mass get, not of all attention

  // Brings rows into order of falling depth, keeping the order among equals, so that the rows that
  // are active in a layer are always the first ones.
  void sort_rows();
};

}  // namespace looseleaf
