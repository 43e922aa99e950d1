// Devices under test, and keys and values that lie on one of them and, for the reference, on the
// host.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "attend_cases.h"
#include "compute/open_device.h"

namespace looseleaf {

// Euclid's norm of what `got` is off by, over that of `expected`; of as many as there are of `got`.
inline double relative_error(std::span<const float> got, std::span<const double> expected) {
  double error = 0, norm = 0;
  for (size_t i = 0; i < got.size(); ++i) {
    error += std::pow(got[i] - expected[i], 2);
    norm += std::pow(expected[i], 2);
  }
  return std::sqrt(error / norm);
}

inline const char* const kDevices[] = {"cpu", "cuda"};

// A device with `page_bytes` of pages, or null and the reason, with which the test is skipped.
inline std::unique_ptr<Device> open_test_device(const std::string& name, DeviceOptions options,
                                                int64_t page_bytes, std::string& reason) {
  if (options.threads == 0) options.threads = 2;
  auto opened = open_device(name, options);
  if (!opened) {
    reason = opened.error().message;
    return nullptr;
  }
  EXPECT_TRUE(opened->device->reserve_pages(page_bytes));
  return std::move(opened->device);
}

// The test's device, one for all tests of a name: starting a GPU takes a while.
// REQUIRES: the test loads no weights.
inline Device* shared_device(const std::string& name, std::string& reason) {
  static std::map<std::string, std::pair<std::unique_ptr<Device>, std::string>> devices;
  const auto [entry, added] = devices.try_emplace(name);
  if (added)
    entry->second.first =
        open_test_device(name, {.exact = true}, int64_t{256} << 20, entry->second.second);
  reason = entry->second.second;
  return entry->second.first.get();
}

// Floats in a device's memory.
class DeviceFloats {
 public:
  DeviceFloats(Device& device, size_t count)
      : device_(device), count_(count), memory_(take(device, count)) {}
  DeviceFloats(Device& device, const std::vector<float>& values)
      : DeviceFloats(device, values.size()) {
    device.upload(data(), values.data(), values.size() * sizeof(float));
  }
  float* data() const { return reinterpret_cast<float*>(memory_.get()); }
  std::vector<float> read() const {
    std::vector<float> values(count_);
    device_.download(values.data(), data(), count_ * sizeof(float));
    EXPECT_TRUE(device_.wait());
    return values;
  }

 private:
  static DeviceMemory take(Device& device, size_t count) {
    auto memory = device.allocate(count * sizeof(float));
    EXPECT_TRUE(memory);
    return std::move(*memory);
  }
  Device& device_;
  size_t count_;
  DeviceMemory memory_;
};

// The same keys and values in both places: the host's were stored by store_kv, the device's by it.
class BothSegments : public SegmentData {
 public:
  BothSegments(Device& device, const KvLayout& layout, int count, std::mt19937& random)
      : SegmentData(layout, count, random) {
    const auto page_bytes = static_cast<size_t>(layout.page_bytes());
    const std::vector<std::byte> poison(page_bytes, std::byte{0xFF});
    for (int p = 0; p < pages_for(count); ++p) {
      auto page = device.allocate_page(page_bytes);
      EXPECT_TRUE(page);
      device.upload(page->get(), poison.data(), page_bytes);
      device_pages_.push_back(page->get());
      device_memory_.push_back(std::move(*page));
    }
    std::vector<KvSlot> slots;
    for (int t = 0; t < count; ++t) slots.push_back(slot(t));
    for (size_t layer = 0; layer < keys_.size(); ++layer) {
      const DeviceFloats keys(device, keys_[layer]), values(device, values_[layer]);
      device.store(static_cast<int>(layer), keys.data(), values.data(), slots);
      EXPECT_TRUE(device.wait());
    }
  }

  Segment on_host() const { return segment; }
  Segment on_device() const {
    Segment there = segment;
    there.pages = device_pages_;
    return there;
  }
  // On the device.
  KvSlot slot(int token) const {
    return {&layout_, device_pages_[static_cast<size_t>(token / kPageTokens)], token % kPageTokens};
  }

 private:
  std::vector<DeviceMemory> device_memory_;
  std::vector<std::byte*> device_pages_;
};

// Fixture for tests whose first parameter names the device.
template <class Param>
class DeviceTest : public testing::TestWithParam<std::tuple<const char*, Param>> {
 protected:
  void SetUp() override {
    testing::Test::RecordProperty("seed", std::to_string(seed_));
    std::string reason;
    device_ = shared_device(std::get<0>(this->GetParam()), reason);
    if (device_ == nullptr) GTEST_SKIP() << reason;
  }
  const Param& param() const { return std::get<1>(this->GetParam()); }

  Device* device_ = nullptr;
  uint32_t seed_ = std::random_device{}();
  std::mt19937 random_{seed_};
};

}  // namespace looseleaf
