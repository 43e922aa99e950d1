// What each family's files say beyond llama's: biases, norms of heads, fused matrices, windows, and
// the scalings of RoPE in every spelling.
#include <cmath>
#include <functional>

#include "model/model.h"
#include "tiny_families.h"
#include "tiny_safetensors.h"

namespace looseleaf {
namespace {

using tiny::gguf_of, tiny::phi3, tiny::phi3_long_rope, tiny::qwen2, tiny::qwen3, tiny::replaced;

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

// The tiny llama's folder as another family's, with more fields in config.json.
struct Folder {
  std::string model_type = "llama", hf_class = "LlamaForCausalLM";
  SafetensorsBuilder tensors = tiny::safetensors();

  Expected<std::shared_ptr<const Model>> load(std::string_view extra) const {
    const TempFolder folder;
    std::string config = replaced(tiny::config_json(extra), "LlamaForCausalLM", hf_class);
    config = replaced(config, "\"model_type\":\"llama\"", "\"model_type\":\"" + model_type + "\"");
    folder.write("config.json", config);
    folder.write("model.safetensors", tensors.build());
    return load_model(folder.path());
  }
  ModelConfig config(std::string_view extra) const {
    const auto model = load(extra);
    EXPECT_TRUE(model.has_value()) << extra << ": " << model.error().message;
    return model ? (*model)->config : ModelConfig{};
  }
};

Folder mistral_folder() { return {"mistral", "MistralForCausalLM"}; }
Folder qwen2_folder() {
  Folder out{"qwen2", "Qwen2ForCausalLM"};
  out.tensors.add("model.layers.0.self_attn.q_proj.bias", {8}, tiny::floats(8, 1));
  out.tensors.add("model.layers.0.self_attn.k_proj.bias", {4}, tiny::floats(4, 2));
  out.tensors.add("model.layers.0.self_attn.v_proj.bias", {4}, tiny::floats(4, 3));
  return out;
}

TEST(Families, Qwen2HasThreeBiases) {
  const auto model = load_good(qwen2());
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->config.architecture, "qwen2");
  EXPECT_EQ(model->config.rope.pairs, RopePairs::kHalves);
  EXPECT_EQ(model->layers[0].query_bias.size(), 8u);
  EXPECT_EQ(model->layers[0].value_bias.size(), 4u);
  EXPECT_TRUE(model->layers[0].attention_output_bias.empty());
  GgufBuilder without = qwen2();
  without.remove_tensor("blk.0.attn_k.bias");
  expect_error(load(without), kCorrupt, "tensor 'blk.0.attn_k.bias' is missing");
  EXPECT_EQ((*qwen2_folder().load(""))->layers[0].key_bias.size(), 4u);
  expect_error(Folder{"qwen2", "Qwen2ForCausalLM"}.load(""), kCorrupt, "q_proj.bias' is missing");
}

TEST(Families, Qwen3NormalizesHeads) {
  const auto model = load_good(qwen3());
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->layers[0].query_norm.size(), 4u);
  EXPECT_EQ(model->layers[0].key_norm.size(), 4u);
  GgufBuilder wide = qwen3();
  wide.tensor("blk.0.attn_q_norm.weight").shape = {8};
  wide.tensor("blk.0.attn_q_norm.weight").bytes = tiny::floats(8, 1);
  expect_error(load(wide), kCorrupt, "attn_q_norm.weight': shape [8]: the configuration says [4]");
  GgufBuilder without = qwen3();
  without.remove_tensor("blk.0.attn_k_norm.weight");
  expect_error(load(without), kCorrupt, "'blk.0.attn_k_norm.weight' is missing");
}

TEST(Families, Qwen3HeadsHave128DimensionsWhereTheFileDoesNotSay) {
  expect_error(Folder{"qwen3", "Qwen3ForCausalLM"}.load(""), kCorrupt,
               "q_proj.weight': shape [8, 8]: the configuration says [256, 8]");
}

