// Devices by name.
#pragma once

#include <memory>
#include <string>

#include "compute/device.h"

namespace looseleaf {

struct DeviceOptions {
  int threads = 0;  // of the host, where the device computes or prepares there; 0: all it may use
  bool exact = false;  // float32 throughout
  // A row's bits do not depend on its neighbours in a pass.
  bool deterministic = false;
};

struct OpenedDevice {
  std::unique_ptr<Device> device;
  std::string warning;  // why `auto` is the CPU although this build has another device; or ""
};

// name: cpu, cuda or auto, which is the first of cuda and cpu that works.
// Errors: kUsage (no such name, threads out of range), kUnsupported (not in this build, or not on
// this machine), kUnavailable.
Expected<OpenedDevice> open_device(std::string_view name, const DeviceOptions& options);

}  // namespace looseleaf
