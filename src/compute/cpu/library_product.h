// Large products by oneDNN, on the calling thread alone.
#pragma once

#include <cstdint>

namespace looseleaf {

// From this many rows on the library is faster than decoding all weights once for each 8 rows.
inline constexpr int kLibraryRows = 32;
inline constexpr int kBf16LibraryRows = 16;

struct LibraryProduct {
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t depth = 0;
  bool accumulate = false;
  float* y = nullptr;  // [rows, y_stride], of which the first `cols` columns are written
  int64_t y_stride = 0;
};

bool have_library();      // in this build
bool library_has_bf16();  // and on this processor, as instructions of its own

// y = x w^T, or y +=. x: [rows, depth], w: [cols, depth]. False: the library could not (it had no
// memory), and y is as before.
bool library_product(const LibraryProduct& args, const float* x, const float* w);
// The same from bfloat16, with float32 sums. REQUIRES: library_has_bf16()
bool library_product(const LibraryProduct& args, const uint16_t* x, const uint16_t* w);

}  // namespace looseleaf
