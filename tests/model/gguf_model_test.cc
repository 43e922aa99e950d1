// From a GGUF file to a model: configuration, weights by role, and what is refused.
#include <cmath>
#include <functional>
#include <limits>

#include "model/model.h"
#include "tiny_llama.h"

namespace looseleaf {
namespace {

constexpr auto kCorrupt = ErrorCode::kCorrupt;
constexpr auto kUnsupported = ErrorCode::kUnsupported;

Expected<std::shared_ptr<const Model>> load(const GgufBuilder& builder) {
  const TempFolder folder;
  return load_model(folder.write("model.gguf", builder.build()));
}

std::shared_ptr<const Model> load_good(const GgufBuilder& builder) {
  auto model = load(builder);
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return model ? *model : nullptr;
}

std::vector<float> row(const WeightMatrix& matrix, int64_t index) {
  std::vector<float> out(static_cast<size_t>(matrix.cols));
  matrix.dequantize_row(index, out.data());
  return out;
}

// Element `index` of a builder's f32 tensor.
float stored(GgufBuilder& builder, std::string_view name, size_t index) {
  float value;
  std::memcpy(&value, builder.tensor(name).bytes.data() + index * sizeof value, sizeof value);
  return value;
}

TEST(GgufModel, ConfigurationAndWeights) {
  GgufBuilder builder = tiny::gguf();
  builder.set_f32("llama.rope.freq_base", 50000);
  const auto model = load_good(builder);
  ASSERT_NE(model, nullptr);
  const ModelConfig& c = model->config;
  EXPECT_EQ(c.architecture, "llama");
  EXPECT_EQ(c.name, "tiny");
  EXPECT_EQ(c.vocab, tiny::kVocab);
  EXPECT_EQ(c.hidden, tiny::kHidden);
  EXPECT_EQ(c.layers, 1);
  EXPECT_EQ(c.heads, tiny::kHeads);
  EXPECT_EQ(c.kv_heads, tiny::kKvHeads);
  EXPECT_EQ(c.head_dim, tiny::kHeadDim);
  EXPECT_EQ(c.ffn, tiny::kFfn);
  EXPECT_EQ(c.norm_eps, 1e-5f);
  EXPECT_EQ(c.context_length, 128);
  EXPECT_EQ(c.sliding_window, 0);
  EXPECT_EQ(c.rope.base, 50000);
  EXPECT_EQ(c.rope.dims, tiny::kHeadDim);
  EXPECT_EQ(c.rope.pairs, RopePairs::kAdjacent);
  EXPECT_EQ(c.rope.scaling, RopeScaling::kNone);
  EXPECT_EQ(model->format, "gguf v3");
  EXPECT_FALSE(model->tied);
  EXPECT_EQ(describe_weight_types(*model), "f32 9");
  int64_t bytes = 0;
  for (const auto& tensor : builder.tensors) bytes += static_cast<int64_t>(tensor.bytes.size());
  EXPECT_EQ(model->weight_bytes, bytes);

  const LayerWeights& layer = model->layers[0];
  EXPECT_EQ(row(layer.key, 1)[2], stored(builder, "blk.0.attn_k.weight", tiny::kHidden + 2));
  EXPECT_EQ(row(layer.down, 1)[2], stored(builder, "blk.0.ffn_down.weight", tiny::kFfn + 2));
  EXPECT_EQ(layer.ffn_norm[3], stored(builder, "blk.0.ffn_norm.weight", 3));
  EXPECT_EQ(model->output_norm[3], stored(builder, "output_norm.weight", 3));
  EXPECT_TRUE(layer.query_bias.empty());
  EXPECT_TRUE(layer.down_bias.empty());
}

TEST(GgufModel, WithoutOutputItIsTied) {
  GgufBuilder builder = tiny::gguf();
  builder.remove_tensor("output.weight");
  const auto model = load_good(builder);
  ASSERT_NE(model, nullptr);
  EXPECT_TRUE(model->tied);
  EXPECT_EQ(model->output.data, model->embedding.data);
  EXPECT_EQ(describe_weight_types(*model), "f32 8");
}

TEST(GgufModel, HeadSizeOfItsOwn) {
  GgufBuilder builder = tiny::gguf();
  builder.set_u32("llama.attention.key_length", 6);
  builder.set_u32("llama.attention.value_length", 6);
  builder.set_u32("llama.rope.dimension_count", 6);
  for (const auto& [name, rows] : {std::pair{"blk.0.attn_q.weight", 12},
                                   {"blk.0.attn_k.weight", 6},
                                   {"blk.0.attn_v.weight", 6}}) {
    builder.tensor(name).shape[1] = static_cast<uint64_t>(rows);
    builder.tensor(name).bytes = tiny::floats(static_cast<size_t>(rows * tiny::kHidden), 1);
  }
  builder.tensor("blk.0.attn_output.weight").shape[0] = 12;
  builder.tensor("blk.0.attn_output.weight").bytes = tiny::floats(12 * tiny::kHidden, 1);
  const auto model = load_good(builder);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->config.head_dim, 6);
  EXPECT_EQ(model->config.rope.dims, 6);
  EXPECT_EQ(model->layers[0].attention_output.cols, 12);
}

TEST(GgufModel, BiasesAndRopeDivisorsWhereTheFileHasThem) {
  GgufBuilder builder = tiny::gguf();
  builder.add("blk.0.attn_q.bias", {8}, tiny::kF32Id, tiny::floats(8, 1));
  builder.add("blk.0.ffn_down.bias", {8}, tiny::kF32Id, tiny::floats(8, 2));
  builder.add("rope_freqs.weight", {2}, tiny::kF32Id, raw(1.0f) + raw(8.0f));
  const auto model = load_good(builder);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->layers[0].query_bias.size(), 8u);
  EXPECT_EQ(model->layers[0].down_bias[1], stored(builder, "blk.0.ffn_down.bias", 1));
  EXPECT_TRUE(model->layers[0].key_bias.empty());
  EXPECT_EQ(model->config.rope.divisors, (std::vector<float>{1, 8}));
}

