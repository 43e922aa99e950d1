#include "compute/cpu/cpu_device.h"
#include "compute/cpu/kv_codec.h"

namespace looseleaf {

void cpu_store(int layer, const float* k, const float* v, std::span<const KvSlot> slots) {
  for (const KvSlot& to : slots) {
    const KvLayout& layout = *to.layout;
    for (int head = 0; head < layout.kv_heads; ++head, k += layout.head_dim, v += layout.head_dim) {
      if (to.page == nullptr || !layout.has(layer)) continue;
      store_kv(layout, to.page + layout.key_offset(layer, head), to.slot, k);
      store_kv(layout, to.page + layout.value_offset(layer, head), to.slot, v);
    }
  }
}

}  // namespace looseleaf
