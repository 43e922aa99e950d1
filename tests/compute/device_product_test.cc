// Products and the simple operations of every device against float64, over every weight type and
// odd sizes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "devices.h"
#include "random_matrix.h"

namespace looseleaf {
namespace {

// Weights are found by their address, so each test has a device of its own.
class DeviceProduct : public testing::TestWithParam<std::tuple<const char*, const WeightType*>> {
 protected:
  // Null after GTEST_SKIP.
  std::unique_ptr<Device> open(DeviceOptions options) {
    std::string reason;
    auto device = open_test_device(std::get<0>(GetParam()), options, 1 << 20, reason);
    if (device == nullptr) skip(reason);
    return device;
  }
  void skip(const std::string& reason) { GTEST_SKIP() << reason; }

  // One product in all its forms. rounding: what a product of two numbers may be off by, relative.
  void check(Device& device, const WeightMatrix& w, const std::vector<float>& bias, int rows,
             double rounding) {
    const int64_t cols = w.cols, outputs = w.rows;
    std::vector<float> weights(static_cast<size_t>(outputs * cols));
    for (int64_t r = 0; r < outputs; ++r) w.dequantize_row(r, weights.data() + r * cols);
    const std::vector<float> x = random_floats(static_cast<size_t>(rows * cols), random_);
    const DeviceFloats x_there(device, x);
    std::vector<double> sums, bounds;  // [rows, outputs]
    for (int r = 0; r < rows; ++r)
      for (int64_t o = 0; o < outputs; ++o) {
        double sum = 0, magnitude = 0;
        for (int64_t i = 0; i < cols; ++i) {
          const double product = double{x[static_cast<size_t>(r * cols + i)]} *
                                 weights[static_cast<size_t>(o * cols + i)];
          sum += product;
          magnitude += std::abs(product);
        }
        sums.push_back(sum);
        // The worst case of a float32 sum of `cols` products in any order.
        bounds.push_back((magnitude + 4) * static_cast<double>(cols) *
                             std::numeric_limits<float>::epsilon() +
                         magnitude * rounding);
      }
    for (const bool accumulate : {false, true})
      for (const bool biased : {false, true}) {
        const DeviceFloats y_there(
            device, std::vector<float>(sums.size(), accumulate ? 2.0f : std::nanf("")));
        device.matmul(w, biased ? std::span<const float>(bias) : std::span<const float>(),
                      x_there.data(), rows, accumulate, y_there.data());
        const std::vector<float> y = y_there.read();
        for (size_t i = 0; i < sums.size(); ++i)
          ASSERT_NEAR(y[i],
                      sums[i] + (biased ? bias[i % bias.size()] : 0.0f) + (accumulate ? 2.0 : 0.0),
                      bounds[i])
              << rows << " x " << outputs << " x " << cols;
      }
    // Three at once: without, with and without a bias.
    const float nan = std::nanf("");
    const std::vector<float> poison(sums.size(), nan);
    const DeviceFloats first(device, poison), second(device, poison), third(device, poison);
    const WeightProduct all[] = {
        {&w, {}, first.data()}, {&w, bias, second.data()}, {&w, {}, third.data()}};
    device.matmuls(all, x_there.data(), rows);
    const std::vector<float> plain = first.read(), biased = second.read();
    EXPECT_EQ(plain, third.read());
    for (size_t i = 0; i < sums.size(); ++i) {
      ASSERT_NEAR(plain[i], sums[i], bounds[i]);
      ASSERT_NEAR(biased[i], sums[i] + bias[i % bias.size()], bounds[i]);
    }
  }
  const WeightType& type() const { return *std::get<1>(GetParam()); }

