// Data-parallel loops over a fixed set of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace looseleaf {

// One pool an engine. Thread-safe: loops of several callers run one after the other. The calling
// thread takes part, so a pool of n threads starts n - 1; they look out for the next loop for 50
// us, then sleep.
class ThreadPool {
 public:
  explicit ThreadPool(int threads);  // REQUIRES: threads >= 1
  ~ThreadPool();

  int threads() const { return threads_; }

  // Calls body(i) for every i in [0, count), in any order, on any thread; returns when all are
  // done. `body` must not throw and must not call parallel_for of the same pool.
  void parallel_for(int64_t count, const std::function<void(int64_t)>& body);

 private:
  struct Impl;
  int threads_;
  std::unique_ptr<Impl> impl_;
};

}  // namespace looseleaf
