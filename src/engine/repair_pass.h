// The pass of a repair: which rows, over which segments.
#pragma once

#include "engine/document_tokens.h"
#include "engine/pass.h"
#include "repair/plan.h"

namespace looseleaf {

// Rows are the overlay's tokens and the text between documents, whose keys and values depend on
// them, in prompt order. Owns what the pass points to beside the sequence, which must stay.
class RepairPass {
 public:
  // REQUIRES: sequence.overlay holds what `plan` recomputes. `first_layer`: 0, or 1 where rows come
  // in as hidden states and their keys and values of layer 1 are there.
  RepairPass(const Sequence& sequence, const PromptShape& shape, const RepairPlan& plan,
             int first_layer);

  RepairPass(const RepairPass&) = delete;

  // Memory for the gathered context, of one layer. Errors: kUnavailable.
  Status allocate(Device& device);

  // Points into this object.
  const Pass& pass() const { return pass_; }
  // For run_in_pieces; 0: as many as the device takes. CacheBlend's released mask lets rows see
  // later ones: they run as one piece.
  size_t piece_rows() const;

 private:
  void add_groups();
  void add_rows(int first_layer);
  void add_gather();
  std::vector<SegmentUse> uses_of_target(size_t part) const;

  const Sequence& sequence_;
  const PromptShape& shape_;
  const RepairPlan& plan_;
  Pass pass_;
  size_t parts_;              // before the question
  KvLayout gathered_layout_;  // one layer
  std::vector<int32_t> gathered_counts_, gathered_positions_;
  std::vector<std::byte*> gathered_pages_;
  DeviceMemory gathered_memory_;
};

}  // namespace looseleaf
