// How long the GPU takes for something, and how fast it can read at all.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <vector>

namespace looseleaf::bench {

struct Timing {
  double median = 0, least = 0, most = 0;  // microseconds
};

// Captures the launches in a graph and replays it: 10 times to warm up, 50 times measured.
Timing time_graph(const std::function<void(cudaStream_t)>& launch);

// The same for several, whose replays alternate.
std::vector<Timing> time_graphs(const std::vector<std::function<void(cudaStream_t)>>& launches);

// The best of some plain kernels that read 8 GiB, in bytes a second: what the floors are measured
// against.
double read_rate();

}  // namespace looseleaf::bench
