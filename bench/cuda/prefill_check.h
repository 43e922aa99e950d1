#pragma once

namespace looseleaf::bench {

// Compares prefill attention with its definition in float64 on odd sizes; prints a line a case.
// True where all are within the bound.
bool check_prefill();

}  // namespace looseleaf::bench
