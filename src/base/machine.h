// What of the machine this process may use.
#pragma once

#include <cstdint>

namespace looseleaf {

// Processors that affinity and the cgroup's quota leave to this process; 1 at least.
int usable_threads();

// Bytes: the smaller of RAM and the cgroup's limit.
int64_t usable_memory();

}  // namespace looseleaf