TEST(Families, Phi3MatricesAreViewsOfTheFusedOnes) {
  const auto fused = load_good(phi3());
  const auto apart = load_good(tiny::gguf());
  ASSERT_NE(fused, nullptr);
  const LayerWeights &a = fused->layers[0], &b = apart->layers[0];
  for (const auto& [one, other] : {std::pair{&a.query, &b.query},
                                   {&a.key, &b.key},
                                   {&a.value, &b.value},
                                   {&a.gate, &b.gate},
                                   {&a.up, &b.up}}) {
    ASSERT_EQ(one->bytes(), other->bytes());
    EXPECT_EQ(std::memcmp(one->data, other->data, static_cast<size_t>(one->bytes())), 0);
  }
  EXPECT_EQ(fused->weight_bytes, apart->weight_bytes);
  GgufBuilder short_one = phi3();
  short_one.tensor("blk.0.attn_qkv.weight").shape[1] = 15;
  expect_error(load(short_one), kCorrupt, "shape [15, 8]: the configuration says [16, 8]");
}

TEST(Families, Phi3HeadsTurnInPart) {
  GgufBuilder builder = phi3();
  builder.set_u32("phi3.rope.dimension_count", 2);
  builder.set_u32("phi3.attention.sliding_window", 9);
  const auto model = load_good(builder);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->config.rope.dims, 2);
  EXPECT_EQ(model->config.sliding_window, 9);
}

TEST(Families, LongRopeFromTensors) {
  GgufBuilder builder = phi3_long_rope();
  builder.set_f32("phi3.rope.scaling.attn_factor", 1.25f);
  const auto model = load_good(builder);
  ASSERT_NE(model, nullptr);
  const RopeConfig& rope = model->config.rope;
  EXPECT_EQ(rope.scaling, RopeScaling::kLongRope);
  EXPECT_EQ(rope.divisors, (std::vector<float>{1, 2}));
  EXPECT_EQ(rope.long_divisors, (std::vector<float>{1, 16}));
  EXPECT_EQ(rope.original_context, 32);
  EXPECT_EQ(rope.attention_factor, 1.25);
  EXPECT_NEAR(rope_regime(rope, 32).frequencies[1], 0.01 / 2, 1e-15);
  EXPECT_NEAR(rope_regime(rope, 33).frequencies[1], 0.01 / 16, 1e-15);
}

TEST(Families, EachBrokenLongRopeIsNamed) {
  const std::vector<std::pair<const char*, std::function<void(GgufBuilder&)>>> cases = {
      {"'rope_factors_long.weight' is missing",
       [](auto& b) { b.remove_tensor("rope_factors_long.weight"); }},
      {"'rope_factors_short.weight' is missing",
       [](auto& b) { b.remove_tensor("rope_factors_short.weight"); }},
      {"'rope_factors_long.weight': shape [1]: the configuration says [2]",
       [](auto& b) {
         b.tensor("rope_factors_long.weight").shape = {1};
         b.tensor("rope_factors_long.weight").bytes = raw(1.0f);
       }},
      // Metadata that lie about the rotary dimensions.
      {"'rope_factors_short.weight': shape [2]: the configuration says [1]",
       [](auto& b) { b.set_u32("phi3.rope.dimension_count", 2); }},
      {"divisor -1",
       [](auto& b) { b.tensor("rope_factors_short.weight").bytes = raw(1.0f) + raw(-1.0f); }},
      {"element 1 is nan",
       [](auto& b) {
         b.tensor("rope_factors_long.weight").bytes = raw(1.0f) + raw(std::nanf(""));
       }},
      {"'phi3.rope.scaling.original_context_length', which longrope needs",
       [](auto& b) { b.remove("phi3.rope.scaling.original_context_length"); }},
      {"original context is 0",
       [](auto& b) { b.set_u32("phi3.rope.scaling.original_context_length", 0); }},
      {"4294967295, outside",
       [](auto& b) { b.set_u32("phi3.rope.scaling.original_context_length", UINT32_MAX); }},
      {"attention factor is nan",
       [](auto& b) { b.set_f32("phi3.rope.scaling.attn_factor", std::nanf("")); }},
  };
  for (const auto& [part, damage] : cases) {
    SCOPED_TRACE(part);
    GgufBuilder builder = phi3_long_rope();
    damage(builder);
    expect_error(load(builder), kCorrupt, part);
  }
}

