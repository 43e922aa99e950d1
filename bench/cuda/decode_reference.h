// Decode attention by its definition, in float64 on the CPU.
#pragma once

#include <cstdint>
#include <vector>

#include "workload.h"

namespace looseleaf::bench {

float from_bf16(uint16_t bits);

// pages: [pages] of page_layout.h, as bytes; query: [requests, heads, head_dim] bf16
// Returns [requests, heads, head_dim]; 0 for a request without keys.
std::vector<double> attend_reference(const Heads& heads, const Workload& load,
                                     const std::vector<std::byte>& pages,
                                     const std::vector<uint16_t>& query);

}  // namespace looseleaf::bench
