#include "base/thread_pool.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace looseleaf {
namespace {

// The loops of one pass follow each other within microseconds, while waking a sleeping thread costs
// tens of them. So a thread that has run out of work looks out for more this long, then sleeps.
constexpr std::chrono::microseconds kLookOut{50};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// Returns once `state` is no longer `old`.
void wait_for_change(const std::atomic<uint64_t>& state, uint64_t old) {
  const auto until = std::chrono::steady_clock::now() + kLookOut;
  do {
    for (int i = 0; i < 64; ++i) {
      if (state.load(std::memory_order_acquire) != old) return;
      pause();
    }
  } while (std::chrono::steady_clock::now() < until);
  state.wait(old, std::memory_order_acquire);
}

}  // namespace

// One word says all: the number of the loop, whether it still takes helpers, and how many are in
// it. The caller closes the loop when its indices have run out and waits for those inside, never
// for one that has not woken up.
struct ThreadPool::Impl {
  static constexpr uint64_t kOpen = uint64_t{1} << 31;
  static constexpr uint64_t kInside = kOpen - 1;
  static constexpr int kLoopShift = 32;

  explicit Impl(int helpers) {
    for (int i = 0; i < helpers; ++i) threads.emplace_back([this] { help(); });
  }

  ~Impl() {
    stop.store(true, std::memory_order_relaxed);
    state.fetch_add(uint64_t{1} << kLoopShift, std::memory_order_release);
    state.notify_all();
    for (std::thread& thread : threads) thread.join();
  }

  void run(int64_t new_count, const std::function<void(int64_t)>& new_body) {
    const std::lock_guard lock(callers);
    count = new_count;
    body = &new_body;
    next.store(0, std::memory_order_relaxed);
    const uint64_t loop = (state.load(std::memory_order_relaxed) >> kLoopShift) + 1;
    state.store(loop << kLoopShift | kOpen, std::memory_order_release);
    state.notify_all();
    work();
    uint64_t now = state.fetch_and(~kOpen, std::memory_order_acq_rel) & ~kOpen;
    for (; (now & kInside) != 0; now = state.load(std::memory_order_acquire))
      wait_for_change(state, now);
  }

  void work() {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) (*body)(i);
  }

  void help() {
    uint64_t last = 0;  // the loop that this thread took part in last
    uint64_t now = state.load(std::memory_order_acquire);
    while (!stop.load(std::memory_order_relaxed)) {
      if ((now & kOpen) == 0 || now >> kLoopShift == last) {
        wait_for_change(state, now);
        now = state.load(std::memory_order_acquire);
      } else if (state.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel)) {
        last = now >> kLoopShift;
        work();
        now = state.fetch_sub(1, std::memory_order_acq_rel) - 1;
        if ((now & kInside) == 0) state.notify_all();
      }
    }
  }

  std::mutex callers;  // one loop at a time
  std::atomic<uint64_t> state{0};
  std::atomic<bool> stop{false};
  std::atomic<int64_t> next{0};
  // Of the loop at hand; written while it is closed and nobody is inside.
  int64_t count = 0;
  const std::function<void(int64_t)>* body = nullptr;
  std::vector<std::thread> threads;
};

ThreadPool::ThreadPool(int threads)
    : threads_(threads), impl_(threads > 1 ? std::make_unique<Impl>(threads - 1) : nullptr) {}

ThreadPool::~ThreadPool() = default;

void ThreadPool::parallel_for(int64_t count, const std::function<void(int64_t)>& body) {
  if (threads_ == 1 || count <= 1) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  impl_->run(count, body);
}

}  // namespace looseleaf
