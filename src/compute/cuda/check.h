// Errors of CUDA that are nobody's to handle.
#pragma once

#include <cuda_runtime.h>

namespace looseleaf::cuda {

// After an error of CUDA nothing that the GPU holds can be trusted: the process ends with this
// line.
[[noreturn]] void fatal(const char* what, const char* reason);
// An error ends the process, unless it is ending already and has taken CUDA down before its last
// objects.
void check(cudaError_t error, const char* what);

}  // namespace looseleaf::cuda
