// Products against float64, over every weight type, both kernels and odd sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "base/thread_pool.h"
#include "compute/cpu/cpu_device.h"
#include "compute/cpu/dequantize.h"
#include "compute/cpu/row_product.h"
#include "random_matrix.h"

namespace looseleaf {
namespace {

// Plain numbers need not fill a vector.
std::vector<int64_t> widths(const WeightType& type) {
  if (type.block == 1) return {1, 7, 33, 100, 576};
  return column_counts(type);
}

class MatmulTest : public testing::TestWithParam<const WeightType*> {};

TEST_P(MatmulTest, MatchesFloat64) {
  std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal;
  ThreadPool pool(2);
  for (const int64_t cols : widths(*GetParam()))
    for (const int64_t outputs : {1, 3, 31, 33, 70})
      for (const int rows : {1, 2, 4, 5, 8, 9, 31, 32, 37}) {
        const RandomMatrix w(*GetParam(), outputs, cols, random);
        std::vector<float> x(static_cast<size_t>(rows * cols));
        for (float& value : x) value = normal(random);
        std::vector<float> bias(static_cast<size_t>(outputs));
        for (float& value : bias) value = normal(random);
        std::vector<float> weights(static_cast<size_t>(outputs * cols));
        for (int64_t r = 0; r < outputs; ++r) w.matrix.dequantize_row(r, weights.data() + r * cols);
        for (const bool deterministic : {false, true})
          for (const bool accumulate : {false, true}) {
            std::vector<float> y(static_cast<size_t>(rows * outputs),
                                 accumulate ? 2.0f : std::nanf(""));
            cpu_matmul(pool, deterministic, w.matrix, bias, x.data(), rows, accumulate, y.data());
            for (int r = 0; r < rows; ++r)
              for (int64_t o = 0; o < outputs; ++o) {
                double sum = 0, magnitude = 0;
                for (int64_t i = 0; i < cols; ++i) {
                  const double product = double{x[static_cast<size_t>(r * cols + i)]} *
                                         weights[static_cast<size_t>(o * cols + i)];
                  sum += product;
                  magnitude += std::abs(product);
                }
                const double expected =
                    sum + bias[static_cast<size_t>(o)] + (accumulate ? 2.0 : 0.0);
                // The worst case of a float32 sum of `cols` products in any order.
                const double bound = (magnitude + 4) * static_cast<double>(cols) *
                                     std::numeric_limits<float>::epsilon();
                ASSERT_NEAR(y[static_cast<size_t>(r * outputs + o)], expected, bound)
                    << rows << " x " << outputs << " x " << cols;
              }
          }
      }
}

TEST_P(MatmulTest, DeterministicRowsDoNotDependOnTheirNumber) {
  std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal;
  const int64_t cols = GetParam()->block > 32 ? GetParam()->block : 192;
  const RandomMatrix w(*GetParam(), 45, cols, random);
  std::vector<float> x(static_cast<size_t>(40 * cols));
  for (float& value : x) value = normal(random);
  std::vector<float> together(40 * 45), alone(45);
  ThreadPool two(2), three(3);
  cpu_matmul(two, true, w.matrix, {}, x.data(), 40, false, together.data());
  for (int r = 0; r < 40; ++r) {
    cpu_matmul(three, true, w.matrix, {}, x.data() + r * cols, 1, false, alone.data());
    ASSERT_EQ(std::memcmp(alone.data(), together.data() + r * 45, 45 * 4), 0) << "row " << r;
  }
}

TEST_P(MatmulTest, VectorDequantizationHasThePlainFormulasBits) {
  std::mt19937 random(std::random_device{}());
  const int64_t cols = GetParam()->block > 32 ? 3 * GetParam()->block : 160;
  const RandomMatrix w(*GetParam(), 9, cols, random);
  std::vector<float> fast(static_cast<size_t>(5 * cols)), plain(fast.size());
  cpu_dequantize(w.matrix, 3, 5, fast.data());
  for (int64_t r = 0; r < 5; ++r) w.matrix.dequantize_row(3 + r, plain.data() + r * cols);
  EXPECT_EQ(std::memcmp(fast.data(), plain.data(), fast.size() * 4), 0);
}

// Each weight is decoded in a register: no type may read or write beyond its row.
TEST_P(MatmulTest, FewRowsWriteTheirColumnsOnly) {
  std::mt19937 random(std::random_device{}());
  const int64_t cols = widths(*GetParam()).front(), outputs = 5, stride = 9;
  const RandomMatrix w(*GetParam(), outputs, cols, random);
  const std::vector<float> x(static_cast<size_t>(kRowProductRows * cols), 1.0f);
  for (int rows = 1; rows <= kRowProductRows; ++rows) {
    std::vector<float> y(static_cast<size_t>(rows * stride), 7.0f);
    RowProduct args;
    args.kind = weight_kind(*GetParam()).value();
    args.weights = w.matrix.data;
    args.row_bytes = w.matrix.row_bytes();
    args.count = outputs;
    args.cols = cols;
    args.x = x.data();
    args.rows = rows;
    args.y = y.data();
    args.y_stride = stride;
    row_product(args);
    for (int r = 0; r < rows; ++r)
      for (int64_t c = 0; c < stride; ++c) {
        const float got = y[static_cast<size_t>(r * stride + c)];
        if (c >= outputs) {
          ASSERT_EQ(got, 7.0f) << "row " << r << " column " << c;
        } else {
          ASSERT_EQ(got, y[static_cast<size_t>(c)]) << "equal rows differ: " << r;
        }
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, MatmulTest, testing::ValuesIn(weight_types()),
                         [](const auto& info) { return std::string(info.param->name); });

TEST(SmallOperations, NormAndGate) {
  std::mt19937 random(std::random_device{}());
  std::normal_distribution<float> normal;
  ThreadPool pool(2);
  for (const int cols : {1, 7, 8, 33, 576}) {
    std::vector<float> x(static_cast<size_t>(3 * cols)), weight(static_cast<size_t>(cols));
    for (float& value : x) value = normal(random);
    for (float& value : weight) value = normal(random);
    std::vector<float> out(x.size(), std::nanf(""));
    cpu_rms_norm(pool, x.data(), weight, 1e-5f, 3, out.data());
    for (int r = 0; r < 3; ++r) {
      double sum = 0;
      for (int i = 0; i < cols; ++i) sum += std::pow(x[static_cast<size_t>(r * cols + i)], 2.0);
      for (int i = 0; i < cols; ++i) {
        const auto at = static_cast<size_t>(r * cols + i);
        const double expected =
            x[at] / std::sqrt(sum / cols + 1e-5) * weight[static_cast<size_t>(i)];
        ASSERT_NEAR(out[at], expected, 4e-7 * std::abs(expected) + 1e-9);
      }
    }
    std::vector<float> gate = x, up(x.size());
    for (float& value : up) value = normal(random);
    gate[0] = -200;  // exp(200) overflows float32
    const std::vector<float> before = gate;
    cpu_silu_multiply(pool, gate.data(), up.data(), static_cast<int64_t>(gate.size()));
    for (size_t i = 0; i < gate.size(); ++i) {
      const double g = before[i];
      ASSERT_NEAR(gate[i], g / (1 + std::exp(-g)) * up[i], 1e-6 * std::abs(g * up[i]) + 1e-30);
    }
  }
}

}  // namespace
}  // namespace looseleaf
