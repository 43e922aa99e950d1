// Passes that repeat. What such a pass launches is written down, and launched when the pass ends:
// by replaying the graph of an earlier pass that launched the same, argument for argument. Data of
// a pass are no arguments: they lie where the arguments point. Only kernels: a copy in a graph
// knows more than its addresses.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstring>
#include <functional>
#include <type_traits>
#include <vector>

namespace looseleaf::cuda {

class PassGraphs {
 public:
  PassGraphs() = default;
  ~PassGraphs();
  PassGraphs(const PassGraphs&) = delete;
  PassGraphs& operator=(const PassGraphs&) = delete;

  void begin() { recording_ = true; }
  bool recording() const { return recording_; }

  // launch(args..., stream) is to run. Arguments are compared as bytes: where padding differs, a
  // graph is not found, no more.
  template <class F, class... A>
  void add(F* launch, A... args) {
    note(launch);
    (note(args), ...);
    steps_.push_back([=](cudaStream_t stream) { launch(args..., stream); });
  }

  // Launches what was added, and stops recording. Passes that were seen for the second time become
  // graphs.
  void finish(cudaStream_t stream);

  // Stops recording; what was added is not launched.
  void drop();

 private:
  // Sequences of launches that are kept: rows of a step times sizes of what describes it.
  static constexpr size_t kMostGraphs = 32;
  struct Graph {
    std::vector<std::byte> key;
    cudaGraphExec_t exec;
  };

  template <class T>
  void note(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    key_.insert(key_.end(), bytes, bytes + sizeof(T));
  }
  cudaGraphExec_t capture(cudaStream_t stream) const;

  bool recording_ = false;
  std::vector<std::byte> key_;  // of the pass at hand: functions and arguments
  std::vector<std::function<void(cudaStream_t)>> steps_;
  std::vector<std::vector<std::byte>> seen_;  // once, the latest last
  std::vector<Graph> graphs_;                 // the latest used last
};

}  // namespace looseleaf::cuda
