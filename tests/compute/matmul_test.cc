// Products against float64, over every weight type, both kernels and odd sizes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "base/thread_pool.h"
#include "compute/cpu/cpu_device.h"
#include "compute/cpu/dequantize.h"
#include "compute/cpu/library_product.h"
#include "compute/cpu/row_product.h"
#include "random_matrix.h"

namespace looseleaf {
namespace {

// Plain numbers need not fill a vector.
std::vector<int64_t> widths(const WeightType& type) {
  if (type.block == 1) return {1, 7, 33, 100, 576};
  return column_counts(type);
}

// How far a product may be off, given one column of weights and one row of x. In float32: the worst
// case of a sum of so many products in any order. Fast: what rounding the operands adds.
double error_bound(Products products, const WeightType& type, int rows, std::span<const float> x,
                   std::span<const float> w) {
  double magnitude = 0, from_integers = 0;
  for (size_t i = 0; i < x.size(); ++i) magnitude += std::abs(double{x[i]} * w[i]);
  double bound =
      (magnitude + 4) * static_cast<double>(x.size()) * std::numeric_limits<float>::epsilon();
  if (products != Products::kFast) return bound;
  const bool bf16 = library_has_bf16();
  const bool library = rows >= (bf16 ? kBf16LibraryRows : kLibraryRows);
  if (library && bf16) bound += magnitude * 0x1.01p-7;  // 2^-8 in each operand
  if (!library && have_integer_products(*weight_kind(type))) {
    for (size_t b = 0; b < x.size(); b += IntegerRows::kBlock) {
      double largest = 0, weights = 0;
      for (size_t i = b; i < b + IntegerRows::kBlock; ++i) {
        largest = std::max(largest, std::abs(double{x[i]}));
        weights += std::abs(double{w[i]});
      }
      from_integers += largest / 32767 / 2 * weights;
    }
  }
  return bound + from_integers;
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
        for (const Products products : {Products::kFast, Products::kF32, Products::kDeterministic})
          for (const bool accumulate : {false, true}) {
            std::vector<float> y(static_cast<size_t>(rows * outputs),
                                 accumulate ? 2.0f : std::nanf(""));
            cpu_matmul(pool, products, w.matrix, bias, x.data(), rows, accumulate, y.data());
            for (int r = 0; r < rows; ++r)
              for (int64_t o = 0; o < outputs; ++o) {
                const std::span row(x.data() + r * cols, static_cast<size_t>(cols));
                const std::span column(weights.data() + o * cols, static_cast<size_t>(cols));
                const double expected =
                    std::inner_product(row.begin(), row.end(), column.begin(), 0.0, std::plus<>(),
                                       std::multiplies<double>()) +
                    bias[static_cast<size_t>(o)] + (accumulate ? 2.0 : 0.0);
                ASSERT_NEAR(y[static_cast<size_t>(r * outputs + o)], expected,
                            error_bound(products, *GetParam(), rows, row, column))
                    << rows << " x " << outputs << " x " << cols;
              }
          }
      }
}

// What is no number in x stays none in y, whatever x becomes on the way.
TEST_P(MatmulTest, NoNumberStaysNone) {
  std::mt19937 random(std::random_device{}());
  ThreadPool pool(2);
  const int64_t cols = widths(*GetParam()).back();
  const RandomMatrix w(*GetParam(), 5, cols, random);
  for (const int rows : {1, 3, 8, 40})
    for (const float wrong : {std::nanf(""), -std::numeric_limits<float>::infinity()})
      for (const Products products : {Products::kFast, Products::kF32}) {
        std::vector<float> x(static_cast<size_t>(rows * cols), 1.0f), y(size_t(rows) * 5);
        x[static_cast<size_t>(cols) - 1] = wrong;
        cpu_matmul(pool, products, w.matrix, {}, x.data(), rows, false, y.data());
        EXPECT_FALSE(std::isfinite(y[0])) << rows;
        for (size_t i = 5; i < y.size(); ++i) EXPECT_TRUE(std::isfinite(y[i])) << rows;
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
  cpu_matmul(two, Products::kDeterministic, w.matrix, {}, x.data(), 40, false, together.data());
  for (int r = 0; r < 40; ++r) {
    cpu_matmul(three, Products::kDeterministic, w.matrix, {}, x.data() + r * cols, 1, false,
               alone.data());
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
  const WeightKind kind = weight_kind(*GetParam()).value();
  const int64_t cols = widths(*GetParam()).front(), outputs = 5, stride = 9;
  const RandomMatrix w(*GetParam(), outputs, cols, random);
  const std::vector<float> x(static_cast<size_t>(kRowProductRows * cols), 1.0f);
  IntegerRows integers;
  for (int rows = 1; rows <= kRowProductRows; ++rows)
    for (const bool as_integers : {false, true}) {
      if (as_integers && !have_integer_products(kind)) continue;
      std::vector<float> y(static_cast<size_t>(rows * stride), 7.0f);
      RowProduct args;
      args.kind = kind;
      if (as_integers) {
        integers.assign(x.data(), rows, cols);
        args.integers = &integers;
      }
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
