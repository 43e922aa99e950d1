#include "timing.h"

#include <algorithm>
#include <vector>

#include "gpu.h"

namespace looseleaf::bench {
namespace {

// Each thread has four loads of 16 bytes under way. `out` is never written, but the compiler cannot
// know.
__global__ void read_kernel(const uint4* p, int64_t count, uint4* out) {
  const int64_t step = int64_t{gridDim.x} * blockDim.x;
  uint4 all{};
  for (int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i + 3 * step < count;
       i += 4 * step) {
    uint4 part[4];
    for (int n = 0; n < 4; ++n) part[n] = __ldcs(p + i + n * step);
    for (int n = 0; n < 4; ++n) {
      all.x ^= part[n].x;
      all.y ^= part[n].y;
      all.z ^= part[n].z;
      all.w ^= part[n].w;
    }
  }
  if (all.x == 0x12345 && all.y == 0x54321) *out = all;
}

class Stopwatch {
 public:
  Stopwatch() {
    require(cudaEventCreate(&start_), "events");
    require(cudaEventCreate(&stop_), "events");
  }
  ~Stopwatch() {
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
  }
  // Microseconds.
  template <class Work>
  double time(cudaStream_t stream, Work&& work) {
    require(cudaEventRecord(start_, stream), "timing");
    work();
    require(cudaEventRecord(stop_, stream), "timing");
    require(cudaStreamSynchronize(stream), "timing");
    float ms = 0;
    require(cudaEventElapsedTime(&ms, start_, stop_), "timing");
    return ms * 1e3;
  }

 private:
  cudaEvent_t start_, stop_;
};

}  // namespace

Timing time_graph(const std::function<void(cudaStream_t)>& launch) {
  return time_graphs({launch})[0];
}

std::vector<Timing> time_graphs(const std::vector<std::function<void(cudaStream_t)>>& launches) {
  constexpr int kWarmUp = 10, kRuns = 50;
  cudaStream_t stream;
  require(cudaStreamCreate(&stream), "stream");
  std::vector<cudaGraphExec_t> graphs(launches.size());
  for (size_t i = 0; i < launches.size(); ++i) {
    cudaGraph_t graph;
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "capture");
    launches[i](stream);
    require(cudaStreamEndCapture(stream, &graph), "capture");
    require(cudaGraphInstantiate(&graphs[i], graph, 0), "graph");
    cudaGraphDestroy(graph);
  }
  Stopwatch watch;
  std::vector<std::vector<double>> times(launches.size());
  for (int run = -kWarmUp; run < kRuns; ++run)
    for (size_t i = 0; i < graphs.size(); ++i) {
      const double t =
          watch.time(stream, [&] { require(cudaGraphLaunch(graphs[i], stream), "graph"); });
      if (run >= 0) times[i].push_back(t);
    }
  std::vector<Timing> result;
  for (std::vector<double>& t : times) {
    std::sort(t.begin(), t.end());
    result.push_back({t[t.size() / 2], t.front(), t.back()});
  }
  for (const cudaGraphExec_t graph : graphs) cudaGraphExecDestroy(graph);
  cudaStreamDestroy(stream);
  return result;
}

double read_rate() {
  const GpuArray<uint4> memory((size_t{8} << 30) / sizeof(uint4)), out(1);
  int device = 0, processors = 0;
  require(cudaGetDevice(&device), "device");
  require(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device), "device");
  require(cudaMemset(memory.data(), 0x5A, memory.size() * sizeof(uint4)), "filling");
  Stopwatch watch;
  double best = 0;
  for (const int blocks : {2, 4})
    for (int run = 0; run < 5; ++run) {
      const double t = watch.time(nullptr, [&] {
        read_kernel<<<processors * blocks, 512>>>(memory.data(),
                                                  static_cast<int64_t>(memory.size()), out.data());
      });
      best = std::max(best, static_cast<double>(memory.size() * sizeof(uint4)) / t * 1e6);
    }
  return best;
}

}  // namespace looseleaf::bench
