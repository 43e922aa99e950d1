// What the machine can do at most, as measured: what a bench's numbers stand beside.
#pragma once

#include "base/status.h"

namespace looseleaf {

struct Ceilings {
  double read_gbps = 0;      // 1e9 bytes a second read from memory, no cache holding them
  double matrix_gflops = 0;  // 1e9 operations a second of a large product, as passes compute it
};

// With this many threads; the best of several runs of each. Takes about a second and 256 MB.
// Errors: kUnavailable (no memory).
Expected<Ceilings> measure_ceilings(int threads);

}  // namespace looseleaf