  std::mt19937 random_{std::random_device{}()};
};

TEST_P(DeviceProduct, MatchesFloat64) {
  for (const bool exact : {true, false}) {
    const auto device = open({.exact = exact});
    if (device == nullptr) return;
    // Where a device rounds both factors of a product to bf16 (8 bits), each may be off by 2^-8.
    const double rounding = device->facts().f32 ? 0 : 0x1p-7 + 0x1p-16;
    std::vector<std::unique_ptr<RandomMatrix>> matrices;  // outlive the device's copies
    std::vector<std::vector<float>> biases;
    // 4352: sums of many steps, whatever a device's are.
    for (const int64_t cols :
         {column_counts(type()).front(), column_counts(type()).back(), int64_t{4352}})
      for (const int64_t outputs : {1, 3, 70}) {
        matrices.push_back(std::make_unique<RandomMatrix>(type(), outputs, cols, random_));
        biases.push_back(random_floats(static_cast<size_t>(outputs), random_));
        ASSERT_TRUE(device->load(matrices.back()->matrix));
        ASSERT_TRUE(device->load(std::span<const float>(biases.back())));
        for (const int rows : {1, 3, 8, 9, 16, 33, 64, 130})
          check(*device, matrices.back()->matrix, biases.back(), rows, rounding);
      }
  }
}

TEST_P(DeviceProduct, DeterministicRowsDoNotDependOnTheirNumber) {
  const auto device = open({.deterministic = true});
  if (device == nullptr) return;
  const int64_t cols = type().block > 32 ? type().block : 192;
  const RandomMatrix w(type(), 45, cols, random_);
  ASSERT_TRUE(device->load(w.matrix));
  const std::vector<float> x = random_floats(static_cast<size_t>(140 * cols), random_);
  const DeviceFloats x_there(*device, x), together_there(*device, 140 * 45);
  device->matmul(w.matrix, {}, x_there.data(), 140, false, together_there.data());
  const std::vector<float> together = together_there.read();
  for (const int r : {0, 1, 31, 127, 128, 139}) {
    const DeviceFloats alone_there(*device, 45);
    device->matmul(w.matrix, {}, x_there.data() + r * cols, 1, false, alone_there.data());
    const std::vector<float> alone = alone_there.read();
    for (size_t o = 0; o < 45; ++o)
      ASSERT_EQ(alone[o], together[static_cast<size_t>(r) * 45 + o]) << "row " << r;
  }
}

TEST_P(DeviceProduct, EmbedsRows) {
  const auto device = open({.exact = true});
  if (device == nullptr) return;
  const int64_t cols = type().block > 32 ? type().block : 96;
  const RandomMatrix table(type(), 9, cols, random_);
  ASSERT_TRUE(device->load(table.matrix));
  const std::vector<int32_t> tokens = {8, 0, 3, 3};
  const DeviceFloats out_there(*device, 4 * static_cast<size_t>(cols));
  device->embed(table.matrix, tokens, out_there.data());
  const std::vector<float> out = out_there.read();
  std::vector<float> row(static_cast<size_t>(cols));
  for (size_t t = 0; t < tokens.size(); ++t) {
    table.matrix.dequantize_row(tokens[t], row.data());
    for (size_t i = 0; i < row.size(); ++i) ASSERT_EQ(out[t * row.size() + i], row[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DeviceProduct,
                         testing::Combine(testing::ValuesIn(kDevices),
                                          testing::ValuesIn(weight_types())),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::string(std::get<1>(info.param)->name);
                         });

class DeviceOperations : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string reason;
    device_ = open_test_device(GetParam(), {.exact = true}, 1 << 20, reason);
    if (device_ == nullptr) GTEST_SKIP() << reason;
  }
  std::unique_ptr<Device> device_;
  std::mt19937 random_{std::random_device{}()};
};

TEST_P(DeviceOperations, Norms) {
  std::vector<std::vector<float>> weights;
  for (const int cols : {1, 7, 8, 33, 576, 4100}) {
    const auto count = static_cast<size_t>(cols);
    const std::vector<float> x = random_floats(3 * count, random_);
    weights.push_back(random_floats(count, random_));
    const std::vector<float>& weight = weights.back();
    ASSERT_TRUE(device_->load(std::span<const float>(weight)));
    const DeviceFloats x_there(*device_, x), out_there(*device_, 3 * count);
    device_->rms_norm(x_there.data(), weight, 1e-5f, 3, out_there.data());
    const std::vector<float> out = out_there.read();
    for (size_t r = 0; r < 3; ++r) {
      double sum = 0;
      for (size_t i = 0; i < count; ++i) sum += std::pow(x[r * count + i], 2.0);
      for (size_t i = 0; i < count; ++i) {
        const size_t at = r * count + i;
        const double expected = x[at] / std::sqrt(sum / cols + 1e-5) * weight[i];
        ASSERT_NEAR(out[at], expected, 1e-6 * std::abs(expected) + 1e-9);
      }
    }
  }
}

// Rows whose keys are stored, one of them nowhere, and fewer whose queries are wanted.
TEST_P(DeviceOperations, PlaceTurnsAndStores) {
  constexpr int kRows = 3, kQueryRows = 2, kHeads = 4, kKvHeads = 2, kDim = 11, kRotary = 8;
  const std::vector<double> frequencies = {1.0, 0.1, 0.01, 0.001};
  const KvLayout layout{KvType::kF32, 2, kKvHeads, kDim};
  const auto page_bytes = static_cast<size_t>(layout.page_bytes());
  for (const RopePairs pairs : {RopePairs::kHalves, RopePairs::kAdjacent}) {
    const std::vector<float> query = random_floats(kRows * kHeads * kDim, random_);
    const std::vector<float> key = random_floats(kRows * kKvHeads * kDim, random_);
    const std::vector<float> value = random_floats(kRows * kKvHeads * kDim, random_);
    std::vector<float> angles(kRows * kRotary);
    for (size_t r = 0; r < kRows; ++r)
      rotary_angles(frequencies, 1000.0 * static_cast<double>(r) + 3, 1.0,
                    angles.data() + kRotary * r);
    // Head `head` of row `row`, turned.
    const auto turned = [&](const std::vector<float>& x, int heads, int row, int head) {
      const float* from = x.data() + (row * heads + head) * kDim;
      std::vector<double> out(from, from + kDim);
      for (int j = 0; j < kRotary / 2; ++j) {
        const int a = pairs == RopePairs::kHalves ? j : 2 * j;
        const int b = pairs == RopePairs::kHalves ? j + kRotary / 2 : 2 * j + 1;
        const double cos = angles[static_cast<size_t>(row * kRotary + j)];
        const double sin = angles[static_cast<size_t>(row * kRotary + kRotary / 2 + j)];
        out[static_cast<size_t>(a)] = from[a] * cos - from[b] * sin;
        out[static_cast<size_t>(b)] = from[b] * cos + from[a] * sin;
      }
      return out;
    };
    auto page = device_->allocate_page(page_bytes);
    ASSERT_TRUE(page);
    const KvSlot slots[kRows] = {
        {&layout, page->get(), 5}, {&layout, nullptr, 0}, {&layout, page->get(), 31}};
    const DeviceFloats query_there(*device_, query), key_there(*device_, key);
    const DeviceFloats value_there(*device_, value), angles_there(*device_, angles);
    PlaceArgs args;
    args.layer = 1;
    args.heads = kHeads;
    args.kv_heads = kKvHeads;
    args.head_dim = kDim;
    args.rotary_dims = kRotary;
    args.pairs = pairs;
    args.angles = {angles_there.data(), angles.size()};
    args.query = query_there.data();
    args.query_rows = kQueryRows;
    args.key = key_there.data();
    args.value = value_there.data();
    args.slots = slots;
    device_->place(args);
    const std::vector<float> got = query_there.read();
    for (int row = 0; row < kRows; ++row)
      for (int head = 0; head < kHeads; ++head) {
        const std::vector<double> expected = turned(query, kHeads, row, head);
        for (int d = 0; d < kDim; ++d) {
          const auto at = static_cast<size_t>((row * kHeads + head) * kDim + d);
          if (row < kQueryRows && d < kRotary) {
            ASSERT_NEAR(got[at], expected[static_cast<size_t>(d)], 2e-6);
          } else {
            ASSERT_EQ(got[at], query[at]);
          }
        }
      }
    std::vector<std::byte> stored(page_bytes);
    device_->download(stored.data(), page->get(), page_bytes);
    ASSERT_TRUE(device_->wait());
    for (const int row : {0, 2})
      for (int head = 0; head < kKvHeads; ++head) {
        std::vector<float> k(kDim), v(kDim);
        const int slot = slots[row].slot;
        load_kv(layout, stored.data() + layout.key_offset(1, head), slot, 1, k.data());
        load_kv(layout, stored.data() + layout.value_offset(1, head), slot, 1, v.data());
        const std::vector<double> expected = turned(key, kKvHeads, row, head);
        for (int d = 0; d < kDim; ++d) {
          ASSERT_NEAR(k[static_cast<size_t>(d)], expected[static_cast<size_t>(d)], 2e-6);
          ASSERT_EQ(v[static_cast<size_t>(d)],
                    value[static_cast<size_t>((row * kKvHeads + head) * kDim + d)]);
        }
      }
  }
}

// Gate, up and down in formats that devices multiply in different ways.
TEST_P(DeviceOperations, FeedsForward) {
  constexpr int kHidden = 96, kFfn = 160;
  const auto open = open_device(GetParam(), {.threads = 2});
  ASSERT_TRUE(open);
  Device& device = *open->device;
  std::vector<std::unique_ptr<RandomMatrix>> matrices;  // outlive the device's copies
  const auto add = [&](uint32_t type, int64_t rows, int64_t cols) {
    matrices.push_back(
        std::make_unique<RandomMatrix>(*find_gguf_weight_type(type), rows, cols, random_));
    EXPECT_TRUE(device.load(matrices.back()->matrix));
    return &matrices.back()->matrix;
  };
  const auto row_of = [](const WeightMatrix& w, int64_t r) {
    std::vector<float> row(static_cast<size_t>(w.cols));
    w.dequantize_row(r, row.data());
    return row;
  };
  const auto dot = [](const std::vector<float>& row, const auto& with) {
    double sum = 0;
    for (size_t i = 0; i < row.size(); ++i) sum += double{row[i]} * with(i);
    return sum;
  };
  struct Formats {
    uint32_t gated, down;  // GGUF: 0 f32, 1 f16, 30 bf16
  };
  for (const Formats formats : {Formats{30, 30}, {30, 1}, {1, 0}, {0, 30}, {0, 0}}) {
    const WeightMatrix* gate = add(formats.gated, kFfn, kHidden);
    const WeightMatrix* up = add(formats.gated, kFfn, kHidden);
    const WeightMatrix* down = add(formats.down, kHidden, kFfn);
    for (const int rows : {1, 2, 3, 40, 130}) {
      const auto count = static_cast<size_t>(rows);
      std::vector<float> x = random_floats(count * kHidden, random_);
      // exp() of some gates overflows float32; f16 would hold what `down` takes at its largest.
      if ((rows == 2 || rows == 3) && formats.down != 1)
        for (float& each : x) each *= 100;
      const std::vector<float> y = random_floats(count * kHidden, random_);
      const DeviceFloats x_there(device, x), y_there(device, y);
      const DeviceFloats gate_there(device, count * kFfn), up_there(device, count * kFfn);
      FeedForwardArgs args;
      args.gate = gate;
      args.up = up;
      args.down = down;
      args.x = x_there.data();
      args.rows = rows;
      args.gate_out = gate_there.data();
      args.up_out = up_there.data();
      args.y = y_there.data();
      device.feed_forward(args);
      const std::vector<float> got = y_there.read();
      double error = 0, norm = 0;
      for (size_t r = 0; r < count; ++r) {
        const auto of_x = [&](size_t i) { return double{x[r * kHidden + i]}; };
        std::vector<double> gated;
        for (int64_t f = 0; f < kFfn; ++f) {
          const double g = dot(row_of(*gate, f), of_x);
          gated.push_back(g / (1 + std::exp(-g)) * dot(row_of(*up, f), of_x));
        }
        for (int64_t h = 0; h < kHidden; ++h) {
          const size_t at = r * kHidden + static_cast<size_t>(h);
          const double sum = dot(row_of(*down, h), [&](size_t i) { return gated[i]; });
          error += std::pow(got[at] - y[at] - sum, 2);
          norm += std::pow(sum, 2);
        }
      }
      // Three roundings to 8 bits at most; without silu or up it would be about 1.
      EXPECT_LT(std::sqrt(error / norm), 1e-2)
          << rows << " rows, formats " << formats.gated << " and " << formats.down;
    }
  }
}

TEST_P(DeviceOperations, FindsTheFirstLargest) {
  for (const int cols : {1, 31, 1000, 49152}) {
    std::vector<float> x = random_floats(3 * static_cast<size_t>(cols), random_);
    std::vector<int32_t> expected;
    for (int r = 0; r < 3; ++r) {
      float* row = x.data() + r * cols;
      const int place = cols / (r + 1) - 1;  // of the first of two equal ones
      if (place >= 0) row[place] = row[cols - 1] = 100;
      expected.push_back(static_cast<int32_t>(std::max_element(row, row + cols) - row));
    }
    const DeviceFloats x_there(*device_, x);
    std::vector<int32_t> found(3, -1);
    device_->largest(x_there.data(), 3, cols, found.data());
    ASSERT_TRUE(device_->wait());
    EXPECT_EQ(found, expected) << cols;
  }
}

// Passes that a device may replay still compute with their own data.
TEST_P(DeviceOperations, RepeatedPassesGiveTheirOwnResults) {
  constexpr int kCols = 64, kOutputs = 48, kRows = 2;
  const RandomMatrix table(*find_gguf_weight_type(0), 100, kCols, random_);  // f32
  const RandomMatrix w(*find_gguf_weight_type(0), kOutputs, kCols, random_);
  const std::vector<float> norm = random_floats(kCols, random_);
  ASSERT_TRUE(device_->load(table.matrix));
  ASSERT_TRUE(device_->load(w.matrix));
  ASSERT_TRUE(device_->load(std::span<const float>(norm)));
  const DeviceFloats x(*device_, kRows * kCols), y(*device_, kRows * kOutputs);
  struct Results {
    std::vector<float> y = std::vector<float>(kRows * kOutputs);
    std::vector<int32_t> largest = std::vector<int32_t>(kRows);
    bool operator==(const Results&) const = default;
  };
  const auto run = [&](bool repeats, int pass) {
    Results results;
    device_->begin_pass(repeats);
    device_->embed(table.matrix, std::vector<int32_t>{pass, 99 - pass}, x.data());
    device_->rms_norm(x.data(), norm, 1e-5f, kRows, x.data());
    const std::vector<float> start(results.y.size(), static_cast<float>(pass));
    device_->upload(y.data(), start.data(), start.size() * sizeof(float));
    // Of some passes longer: what a device replays is not what it has.
    for (int i = 0; i < (pass == 5 ? 2 : 1); ++i)
      device_->matmul(w.matrix, {}, x.data(), kRows, true, y.data());
    device_->largest(y.data(), kRows, kOutputs, results.largest.data());
    device_->download(results.y.data(), y.data(), results.y.size() * sizeof(float));
    EXPECT_TRUE(device_->wait());
    return results;
  };
  for (int pass = 0; pass < 8; ++pass) EXPECT_EQ(run(true, pass), run(false, pass)) << pass;
  std::vector<Results> in_a_row;
  for (int pass = 0; pass < 8; ++pass) in_a_row.push_back(run(true, pass));
  for (int pass = 0; pass < 8; ++pass)
    EXPECT_EQ(in_a_row[static_cast<size_t>(pass)], run(false, pass)) << pass;
}

// A pass that finds no memory says so once, and the next one works.
TEST_P(DeviceOperations, NoMemoryIsAnErrorOfThatPassOnly) {
  if (std::string(GetParam()) == "cpu") GTEST_SKIP() << "the host's memory is not to be filled";
  // Products of many rows need room for x in bf16.
  auto opened = open_device(GetParam(), {.threads = 1});
  ASSERT_TRUE(opened);
  Device& device = *opened->device;
  constexpr int kRows = 65536;
  const DeviceFloats x(device, size_t{kRows} * 4096), y(device, size_t{kRows} * 64);
  const RandomMatrix narrow(*find_gguf_weight_type(30), 64, 4096, random_);  // bf16
  ASSERT_TRUE(device.load(narrow.matrix));
  ASSERT_TRUE(device.wait());
  std::vector<DeviceMemory> filled;
  for (size_t bytes = size_t{64} << 30; bytes >= size_t{16} << 20;) {
    auto memory = device.allocate(bytes);
    if (memory)
      filled.push_back(std::move(*memory));
    else
      bytes /= 2;
  }
  device.matmul(narrow.matrix, {}, x.data(), kRows, false, y.data());
  const Status failed = device.wait();
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kUnavailable);
  EXPECT_NE(failed.error().message.find("GiB"), std::string::npos) << failed.error().message;
  filled.clear();
  device.matmul(narrow.matrix, {}, x.data(), kRows, false, y.data());
  EXPECT_TRUE(device.wait());
}

INSTANTIATE_TEST_SUITE_P(All, DeviceOperations, testing::ValuesIn(kDevices),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace looseleaf
