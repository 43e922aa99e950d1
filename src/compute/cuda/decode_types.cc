#include "compute/cuda/decode_types.h"

#include <algorithm>

#include "compute/cuda/attend_decode_fp8.h"
#include "compute/cuda/page_view.h"

namespace looseleaf::cuda {

const std::array<DecodeType, 2> kDecodeTypes = {
    DecodeType{KvType::kBF16,
               [](const DecodeArgs& args, int head_dim, int blocks, bool, cudaStream_t stream) {
                 return attend_decode(args, head_dim, blocks, stream);
               }},
    DecodeType{KvType::kFP8, attend_decode_fp8},
};

int decode_type(const KvLayout& layout) {
  if (piece_form(layout) == PieceForm::kRows) return -1;
  for (size_t t = 0; t < kDecodeTypes.size(); ++t)
    if (kDecodeTypes[t].type == layout.type) return static_cast<int>(t);
  return -1;
}

DecodePlanner::Plan DecodePlanner::plan(const PlanShape& shape, std::span<const PlanChunk> chunks,
                                        std::span<const int> types, std::span<const PlanUse> uses,
                                        std::span<const int32_t> first_use) {
  const auto type_of = [&](const PlanUse& use) { return types[static_cast<size_t>(use.chunk)]; };
  Plan plan{};
  // Almost always there is one type, or there are two: chunks in fp8, private text in bf16.
  const int first_type = uses.empty() ? 0 : type_of(uses[0]);
  if (std::all_of(uses.begin(), uses.end(),
                  [&](const PlanUse& use) { return type_of(use) == first_type; })) {
    const auto t = static_cast<size_t>(first_type);
    plan.of_type[t] = &planners_[t].plan(shape, chunks, uses, first_use);
    plan.first_partial = plan.of_type[t]->first_partial;
    return plan;
  }
  const size_t rows = first_use.size() - 1;
  first_partial_.assign(rows * static_cast<size_t>(shape.heads) + 1, 0);
  for (size_t t = 0; t < kDecodeTypes.size(); ++t) {
    std::vector<PlanUse> own;
    std::vector<int32_t> first_own = {0};
    for (size_t r = 0; r < rows; ++r) {
      for (auto u = first_use[r]; u < first_use[r + 1]; ++u)
        if (type_of(uses[static_cast<size_t>(u)]) == static_cast<int>(t))
          own.push_back(uses[static_cast<size_t>(u)]);
      first_own.push_back(static_cast<int32_t>(own.size()));
    }
    renumbered_[t] = planners_[t].plan(shape, chunks, own, first_own);
    for (size_t q = 0; q < first_partial_.size(); ++q)
      first_partial_[q] += renumbered_[t].first_partial[q];
    plan.of_type[t] = &renumbered_[t];
  }
  // Before a query's partials of one type come those of the types before, its own included, and
  // those of earlier queries of the types behind.
  for (size_t t = 0; t < kDecodeTypes.size(); ++t)
    for (QueryVector& vector : renumbered_[t].vectors) {
      const auto q = static_cast<size_t>(vector.query);
      for (size_t other = 0; other < kDecodeTypes.size(); ++other)
        if (other != t) vector.partial += renumbered_[other].first_partial[q + (other < t ? 1 : 0)];
    }
  plan.first_partial = first_partial_;
  return plan;
}

}  // namespace looseleaf::cuda
