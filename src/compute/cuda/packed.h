// Arrays of one launch in one block of bytes, copied to the GPU together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "compute/cuda/page_view.h"

namespace looseleaf::cuda {

class Packed {
 public:
  // Returns where the values begin, a multiple of 16.
  template <class T>
  size_t append(const std::vector<T>& values) {
    const size_t at = (bytes.size() + 15) / 16 * 16;
    bytes.resize(at + values.size() * sizeof(T));
    if (!values.empty()) std::memcpy(bytes.data() + at, values.data(), values.size() * sizeof(T));
    return at;
  }
  std::vector<std::byte> bytes;
};

// Pages lie anywhere in the pool, at multiples of kPageUnit: their numbers from the lowest of them.
struct PageNumbers {
  explicit PageNumbers(const std::vector<std::byte*>& pages) {
    if (!pages.empty()) lowest = *std::min_element(pages.begin(), pages.end());
    for (const std::byte* page : pages)
      numbers.push_back(static_cast<int32_t>((page - lowest) / kPageUnit));
  }
  const std::byte* lowest = nullptr;
  std::vector<int32_t> numbers;
};

}  // namespace looseleaf::cuda
