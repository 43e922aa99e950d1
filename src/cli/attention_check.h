// The attention bench's ways against attention by its definition.
#pragma once

#include <functional>

#include "cli/attention_scene.h"

namespace looseleaf {

struct AttentionChecked {
  AttentionRow row;
  AttentionHeads heads;
  std::string_view way;
  double error = 0;  // |got - expected| / |expected| over everything; infinite: some is no number
  double bound = 0;

  bool within() const { return error <= bound; }
};

// Every way on odd sizes: few and many requests, more users of a chunk than a tile holds, chunks of
// a token, of a page and one and of many parts, heads of 64, 96 and 128. Pages and results are
// poisoned before. `tell` is given each. Errors: kUnavailable; what `tell` gives.
Status check_attention(Device& device, KvType kv_type, uint32_t seed, int64_t page_limit,
                       const std::function<Status(const AttentionChecked&)>& tell);

}  // namespace looseleaf
