// Arrays of one launch in one block of bytes, copied to the GPU together.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "compute/cuda/page_view.h"

namespace looseleaf::cuda {

// Room for as many values and for somewhat more: passes of about the same size have the same.
constexpr size_t roomy(size_t count) { return std::bit_ceil(count); }

class Packed {
 public:
  // Returns where the values begin, a multiple of 16, and leaves room behind them.
  template <class T>
  size_t append(const std::vector<T>& values) {
    const size_t at = (bytes.size() + 15) / 16 * 16;
    bytes.resize(at + roomy(values.size()) * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data() + at, values.data(), values.size() * sizeof(T));
    return at;
  }
  std::vector<std::byte> bytes;
};

// What kernels that read layer `layer` of pages of all layers take for a page of this layout: its
// place in the pool in units of kPageUnit, moved on where layers lie elsewhere in it.
inline int32_t page_number(const KvLayout& layout, int layer, const std::byte* page,
                           const std::byte* pool) {
  const int64_t moved = layout.layer_offset(layer) - layer * layout.layer_bytes();
  return static_cast<int32_t>((page - pool + moved) / kPageUnit);
}

}  // namespace looseleaf::cuda
