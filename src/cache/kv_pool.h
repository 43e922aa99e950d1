// Pages under one hard byte limit, and what gives way when it is reached.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "compute/device.h"
#include "compute/kv_layout.h"

namespace looseleaf {

// A cache whose unused entries can be given up. Priorities of all evictables of a pool compare:
// they are taken from the pool's clock (see KvPool::priority).
class Evictable {
 public:
  virtual ~Evictable() = default;
  // The priority of the entry that would go next; nothing when all are in use.
  virtual std::optional<double> lowest_priority() const = 0;
  virtual void evict_lowest() = 0;  // REQUIRES: lowest_priority() has a value
};

class KvPool;

// kPageTokens tokens of all layers, or of those that an overlay needs. Its bytes return to the pool
// with the object.
class KvPage {
 public:
  KvPage(KvPool& pool, DeviceMemory memory, int64_t bytes)
      : pool_(pool), memory_(std::move(memory)), bytes_(bytes) {}
  ~KvPage();
  KvPage(const KvPage&) = delete;
  KvPage& operator=(const KvPage&) = delete;

  std::byte* data() const { return memory_.get(); }
  int64_t bytes() const { return bytes_; }

 private:
  KvPool& pool_;
  DeviceMemory memory_;  // [bytes]
  int64_t bytes_;
};
using KvPageRef = std::shared_ptr<KvPage>;

// Not thread-safe: guarded by the engine. Must outlive its pages.
class KvPool {
 public:
  KvPool(Device& device, int64_t limit_bytes) : device_(device), limit_(limit_bytes) {}

  // REQUIRES: the evictable outlives the pool's last allocation.
  void add_evictable(Evictable* evictable) { evictables_.push_back(evictable); }

  // Evicts until the page fits. Errors: kUnavailable (all that is held is in use, or no memory).
  Expected<KvPageRef> allocate(const KvLayout& layout) { return allocate(layout.page_bytes()); }
  Expected<KvPageRef> allocate(int64_t bytes);

  int64_t limit_bytes() const { return limit_; }
  int64_t used_bytes() const { return used_; }
  int64_t evictions() const { return evictions_; }

  // LFU with aging (Arlitt et al. 2000, LFUDA): an entry used `uses` times has this priority now;
  // the clock is the priority of the last one evicted, so old fame fades.
  double priority(int64_t uses) const { return clock_ + static_cast<double>(uses); }

 private:
  friend class KvPage;
  bool evict_one();

  Device& device_;
  int64_t limit_;
  int64_t used_ = 0;
  int64_t evictions_ = 0;
  double clock_ = 0;
  std::vector<Evictable*> evictables_;
};

}  // namespace looseleaf
