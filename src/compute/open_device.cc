#include "compute/open_device.h"

#include "base/machine.h"
#include "compute/cpu/cpu_device.h"
#include "compute/cuda_module.h"

namespace looseleaf {

Expected<OpenedDevice> open_device(std::string_view name, const DeviceOptions& options) {
  if (options.threads < 0 || options.threads > 1024)
    return error(ErrorCode::kUsage, "--threads: {} is not between 1 and 1024", options.threads);
  DeviceOptions resolved = options;
  if (resolved.threads == 0) resolved.threads = usable_threads();
  if (name != "auto" && name != "cpu" && name != "cuda")
    return error(ErrorCode::kUsage, "--device: '{}' is not one of auto, cpu, cuda", name);

  OpenedDevice opened;
  if (name != "cpu") {
    auto cuda = open_cuda_device(resolved);
    if (cuda) {
      opened.device = std::move(*cuda);
      return opened;
    }
    if (name == "cuda") return tl::unexpected(std::move(cuda).error());
    // Without the module nobody expects a GPU to be used.
    if (cuda.error().code != ErrorCode::kNotFound)
      opened.warning = fmt::format("computing on the CPU (--device cpu says nothing of it): {}",
                                   cuda.error().message);
  }
  const Products products = resolved.deterministic ? Products::kDeterministic
                            : resolved.exact       ? Products::kF32
                                                   : Products::kFast;
  opened.device = make_cpu_device({resolved.threads, products});
  return opened;
}

}  // namespace looseleaf
