#include <vector>

#include "compute/cpu/cpu_device.h"
#include "compute/cpu/kv_codec.h"
#include "compute/cpu/rotary.h"

namespace looseleaf {

void cpu_gather(ThreadPool& pool, const GatherArgs& args) {
  const Segment& from = *args.source;
  const int dim = from.layout->head_dim;
  pool.parallel_for(static_cast<int64_t>(args.tokens.size()), [&](int64_t n) {
    const int32_t token = args.tokens[static_cast<size_t>(n)];
    const KvSlot& to = args.slots[static_cast<size_t>(n)];
    const std::byte* page = from.pages[static_cast<size_t>(token / kPageTokens)];
    std::vector<float> row(static_cast<size_t>(dim));
    for (int head = 0; head < from.layout->kv_heads; ++head) {
      load_kv(*from.layout, page + from.layout->key_offset(args.layer, head), token % kPageTokens,
              1, row.data());
      if (!from.turn.empty())
        turn_head<Turn::kForward>(row.data(), from.turn.data(), args.rotary_dims, args.pairs);
      store_kv(*to.layout, to.page + to.layout->key_offset(args.layer, head), to.slot, row.data());
      load_kv(*from.layout, page + from.layout->value_offset(args.layer, head), token % kPageTokens,
              1, row.data());
      store_kv(*to.layout, to.page + to.layout->value_offset(args.layer, head), to.slot,
               row.data());
    }
  });
}

}  // namespace looseleaf