TEST(GgufModel, SamplingRecommendations) {
  GgufBuilder builder = tiny::gguf();
  builder.set_f32("general.sampling.temp", 0.5f);
  builder.set("general.sampling.top_k", GgufType::kI32, int32_t{40});
  auto model = load_good(builder);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->generation.temperature, 0.5f);
  EXPECT_EQ(model->generation.top_k, 40);
  EXPECT_FALSE(model->generation.top_p.has_value());
  builder.set_f32("general.sampling.temp", -1);
  expect_error(load(builder), kCorrupt, "temperature is -1");
}

struct Broken {
  const char* what;
  ErrorCode code;
  const char* part;
  std::function<void(GgufBuilder&)> damage;
};

TEST(GgufModel, EachContradictionIsNamed) {
  const auto number = [](const char* key, uint32_t value) {
    return [=](GgufBuilder& b) { b.set_u32(key, value); };
  };
  const auto real = [](const char* key, float value) {
    return [=](GgufBuilder& b) { b.set_f32(key, value); };
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const char* eps = "llama.attention.layer_norm_rms_epsilon";
  const char* heads = "llama.attention.head_count";
  const std::vector<Broken> cases = {
      {"architecture", kUnsupported, "architecture 'mamba' is not known: this build runs llama",
       [](auto& b) { b.set_string("general.architecture", "mamba"); }},
      {"no architecture", kCorrupt, "no 'general.architecture'",
       [](auto& b) { b.remove("general.architecture"); }},
      {"no layers key", kCorrupt, "no 'llama.block_count'",
       [](auto& b) { b.remove("llama.block_count"); }},
      {"0 layers", kCorrupt, "layers is 0", number("llama.block_count", 0)},
      {"2 layers", kCorrupt, "tensor 'blk.1.attn_norm.weight' is missing",
       number("llama.block_count", 2)},
      {"endless layers", kCorrupt, "tensor 'blk.1.attn_norm.weight' is missing",
       number("llama.block_count", INT32_MAX)},
      {"layers beyond 31 bits", kCorrupt, "4294967295, outside",
       number("llama.block_count", UINT32_MAX)},
      {"ffn per layer", kCorrupt, "is array of i32, not an integer",
       [](auto& b) {
         b.template set_numbers<int32_t>("llama.feed_forward_length", GgufType::kI32, {12});
       }},
      {"0 hidden", kCorrupt, "hidden is 0", number("llama.embedding_length", 0)},
      {"0 heads", kCorrupt, "0 heads do not divide", number(heads, 0)},
      {"3 heads", kCorrupt, "3 heads do not divide embedding_length 8", number(heads, 3)},
      {"0 kv_heads", kCorrupt, "kv_heads is 0", number("llama.attention.head_count_kv", 0)},
      {"3 kv_heads", kCorrupt, "2 heads cannot share 3 kv_heads",
       number("llama.attention.head_count_kv", 3)},
      {"2 kv_heads", kCorrupt, "'blk.0.attn_k.weight': shape [4, 8]: the configuration says [8, 8]",
       number("llama.attention.head_count_kv", 2)},
      {"0 head_dim", kCorrupt, "head_dim is 0", number("llama.attention.key_length", 0)},
      {"huge head_dim", kCorrupt, "overflow 31 bits",
       number("llama.attention.key_length", INT32_MAX)},
      {"values of another size", kUnsupported, "keys of 4 and values of 6 dimensions differ",
       number("llama.attention.value_length", 6)},
      {"0 context", kCorrupt, "context_length is 0", number("llama.context_length", 0)},
      {"odd rope", kCorrupt, "3 rotary dimensions", number("llama.rope.dimension_count", 3)},
      {"0 rope", kCorrupt, "0 rotary dimensions", number("llama.rope.dimension_count", 0)},
      {"too much rope", kCorrupt, "6 rotary dimensions: an even number up to head_dim 4",
       number("llama.rope.dimension_count", 6)},
      {"rope base 0", kCorrupt, "rope base is 0", real("llama.rope.freq_base", 0)},
      {"rope base nan", kCorrupt, "rope base is nan", real("llama.rope.freq_base", kNan)},
      {"eps 0", kCorrupt, "norm_eps is 0", real(eps, 0)},
      {"eps negative", kCorrupt, "norm_eps is -1", real(eps, -1)},
      {"eps infinite", kCorrupt, "norm_eps is inf", real(eps, kInf)},
      {"vocab", kCorrupt, "'token_embd.weight': shape [8, 8]: the configuration says [9, 8]",
       number("llama.vocab_size", 9)},
      {"vocab 0", kCorrupt, "vocab_size is 0", number("llama.vocab_size", 0)},
      {"vocab beyond 31 bits", kCorrupt, "2147483648, outside",
       number("llama.vocab_size", 1u << 31)},
      {"scaling", kUnsupported, "rope scaling 'alibi' is not run",
       [](auto& b) { b.set_string("llama.rope.scaling.type", "alibi"); }},
      {"scaling of a number", kCorrupt, "'llama.rope.scaling.type' is u32, not a string",
       number("llama.rope.scaling.type", 2)},
      {"negative factor", kCorrupt, "linear rope scaling: factor is -4",
       real("llama.rope.scaling.factor", -4)},
      {"old scaling nan", kCorrupt, "linear rope scaling: factor is nan",
       real("llama.rope.scale_linear", kNan)},
      {"attention factor 0", kCorrupt, "attention factor is 0",
       real("llama.rope.scaling.attn_factor", 0)},
      {"yarn of no context", kCorrupt, "original context is 0",
       [](auto& b) {
         b.set_string("llama.rope.scaling.type", "yarn");
         b.set_u32("llama.rope.scaling.original_context_length", 0);
       }},
      {"yarn of another kind", kUnsupported, "'llama.rope.scaling.yarn_ext_factor' is 0.5",
       [](auto& b) {
         b.set_string("llama.rope.scaling.type", "yarn");
         b.set_f32("llama.rope.scaling.yarn_ext_factor", 0.5f);
       }},
      {"longrope", kUnsupported, "longrope is not run for llama",
       [](auto& b) { b.set_string("llama.rope.scaling.type", "longrope"); }},
      {"half the rotary dimensions", kCorrupt,
       "dimension_count is 2: llama turns all 4 dimensions of a head",
       number("llama.rope.dimension_count", 2)},
      {"attention scale", kUnsupported, "'llama.attention.scale' is 0.5: only 0 is run",
       real("llama.attention.scale", 0.5f)},
      {"logit scale", kUnsupported, "'llama.logit_scale' is 2", real("llama.logit_scale", 2)},
      {"experts", kUnsupported, "a mixture of 8 experts", number("llama.expert_count", 8)},
      {"window", kUnsupported, "sliding window attention (64)",
       number("llama.attention.sliding_window", 64)},
      {"not causal", kUnsupported, "not causal",
       [](auto& b) { b.set_bool("llama.attention.causal", false); }},
      {"missing tensor", kCorrupt, "tensor 'blk.0.ffn_up.weight' is missing",
       [](auto& b) { b.remove_tensor("blk.0.ffn_up.weight"); }},
      {"unknown tensor", kUnsupported, "tensor 'blk.0.attn_q_norm.weight': has no role",
       [](auto& b) { b.add("blk.0.attn_q_norm.weight", {4}, 0, tiny::floats(4, 1)); }},
      {"unknown bias", kUnsupported, "tensor 'output.bias': has no role",
       [](auto& b) { b.add("output.bias", {8}, 0, tiny::floats(8, 1)); }},
      {"transposed", kCorrupt, "shape [8, 12]: the configuration says [12, 8]",
       [](auto& b) {
         b.tensor("blk.0.ffn_up.weight").shape = {12, 8};
       }},
      {"norm of rank 2", kCorrupt, "shape [1, 8]: the configuration says [8]",
       [](auto& b) {
         b.tensor("output_norm.weight").shape = {8, 1};
       }},
      {"norm with a nan", kCorrupt, "'output_norm.weight': element 3 is nan",
       [](auto& b) { b.tensor("output_norm.weight").bytes.replace(12, 4, raw(std::nanf(""))); }},
      {"bias of another size", kCorrupt,
       "'blk.0.attn_k.bias': shape [8]: the configuration says [4]",
       [](auto& b) { b.add("blk.0.attn_k.bias", {8}, 0, tiny::floats(8, 1)); }},
      {"divisors of another size", kCorrupt, "'rope_freqs.weight': shape [1]",
       [](auto& b) { b.add("rope_freqs.weight", {1}, 0, raw(1.0f)); }},
      {"divisor 0", kCorrupt, "'rope_freqs.weight': divisor 0",
       [](auto& b) { b.add("rope_freqs.weight", {2}, 0, raw(1.0f) + raw(0.0f)); }},
  };
  for (const Broken& broken : cases) {
    SCOPED_TRACE(broken.what);
    GgufBuilder builder = tiny::gguf();
    broken.damage(builder);
    expect_error(load(builder), broken.code, broken.part);
  }
}

TEST(GgufModel, ScalingOfNoneIsNone) {
  GgufBuilder builder = tiny::gguf();
  builder.set_string("llama.rope.scaling.type", "none");
  builder.set_f32("llama.rope.scaling.factor", 1);
  EXPECT_NE(load_good(builder), nullptr);
}

}  // namespace
}  // namespace looseleaf
