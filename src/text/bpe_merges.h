// Byte-level BPE: the symbols that merge are bytes.
#pragma once

#include <array>
#include <functional>

#include "base/status.h"
#include "text/subword_model.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

class BpeMerges final : public SubwordModel {
 public:
  // REQUIRES: check_spec(spec).
  // Errors: kCorrupt (a merge whose parts or result no text leads to, a merge given twice, a
  // vocabulary that cannot spell printable ASCII).
  static Expected<BpeMerges> create(const TokenizerSpec& spec);

  // A few real vocabularies lack control bytes and the lead bytes of unassigned planes.
  std::optional<size_t> find_unknown_byte(std::string_view text) const override;
  // Any bytes will do.
  void encode(std::string_view piece, Scratch& scratch, std::vector<int32_t>& ids) const override;

 private:
  std::array<int32_t, 256> byte_ids_;  // -1: no token
  MergeTable merges_;
};

// Adds spec.merges, ranked in their order; `find` gives the id of a part or result, or -1.
// Errors: kCorrupt (one that is not found, a merge given twice).
Status add_merges(const TokenizerSpec& spec, const std::function<int32_t(std::string_view)>& find,
                  MergeTable& table);

}  // namespace looseleaf
