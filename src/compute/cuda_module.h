// The CUDA device as a module that is opened at run time, so that a program built with it starts on
// machines without CUDA.
#pragma once

#include <memory>

#include "compute/device.h"

namespace looseleaf {

struct DeviceOptions;

// Errors: kNotFound (no module where programs' libraries lie), kUnsupported (a library that it
// needs is missing, no GPU, or one that is too old; another version's module).
Expected<std::unique_ptr<Device>> open_cuda_device(const DeviceOptions& options);

// What a module exports, both with C names.
using CudaModuleVersion = const char*();  // looseleaf_cuda_version
using CudaModuleOpen = void(const DeviceOptions& options,
                            Expected<std::unique_ptr<Device>>* device);  // looseleaf_cuda_open

}  // namespace looseleaf
