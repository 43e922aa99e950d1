// What the GPU reads and multiplies at most; see Device::measure_ceilings.
#pragma once

#include "compute/cuda/gpu.h"
#include "compute/cuda/products.h"

namespace looseleaf::cuda {

// 1e9 bytes a second, read once from memory that no cache holds. Errors: kUnavailable.
Expected<double> read_rate(Gpu& gpu);

// 1e9 operations a second of one large product in the format that passes use: bf16, or f32.
// Errors: kUnavailable.
Expected<double> matrix_rate(Gpu& gpu, Products& products, bool f32);

}  // namespace looseleaf::cuda
