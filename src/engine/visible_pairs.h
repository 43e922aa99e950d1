// Counting the (row, key) pairs of an attention, for the operations that a pass reports.
#pragma once

#include <cstdint>

#include "compute/device.h"

namespace looseleaf {

// Pairs of rows [0, active) of the groups and the keys that they see. Of `args` only layer, window,
// segments, groups, positions and active are read.
int64_t visible_pairs(const AttendArgs& args);

}  // namespace looseleaf
