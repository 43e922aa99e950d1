// Random weights, the same on every machine and for any number of threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/thread_pool.h"

namespace looseleaf {

// Another way of drawing them has another name: it is part of a model's identity.
inline constexpr std::string_view kRandomWeights = "random weights 1";

// Fills a matrix with bfloat16 of mean 0 and standard deviation 1 / sqrt(cols), close to normal, so
// that a product keeps the size of what goes in. Weight i depends on `number` (another one for each
// matrix of a model) and i alone. target: [rows][cols] bf16
void fill_random_bf16(ThreadPool& pool, int64_t number, int64_t rows, int64_t cols,
                      std::byte* target);

}  // namespace looseleaf
