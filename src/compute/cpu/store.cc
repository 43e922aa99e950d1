#include "compute/cpu/cpu_device.h"
#include "compute/cpu/kv_codec.h"

namespace looseleaf {

void cpu_store(ThreadPool& pool, int layer, const float* k, const float* v,
               std::span<const KvSlot> slots) {
  constexpr int64_t kAtOnce = 32;  // rows a task: some microseconds
  const auto rows = static_cast<int64_t>(slots.size());
  pool.parallel_for((rows + kAtOnce - 1) / kAtOnce, [&](int64_t task) {
    for (int64_t r = task * kAtOnce; r < std::min(rows, (task + 1) * kAtOnce); ++r) {
      const KvSlot& to = slots[static_cast<size_t>(r)];
      const KvLayout& layout = *to.layout;
      if (to.page == nullptr || !layout.has(layer)) continue;
      for (int head = 0; head < layout.kv_heads; ++head) {
        const int64_t at = (r * layout.kv_heads + head) * layout.head_dim;
        store_kv(layout, to.page + layout.key_offset(layer, head), to.slot, k + at);
        store_kv(layout, to.page + layout.value_offset(layer, head), to.slot, v + at);
      }
    }
  });
}

}  // namespace looseleaf
