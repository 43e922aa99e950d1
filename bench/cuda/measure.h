// One row of the table: a workload by four ways of reading it, with its floors.
#pragma once

#include <optional>
#include <vector>

#include "timing.h"
#include "workload.h"

namespace looseleaf::bench {

struct Measured {
  WorkloadRow row;
  int unique_chunks = 0;
  double plan_us = 0;  // median, buffers warm
  Timing chunk_major;
  Timing chunk_major_decode;     // without the merge
  Timing unturned;               // chunk-major, no binding is turned
  Timing request_major;          // over the shared pages
  std::optional<Timing> copies;  // request-major over private copies; none where they do not fit
  double floor_us = 0;           // unique keys and values, read once
  double floor_with_partials_us =
      0;  // and partials written and read, queries read, results written
};

// Median time of a plan on this CPU.
double plan_time(const Heads& heads, const Workload& load, int blocks);

// rate: bytes a second
Measured measure(const Heads& heads, const WorkloadRow& row, double rate, int blocks,
                 std::mt19937& random);

void print_table(const Heads& heads, double rate, const std::vector<Measured>& rows);
void print_json(const Heads& heads, double rate, const std::vector<Measured>& rows);

}  // namespace looseleaf::bench
