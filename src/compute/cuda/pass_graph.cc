#include "compute/cuda/pass_graph.h"

#include <algorithm>

#include "compute/cuda/check.h"

namespace looseleaf::cuda {

PassGraphs::~PassGraphs() {
  for (const Graph& graph : graphs_) (void)cudaGraphExecDestroy(graph.exec);
}

cudaGraphExec_t PassGraphs::capture(cudaStream_t stream) const {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capturing a pass");
  for (const auto& step : steps_) step(stream);
  check(cudaStreamEndCapture(stream, &graph), "capturing a pass");
  check(cudaGraphInstantiate(&exec, graph, 0), "preparing a captured pass");
  check(cudaGraphDestroy(graph), "preparing a captured pass");
  return exec;
}

void PassGraphs::finish(cudaStream_t stream) {
  const auto known =
      std::ranges::find_if(graphs_, [&](const Graph& graph) { return graph.key == key_; });
  const auto once = std::ranges::find(seen_, key_);
  if (known != graphs_.end()) {
    std::rotate(known, known + 1, graphs_.end());
    check(cudaGraphLaunch(graphs_.back().exec, stream), "launching a pass");
  } else if (once != seen_.end()) {
    if (graphs_.size() == kMostGraphs) {
      check(cudaGraphExecDestroy(graphs_.front().exec), "forgetting a captured pass");
      graphs_.erase(graphs_.begin());
    }
    seen_.erase(once);
    graphs_.push_back({key_, capture(stream)});
    check(cudaGraphLaunch(graphs_.back().exec, stream), "launching a pass");
  } else {
    for (const auto& step : steps_) step(stream);
    if (seen_.size() == kMostGraphs) seen_.erase(seen_.begin());
    seen_.push_back(key_);
  }
  drop();
}

void PassGraphs::drop() {
  recording_ = false;
  steps_.clear();
  key_.clear();
}

}  // namespace looseleaf::cuda