TEST(Families, WindowsAreThoseOfTheConfiguration) {
  EXPECT_EQ(mistral_folder().config("\"sliding_window\":64,").sliding_window, 64);
  EXPECT_EQ(mistral_folder().config("\"sliding_window\":null,").sliding_window, 0);
  EXPECT_EQ(mistral_folder().config("").sliding_window, 4096);
  for (const char* extra : {"", "\"sliding_window\":64,", "\"use_sliding_window\":false,",
                            "\"use_sliding_window\":true,\"sliding_window\":64,",
                            "\"use_sliding_window\":true,\"sliding_window\":64,"
                            "\"max_window_layers\":1,"})
    EXPECT_EQ(qwen2_folder().config(extra).sliding_window, 0) << extra;
  EXPECT_EQ(
      qwen2_folder()
          .config("\"use_sliding_window\":true,\"sliding_window\":64,\"max_window_layers\":0,")
          .sliding_window,
      64);
  expect_error(mistral_folder().load("\"sliding_window\":0,"), kCorrupt, "sliding_window is 0");
  expect_error(mistral_folder().load("\"sliding_window\":-3,"), kCorrupt, "sliding_window is -3");
  expect_error(mistral_folder().load("\"sliding_window\":2147483648,"), kCorrupt,
               "sliding_window is");
}

TEST(Families, OthersAreRefusedByName) {
  expect_error(load(gguf_of("gemma2")), kUnsupported,
               "architecture 'gemma2' is not known: this build runs llama, phi3, qwen2, qwen3");
  expect_error(load(gguf_of("")), kUnsupported, "architecture '' is not known");
  expect_error(load(gguf_of("mistral")), kUnsupported, "architecture 'mistral' is not known");
  expect_error(Folder{"gemma3_text", "Gemma3ForCausalLM"}.load(""), kUnsupported,
               "model_type 'gemma3_text' is not known: this build runs llama, mistral, phi3");
}

TEST(RopeSpellings, LinearAndDynamic) {
  const ModelConfig linear = Folder{}.config(R"("rope_scaling":{"type":"linear","factor":4.0},)");
  EXPECT_EQ(linear.rope.scaling, RopeScaling::kLinear);
  EXPECT_EQ(linear.context_length, 512);
  EXPECT_NEAR(rope_regime(linear.rope, 1).frequencies[1], 0.01 / 4, 1e-15);
  const ModelConfig dynamic = Folder{}.config(R"("rope_scaling":{"type":"dynamic","factor":2.0},)");
  EXPECT_EQ(dynamic.rope.scaling, RopeScaling::kDynamicNtk);
  EXPECT_FALSE(can_reuse_chunks(dynamic.rope));
  EXPECT_EQ(rope_regime(dynamic.rope, 128).name, "");
  EXPECT_NEAR(rope_regime(dynamic.rope, 128).frequencies[1], 0.01, 1e-15);
  // 256 tokens: the base grows by (2 * 256 / 128 - 1)^(4 / 2).
  EXPECT_NEAR(rope_regime(dynamic.rope, 256).frequencies[1], std::pow(90000, -0.5), 1e-15);
}

TEST(RopeSpellings, LinearInGguf) {
  for (const char* key : {"llama.rope.scaling.factor", "llama.rope.scale_linear"}) {
    GgufBuilder builder = tiny::gguf();
    builder.set_f32(key, 4);
    const auto model = load_good(builder);
    ASSERT_NE(model, nullptr);
    EXPECT_EQ(model->config.rope.scaling, RopeScaling::kLinear);
    EXPECT_EQ(model->config.rope.factor, 4);
    builder.set_string("llama.rope.scaling.type", "none");
    EXPECT_EQ(load_good(builder)->config.rope.scaling, RopeScaling::kNone);
  }
}

