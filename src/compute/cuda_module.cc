#include "compute/cuda_module.h"

#include <dlfcn.h>

#include <string>

namespace looseleaf {
namespace {

constexpr const char* kFile = "looseleaf-cuda.so";

// dlopen's reasons read "FILE: what: why".
tl::unexpected<Error> not_opened(const std::string& reason) {
  if (reason.starts_with(std::string(kFile) + ": cannot open shared object file"))
    return error(ErrorCode::kNotFound, "--device cuda: this build has no CUDA module ({})", kFile);
  return error(ErrorCode::kUnsupported,
               "--device cuda: {}; install the libraries of CUDA 13 (libcublas) or set "
               "LD_LIBRARY_PATH to where they lie",
               reason);
}

}  // namespace

Expected<std::unique_ptr<Device>> open_cuda_device(const DeviceOptions& options) {
  // A name without a folder: beside the program or library that calls (its rpath), then the
  // system's. Never closed: CUDA cannot be unloaded.
  static void* const module = ::dlopen(kFile, RTLD_NOW | RTLD_LOCAL);
  static const std::string reason = [] {
    const char* text = module == nullptr ? ::dlerror() : nullptr;
    return std::string(text == nullptr ? "" : text);
  }();
  if (module == nullptr) return not_opened(reason);
  auto* version = reinterpret_cast<CudaModuleVersion*>(::dlsym(module, "looseleaf_cuda_version"));
  auto* open = reinterpret_cast<CudaModuleOpen*>(::dlsym(module, "looseleaf_cuda_open"));
  if (version == nullptr || open == nullptr || std::string_view(version()) != LOOSELEAF_VERSION)
    return error(ErrorCode::kUnsupported,
                 "--device cuda: {} belongs to another version than {}; install both together",
                 kFile, LOOSELEAF_VERSION);
  Expected<std::unique_ptr<Device>> device;
  open(options, &device);
  return device;
}

}  // namespace looseleaf
