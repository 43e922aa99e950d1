#include "base/thread_pool.h"

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <latch>

namespace looseleaf {

struct ThreadPool::Impl {
  explicit Impl(int helpers) : pool(static_cast<size_t>(helpers)) {}
  boost::asio::thread_pool pool;
};

ThreadPool::ThreadPool(int threads)
    : threads_(threads), impl_(threads > 1 ? std::make_unique<Impl>(threads - 1) : nullptr) {}

ThreadPool::~ThreadPool() {
  if (impl_) impl_->pool.join();
}

void ThreadPool::parallel_for(int64_t count, const std::function<void(int64_t)>& body) {
  if (count <= 0) return;
  const auto helpers = std::min<int64_t>(threads_, count) - 1;
  if (helpers == 0) {
    for (int64_t i = 0; i < count; ++i) body(i);
    return;
  }
  std::atomic<int64_t> next{0};
  std::latch done(helpers);
  const auto work = [&] {
    for (int64_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < count;) body(i);
  };
  for (int64_t h = 0; h < helpers; ++h) {
    boost::asio::post(impl_->pool, [&] {
      work();
      done.count_down();
    });
  }
  work();
  done.wait();
}

}  // namespace looseleaf