TEST(RopeSpellings, Yarn) {
  const std::string numbers = R"("factor":4.0,"original_max_position_embeddings":64)";
  for (const std::string& extra :
       {R"("rope_scaling":{"type":"yarn",)" + numbers + "},",
        R"("rope_scaling":{"rope_type":"yarn",)" + numbers + "},",
        R"("rope_parameters":{"rope_theta":10000.0,"rope_type":"yarn",)" + numbers + "},",
        std::string(R"("original_max_position_embeddings":64,)"
                    R"("rope_scaling":{"type":"yarn","factor":4.0},)")}) {
    const ModelConfig config = Folder{}.config(extra);
    EXPECT_EQ(config.rope.scaling, RopeScaling::kYarn) << extra;
    EXPECT_EQ(config.rope.original_context, 64) << extra;
    EXPECT_EQ(config.rope.beta_fast, 32);
    EXPECT_TRUE(config.rope.truncate);
    EXPECT_NEAR(config.rope.attention_factor, 1 + 0.1 * std::log(4.0), 1e-15) << extra;
    EXPECT_EQ(config.context_length, 256) << extra;
  }
  const auto attention = [](const std::string& extra) {
    return Folder{}
        .config(R"("rope_scaling":{"type":"yarn","factor":4.0,)" + extra + "},")
        .rope.attention_factor;
  };
  EXPECT_EQ(attention(R"("attention_factor":1.5)"), 1.5);
  EXPECT_NEAR(attention(R"("mscale":1.0,"mscale_all_dim":0.5)"),
              (0.1 * std::log(4.0) + 1) / (0.05 * std::log(4.0) + 1), 1e-15);
  EXPECT_NEAR(attention(R"("mscale":2.0)"), 1 + 0.1 * std::log(4.0), 1e-15);
}

TEST(RopeSpellings, YarnInGguf) {
  GgufBuilder builder = qwen2();
  builder.set_string("qwen2.rope.scaling.type", "yarn");
  builder.set_f32("qwen2.rope.scaling.factor", 4);
  builder.set_u32("qwen2.rope.scaling.original_context_length", 64);
  builder.set_f32("qwen2.rope.scaling.attn_factor", 0.5f);
  builder.set_f32("qwen2.rope.scaling.yarn_beta_fast", 16);
  const auto model = load_good(builder);
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->config.rope.scaling, RopeScaling::kYarn);
  EXPECT_EQ(model->config.rope.beta_fast, 16);
  EXPECT_NEAR(model->config.rope.attention_factor, 0.5 * (1 + 0.1 * std::log(4.0)), 1e-15);
  EXPECT_EQ(model->config.context_length, 256);
}

TEST(RopeSpellings, LongRope) {
  const std::string factors = R"("short_factor":[1,2],"long_factor":[1.0,16.5])";
  for (const std::string& extra :
       {R"("rope_scaling":{"type":"su",)" + factors + R"(},"original_max_position_embeddings":32,)",
        R"("rope_scaling":{"rope_type":"longrope",)" + factors +
            R"(,"original_max_position_embeddings":32},)",
        R"("rope_scaling":{"type":"yarn",)" + factors +
            R"(,"original_max_position_embeddings":32},)",
        R"("rope_parameters":{"rope_theta":1e4,"rope_type":"longrope",)" + factors +
            R"(,"original_max_position_embeddings":32},)"}) {
    const RopeConfig rope = Folder{}.config(extra).rope;
    EXPECT_EQ(rope.scaling, RopeScaling::kLongRope) << extra;
    EXPECT_EQ(rope.original_context, 32);
    EXPECT_EQ(rope.long_divisors, (std::vector<float>{1, 16.5}));
    // 128 positions of 32.
    EXPECT_NEAR(rope.attention_factor, std::sqrt(1 + std::log(4.0) / std::log(32.0)), 1e-15);
    EXPECT_EQ(rope_regime(rope, 32).name, "short");
    EXPECT_EQ(rope_regime(rope, 33).name, "long");
  }
}

}  // namespace
}  // namespace looseleaf
