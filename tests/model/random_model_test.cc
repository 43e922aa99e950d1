// random:NAME[/LAYERS]: names, shapes, and that the weights are what they are said to be.
#include <cmath>
#include <cstring>
#include <set>

#include "model/model.h"
#include "model/random_shape.h"
#include "model/random_weights.h"
#include "test_files.h"

namespace looseleaf {
namespace {

std::shared_ptr<const Model> load(const std::string& name) {
  const auto model = load_model(name);
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return model ? *model : nullptr;
}

TEST(RandomModel, NamesThatAreNoneSayWhichThereAre) {
  expect_error(load_model("random:gpt-2"), ErrorCode::kUsage,
               "'random:gpt-2': no shape of this name is known; there are: llama-3.1-8b, ");
  expect_error(load_model("random:"), ErrorCode::kUsage, "there are: ");
  for (const char* layers : {"", "0", "31", "-1", "1x", "99999999999999999999"})
    expect_error(load_model(std::string("random:smollm2-135m/") + layers), ErrorCode::kUsage,
                 "behind the / stands a number of layers, 1 to 30");
}

TEST(RandomModel, ShapesAreThoseOfTheModels) {
  for (const char* name : {"llama-3.1-8b", "llama-3.2-1b", "llama-3.2-3b", "mistral-7b",
                           "qwen2.5-7b", "qwen3-8b", "smollm2-135m"}) {
    const auto shape = parse_random_name(std::string("random:") + name);
    ASSERT_TRUE(shape.has_value()) << name;
    EXPECT_EQ(shape->config.name, std::string(name) + ", random weights");
    EXPECT_EQ(shape->config.heads % shape->config.kv_heads, 0) << name;
  }
  const auto llama = parse_random_name("random:llama-3.1-8b/12");
  ASSERT_TRUE(llama.has_value());
  EXPECT_EQ(llama->config.layers, 12);
  EXPECT_EQ(llama->config.rope.scaling, RopeScaling::kLlama3);
  EXPECT_TRUE(parse_random_name("random:qwen2.5-7b")->attention_bias);
  EXPECT_TRUE(parse_random_name("random:qwen3-8b")->head_norms);
}

TEST(RandomModel, LoadsWithWeightsAndTokenizer) {
  const auto model = load("random:smollm2-135m/2");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->format, "random weights");
  EXPECT_EQ(model->layers.size(), 2u);
  EXPECT_TRUE(model->tied);
  EXPECT_EQ(model->output.data, model->embedding.data);
  // The embedding, and in each layer: query, output, key and value, three of the FFN.
  EXPECT_EQ(model->weight_bytes,
            2 * (49152 * 576 + 2 * (2 * 576 * 576 + 2 * 192 * 576 + 3 * 1536 * 576)));
  EXPECT_EQ(model->output_norm, std::vector<float>(576, 1.0f));
  ASSERT_TRUE(model->tokenizer.has_value());
  EXPECT_TRUE(check_spec(*model->tokenizer).has_value());
  EXPECT_EQ(model->tokenizer->tokens.size(), 49152u);

  std::set<std::string> identities = {model->fingerprint};
  EXPECT_EQ(load("random:smollm2-135m/2")->fingerprint, model->fingerprint);
  EXPECT_TRUE(identities.insert(load("random:smollm2-135m/1")->fingerprint).second);
}

std::vector<float> drawn(int threads, int64_t number, int64_t rows, int64_t cols) {
  ThreadPool pool(threads);
  const WeightType* type = find_safetensors_weight_type("BF16");
  std::vector<std::byte> bytes(static_cast<size_t>(rows * cols) * 2);
  fill_random_bf16(pool, number, rows, cols, bytes.data());
  std::vector<float> values(static_cast<size_t>(rows * cols));
  type->dequantize(bytes.data(), values.data(), rows * cols);
  return values;
}

TEST(RandomWeights, SameForAnyNumberOfThreadsAndAnotherForEachMatrix) {
  const auto values = drawn(1, 3, 701, 1001);  // several pieces, an odd number of weights
  EXPECT_EQ(drawn(3, 3, 701, 1001), values);
  EXPECT_NE(drawn(1, 4, 701, 1001), values);
}

TEST(RandomWeights, AreCloseToNormal) {
  constexpr int64_t kRows = 1000, kCols = 400;
  const auto values = drawn(2, 0, kRows, kCols);
  const auto count = static_cast<double>(values.size());
  double sum = 0, square = 0, fourth = 0, neighbours = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = values[i] * std::sqrt(double{kCols});
    sum += x;
    square += x * x;
    fourth += x * x * x * x;
    if (i > 0) neighbours += x * values[i - 1] * std::sqrt(double{kCols});
  }
  // Within five standard errors of standard normal numbers; the sum of four bytes has a kurtosis of
  // 2.7.
  EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
  EXPECT_NEAR(square / count, 1, 5 * std::sqrt(2 / count));
  EXPECT_NEAR(fourth / count, 2.7, 5 * std::sqrt(96 / count));
  EXPECT_NEAR(neighbours / count, 0, 5 / std::sqrt(count));
}

}  // namespace
}  // namespace looseleaf
