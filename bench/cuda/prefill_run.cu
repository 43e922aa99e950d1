#include "prefill_run.h"

#include <cmath>
#include <numbers>

#include "compute/cuda/page_layout.h"

namespace looseleaf::bench {

PrefillRun::PrefillRun(const Heads& heads, const PrefillWork& work, const PrefillPlan& plan,
                       const Pages& pages, const __nv_bfloat16* query, __nv_bfloat16* out)
    : heads_(heads),
      blocks_(static_cast<int>(plan.first_item.size()) - 1),
      rows_(work.rows),
      positions_(work.positions),
      key_positions_(work.key_positions),
      stale_(work.stale),
      turns_(work.turns),
      items_(plan.items),
      first_item_(plan.first_item),
      spans_(plan.spans),
      merged_(plan.merged),
      first_partial_(plan.first_partial),
      partial_values_(static_cast<size_t>(plan.first_partial.back()) *
                      static_cast<size_t>(heads.head_dim)),
      partial_softmax_(static_cast<size_t>(plan.first_partial.back())) {
  partial_values_.poison();
  partial_softmax_.poison();
  const double scale = 1 / std::sqrt(static_cast<double>(heads.head_dim));
  prefill_ = {.query = query,
              .rows = rows_.data(),
              .positions = positions_.data(),
              .turns = turns_.data(),
              .layer = pages.memory().data(),
              .page_bytes = cuda::page_layer_bytes(heads.kv_heads, heads.head_dim),
              .widened = nullptr,
              .pages = pages.numbers(),
              .key_positions = key_positions_.data(),
              .stale = stale_.data(),
              .heads = heads.heads,
              .kv_heads = heads.kv_heads,
              .window = work.window,
              .scale_log2 = static_cast<float>(scale * std::numbers::log2e),
              .items = items_.data(),
              .first_item = first_item_.data(),
              .spans = spans_.data(),
              .partial_values = partial_values_.data(),
              .partial_softmax = partial_softmax_.data(),
              .out = out};
  merge_ = {.partial_values = partial_values_.data(),
            .partial_softmax = partial_softmax_.data(),
            .first_partial = first_partial_.data(),
            .merged = merged_.data(),
            .out = out,
            .queries = static_cast<int>(plan.merged.size())};
}

void PrefillRun::launch(cudaStream_t stream) const {
  require(cuda::attend_prefill(prefill_, heads_.head_dim, blocks_, stream), "attend_prefill");
  require(cuda::merge_partials(merge_, heads_.head_dim, stream), "merge_partials");
}

}  // namespace looseleaf::bench
