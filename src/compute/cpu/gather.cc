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
    // What is not turned and keeps its type is copied as it is stored: codes are not chosen anew.
    const auto bring = [&](int64_t at, int64_t to_at, bool turned) {
      const std::byte* piece = page + at;
      std::byte* target = to.page + to_at;
      if (!turned && to.layout->type == from.layout->type)
        return copy_kv(*from.layout, piece, token % kPageTokens, *to.layout, target, to.slot);
      load_kv(*from.layout, piece, token % kPageTokens, 1, row.data());
      if (turned)
        turn_head<Turn::kForward>(row.data(), from.turn.data(), args.rotary_dims, args.pairs);
      store_kv(*to.layout, target, to.slot, row.data());
    };
    for (int head = 0; head < from.layout->kv_heads; ++head) {
      bring(from.layout->key_offset(args.layer, head), to.layout->key_offset(args.layer, head),
            !from.turn.empty());
      bring(from.layout->value_offset(args.layer, head), to.layout->value_offset(args.layer, head),
            false);
    }
  });
}

}  // namespace looseleaf
