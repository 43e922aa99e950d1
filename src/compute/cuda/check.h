// Errors of CUDA that are nobody's to handle.
#pragma once

#include <cuda_runtime.h>

namespace looseleaf::cuda {

// After an error of CUDA nothing that the GPU holds can be trusted: the process ends with this
// line.
[[noreturn]] void fatal(const char* what, const char* reason);
void check(cudaError_t error, const char* what);

}  // namespace looseleaf::cuda
