// Fresh random values for checks, and how far a result is from the reference.
#pragma once

#include <cuda_bf16.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "prefill_work.h"
#include "workload.h"

namespace looseleaf::bench {

// bf16 of deviation 1, cut off instead of rounded.
uint16_t random_bf16(std::mt19937& random);

// Pages of the work's tokens. Slots that no token fills hold NaNs.
std::vector<std::byte> random_pages(const Heads& heads, const Workload& load, std::mt19937& random);
std::vector<std::byte> random_pages(const Heads& heads, const PrefillWork& work,
                                    std::mt19937& random);

// |got - want| / |want|, by Euclid's norm over everything; infinite where something is no number.
double relative_error(const std::vector<__nv_bfloat16>& got, const std::vector<double>& want);

}  // namespace looseleaf::bench
