// Devices under test, and keys and values that lie on one of them and, for the reference, on the
// host.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "attend_cases.h"
#include "compute/cpu/kv_codec.h"
#include "compute/open_device.h"

namespace looseleaf {

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

// Random keys and values of `count` tokens in both places; what no token fills is poisoned.
class BothSegments {
 public:
  BothSegments(Device& device, const KvLayout& layout, int count, std::mt19937& random)
      : layout_(layout) {
    const auto page_bytes = static_cast<size_t>(layout.page_bytes());
    const std::vector<std::byte> poison(page_bytes, std::byte{0xFF});
    for (int p = 0; p < pages_for(count); ++p) {
      host_memory_.push_back(poison);
      auto page = device.allocate_page(page_bytes);
      EXPECT_TRUE(page);
      device.upload(page->get(), poison.data(), page_bytes);
      device_memory_.push_back(std::move(*page));
    }
    for (auto& page : host_memory_) host_pages_.push_back(page.data());
    for (auto& page : device_memory_) device_pages_.push_back(page.get());
    const auto row = static_cast<size_t>(layout.kv_heads * layout.head_dim);
    for (int layer = 0; layer < layout.layers; ++layer) {
      const std::vector<float> k = random_floats(static_cast<size_t>(count) * row, random);
      const std::vector<float> v = random_floats(static_cast<size_t>(count) * row, random);
      std::vector<KvSlot> slots;
      for (int t = 0; t < count; ++t) {
        const auto page = static_cast<size_t>(t / kPageTokens);
        slots.push_back({&layout_, device_pages_[page], t % kPageTokens});
        for (int head = 0; head < layout.kv_heads; ++head) {
          const size_t at = static_cast<size_t>(t) * row +
                            static_cast<size_t>(head) * static_cast<size_t>(layout.head_dim);
          store_kv(layout, host_pages_[page] + layout.key_offset(layer, head), t % kPageTokens,
                   k.data() + at);
          store_kv(layout, host_pages_[page] + layout.value_offset(layer, head), t % kPageTokens,
                   v.data() + at);
        }
      }
      const DeviceFloats k_there(device, k), v_there(device, v);
      device.store(layer, k_there.data(), v_there.data(), slots);
      EXPECT_TRUE(device.wait());
    }
    segment.layout = &layout_;
    segment.count = count;
  }
  BothSegments(const BothSegments&) = delete;

  Segment on_host() const { return with(host_pages_); }
  Segment on_device() const { return with(device_pages_); }
  KvSlot slot(int token) const {
    return {&layout_, device_pages_[static_cast<size_t>(token / kPageTokens)], token % kPageTokens};
  }

  void bind(int position, std::span<const double> frequencies, int shift) {
    segment.position = position;
    turn_.resize(2 * frequencies.size());
    rotary_angles(frequencies, shift, 1.0, turn_.data());
    segment.turn = turn_;
  }
  void set_positions(std::vector<int32_t> positions) {
    positions_ = std::move(positions);
    segment.positions = positions_;
  }
  void set_counts(std::vector<int32_t> counts) {
    counts_ = std::move(counts);
    segment.count_by_layer = counts_;
  }
  void make_stale(double probability, std::mt19937& random) {
    const auto words = static_cast<size_t>(Segment::stale_words(segment.count));
    stale_.assign(words * static_cast<size_t>(layout_.layers), 0);
    std::bernoulli_distribution stale(probability);
    for (int layer = 0; layer < layout_.layers; ++layer)
      for (int t = 0; t < segment.count; ++t)
        if (stale(random))
          stale_[static_cast<size_t>(layer) * words + static_cast<size_t>(t / 64)] |= uint64_t{1}
                                                                                      << (t % 64);
    segment.stale = stale_;
  }

  Segment segment;  // without pages

 private:
  Segment with(std::span<std::byte* const> pages) const {
    Segment result = segment;
    result.pages = pages;
    return result;
  }

  KvLayout layout_;
  std::vector<std::vector<std::byte>> host_memory_;
  std::vector<DeviceMemory> device_memory_;
  std::vector<std::byte*> host_pages_, device_pages_;
  std::vector<float> turn_;
  std::vector<int32_t> positions_, counts_;
  std::vector<uint64_t> stale_;
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
