// The kernels against the definition.
#pragma once

namespace looseleaf::bench {

// Prints a line a case; true when all are within bounds.
bool check_decode();

}  // namespace looseleaf::bench
