// One row of the prefill table.
#pragma once

#include <vector>

#include "prefill_work.h"
#include "timing.h"

namespace looseleaf::bench {

struct PrefillMeasured {
  PrefillRow row;
  double flops = 0;
  Timing turned;    // chunks at offsets
  Timing unturned;  // the same kernel, no binding is turned
  double plan_us = 0;
  double read_floor_us = 0;  // unique keys and values, queries, results
};

// rate: bytes a second. Turned and not turned alternate.
PrefillMeasured measure_prefill(const Heads& heads, const PrefillRow& row, double rate, int blocks);

void print_prefill_table(const Heads& heads, const std::vector<PrefillMeasured>& rows);

}  // namespace looseleaf::bench
