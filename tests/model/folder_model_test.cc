// From a Hugging Face folder to a model: configuration, RoPE spellings, ties, and what is refused.
#include "model/model.h"
#include "tiny_safetensors.h"

namespace looseleaf {
namespace {

constexpr auto kCorrupt = ErrorCode::kCorrupt;
constexpr auto kUnsupported = ErrorCode::kUnsupported;

struct Folder {
  TempFolder files;
  SafetensorsBuilder weights = tiny::safetensors();
  std::string config = tiny::config_json();

  Expected<std::shared_ptr<const Model>> load() const {
    files.write("model.safetensors", weights.build());
    files.write("config.json", config);
    return load_model(files.path());
  }
  // With more fields of config.json, each with a comma behind it.
  Expected<std::shared_ptr<const Model>> load_with(std::string_view extra) {
    config = tiny::config_json(extra);
    return load();
  }
  void replace_config(std::string_view from, std::string_view to) {
    config.replace(config.find(from), from.size(), to);
  }
};

RopeConfig rope_with(std::string_view extra) {
  Folder folder;
  const auto model = folder.load_with(extra);
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return model ? (*model)->config.rope : RopeConfig{};
}

TEST(FolderModel, Configuration) {
  Folder folder;
  const auto loaded = folder.load_with(R"("rope_theta":50000.0,"sliding_window":null,)");
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  const Model& model = **loaded;
  EXPECT_EQ(model.format, "safetensors");
  EXPECT_EQ(model.config.vocab, tiny::kVocab);
  EXPECT_EQ(model.config.head_dim, tiny::kHeadDim);
  EXPECT_EQ(model.config.norm_eps, 1e-5f);
  EXPECT_EQ(model.config.rope.base, 50000);
  EXPECT_EQ(model.config.rope.dims, tiny::kHeadDim);
  EXPECT_EQ(model.config.rope.pairs, RopePairs::kHalves);
  EXPECT_FALSE(model.tied);
  EXPECT_FALSE(model.tokenizer.has_value());
  EXPECT_EQ(model.tokenizer_problem, "");
  EXPECT_EQ(model.weight_bytes, static_cast<int64_t>(folder.weights.data.size()));
}

TEST(FolderModel, SameNumbersAsTheGgufForm) {
  const TempFolder other;
  const auto gguf = load_model(other.write("model.gguf", tiny::gguf().build()));
  Folder folder;
  const auto model = folder.load();
  ASSERT_TRUE(gguf.has_value() && model.has_value());
  const auto same = [](const WeightMatrix& a, const WeightMatrix& b) {
    return a.rows == b.rows && a.bytes() == b.bytes() &&
           std::memcmp(a.data, b.data, static_cast<size_t>(a.bytes())) == 0;
  };
  const LayerWeights &a = (*gguf)->layers[0], &b = (*model)->layers[0];
  EXPECT_TRUE(same((*gguf)->embedding, (*model)->embedding));
  EXPECT_TRUE(same((*gguf)->output, (*model)->output));
  EXPECT_TRUE(same(a.query, b.query));
  EXPECT_TRUE(same(a.key, b.key));
  EXPECT_TRUE(same(a.value, b.value));
  EXPECT_TRUE(same(a.attention_output, b.attention_output));
  EXPECT_TRUE(same(a.gate, b.gate));
  EXPECT_TRUE(same(a.up, b.up));
  EXPECT_TRUE(same(a.down, b.down));
  EXPECT_EQ(a.attention_norm, b.attention_norm);
  EXPECT_EQ(a.ffn_norm, b.ffn_norm);
}

TEST(FolderModel, RopeInEverySpelling) {
  EXPECT_EQ(rope_with("").base, 10000);
  EXPECT_EQ(rope_with(R"("rope_scaling":null,)").scaling, RopeScaling::kNone);
  EXPECT_EQ(rope_with(R"("rope_scaling":{"type":"default"},)").scaling, RopeScaling::kNone);
  EXPECT_EQ(rope_with(R"("rope_parameters":{"rope_type":"default","rope_theta":7e5},)").base, 7e5);
  const std::string numbers = R"("factor":8.0,"low_freq_factor":1.0,"high_freq_factor":4.0,)"
                              R"("original_max_position_embeddings":64)";
  for (const std::string& extra :
       {R"("rope_theta":5e5,"rope_scaling":{"rope_type":"llama3",)" + numbers + "},",
        R"("rope_theta":5e5,"rope_scaling":{"type":"llama3","rope_type":"llama3",)" + numbers +
            "},",
        R"("rope_parameters":{"rope_theta":5e5,"rope_type":"llama3",)" + numbers + "},"}) {
    const RopeConfig rope = rope_with(extra);
    EXPECT_EQ(rope.base, 5e5);
    EXPECT_EQ(rope.scaling, RopeScaling::kLlama3);
    EXPECT_EQ(rope.factor, 8);
    EXPECT_EQ(rope.low_frequency_factor, 1);
    EXPECT_EQ(rope.high_frequency_factor, 4);
    EXPECT_EQ(rope.original_context, 64);
  }
}

TEST(FolderModel, EachFieldThatIsNotRunIsNamed) {
  const std::string llama3 = R"("rope_scaling":{"rope_type":"llama3","factor":8,)";
  const std::vector<std::tuple<std::string, ErrorCode, std::string>> cases = {
      {R"("rope_scaling":{"rope_type":"proportional","factor":4},)", kUnsupported,
       "rope type 'proportional'"},
      {R"("rope_scaling":{"type":"linear"},)", kCorrupt, "factor is missing"},
      {R"("rope_scaling":{"type":"linear","factor":0},)", kCorrupt,
       "linear rope scaling: factor is 0: it must be positive"},
      {R"("rope_scaling":{"type":"dynamic","factor":0.5},)", kCorrupt, "dynamic rope scaling"},
      {R"("rope_scaling":{"type":"yarn","factor":1e400},)", kCorrupt, ""},
      {R"("rope_scaling":{"type":"yarn","factor":-4},)", kCorrupt,
       "yarn rope scaling: factor is -4"},
      {R"("rope_scaling":{"type":"yarn","factor":4,"original_max_position_embeddings":0},)",
       kCorrupt, "original context is 0: it must be at least 1"},
      {R"("rope_scaling":{"type":"yarn","factor":4,"beta_fast":1,"beta_slow":2},)", kCorrupt,
       "beta_fast 1 is below beta_slow 2"},
      {R"("rope_scaling":{"type":"yarn","factor":4,"attention_factor":0},)", kCorrupt,
       "attention factor is 0"},
      {R"("rope_scaling":{"type":"yarn","factor":4,"truncate":1},)", kCorrupt,
       "truncate is an integer, not true or false"},
      {R"("rope_scaling":{"type":"longrope","short_factor":[1,1]},)", kCorrupt,
       "long_factor is missing"},
      {R"("rope_scaling":{"type":"longrope","short_factor":[1],"long_factor":[1,1]},)", kCorrupt,
       "'short_factor' has 1 numbers for 4 rotary dimensions: 2 belong"},
      {R"("rope_scaling":{"type":"su","short_factor":[1,0],"long_factor":[1,1]},)", kCorrupt,
       "'short_factor' has 0: divisors are positive"},
      {R"("rope_scaling":{"type":"su","short_factor":[1e39,1],"long_factor":[1,1]},)", kCorrupt,
       "'short_factor' has 1e+39: divisors are positive"},
      {R"("rope_scaling":{"type":"su","short_factor":[1,"2"],"long_factor":[1,1]},)", kCorrupt,
       "short_factor[1] is a string, not a number"},
      {R"("rope_scaling":{"type":"su","short_factor":7,"long_factor":[1,1]},)", kCorrupt,
       "short_factor is an integer, not a list of numbers"},
      {R"("rope_scaling":{"type":"linear","rope_type":"default"},)", kCorrupt,
       "rope_type 'default' and type 'linear' differ"},
      {R"("rope_scaling":{"factor":4},)", kCorrupt, "rope_type is missing"},
      {R"("rope_scaling":[],)", kCorrupt, "rope_scaling is not a JSON object"},
      {R"("rope_scaling":{"type":"default"},"rope_parameters":{"rope_type":"llama3"},)", kCorrupt,
       "rope_scaling and rope_parameters differ"},
      {R"("rope_theta":1e4,"rope_parameters":{"rope_type":"default","rope_theta":2e4},)", kCorrupt,
       "rope_theta is 10000 and 20000"},
      {R"("rope_parameters":{"rope_type":"default","partial_rotary_factor":0.5},)", kUnsupported,
       "partial_rotary_factor 0.5"},
      {llama3 + R"("low_freq_factor":1,"high_freq_factor":4},)", kCorrupt,
       "original_max_position_embeddings is missing"},
      {llama3 + R"("low_freq_factor":4,"high_freq_factor":4,)"
                R"("original_max_position_embeddings":64},)",
       kCorrupt, "low_freq_factor 4 is not below high_freq_factor 4"},
      {llama3 + R"("low_freq_factor":-1,"high_freq_factor":4,)"
                R"("original_max_position_embeddings":64},)",
       kCorrupt, "low_freq_factor is -1: it must be positive"},
      {R"("rope_theta":1e999,)", kCorrupt, ""},
      {R"("rope_theta":"10000",)", kCorrupt, "rope_theta is a string, not a number"},
      {R"("sliding_window":4096,)", kUnsupported, "sliding_window 4096"},
      {R"("hidden_act":"gelu",)", kUnsupported, "hidden_act 'gelu'"},
      {R"("quantization_config":{"quant_method":"gptq"},)", kUnsupported, "quantization_config"},
      {R"("partial_rotary_factor":0.5,)", kUnsupported, "partial_rotary_factor 0.5"},
      {R"("rope_interleaved":true,)", kUnsupported, "rope_interleaved"},
      {R"("head_dim":3,)", kCorrupt, "3 rotary dimensions"},
      {R"("head_dim":-4,)", kCorrupt, "head_dim is -4"},
      {R"("head_dim":8,)", kCorrupt,
       "q_proj.weight': shape [8, 8]: the configuration says [16, 8]"},
      {R"("attention_bias":true,)", kCorrupt, "self_attn.q_proj.bias' is missing"},
      {R"("mlp_bias":true,)", kCorrupt, "mlp.gate_proj.bias' is missing"},
      {R"("vocab_size":8,)", kCorrupt, "the key \"vocab_size\" stands here twice"},
  };
  for (const auto& [extra, code, part] : cases) {
    SCOPED_TRACE(extra);
    Folder folder;
    expect_error(folder.load_with(extra), code, part);
  }
}

TEST(FolderModel, EachNumberThatMakesNoSenseIsNamed) {
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {R"("num_hidden_layers":1)", R"("num_hidden_layers":0)", "layers is 0"},
      {R"("num_hidden_layers":1)", R"("num_hidden_layers":1.5)", "is a number with a fraction"},
      {R"("num_hidden_layers":1)", R"("num_hidden_layers":null)", "num_hidden_layers is missing"},
      {R"("vocab_size":8)", R"("vocab_size":2147483648)", "not a whole number from -2147483648"},
      {R"("vocab_size":8)", R"("vocab_size":18446744073709551615)", "not a whole number from"},
      {R"("vocab_size":8)", R"("vocab_size":0)", "vocab_size is 0"},
      {R"("vocab_size":8)", R"("vocab_size":9)", "shape [8, 8]: the configuration says [9, 8]"},
      {R"("rms_norm_eps":1e-05)", R"("rms_norm_eps":0)", "norm_eps is 0"},
      {R"("num_attention_heads":2)", R"("num_attention_heads":3)", "do not divide hidden_size 8"},
      {R"("num_attention_heads":2)", R"("num_attention_heads":-2)", "-2 num_attention_heads"},
      {R"(["LlamaForCausalLM"])", R"("LlamaForCausalLM")", "not an array of one name"},
  };
  for (const auto& [from, to, part] : cases) {
    SCOPED_TRACE(to);
    Folder folder;
    folder.replace_config(from, to);
    expect_error(folder.load(), kCorrupt, part);
  }
}

TEST(FolderModel, OtherFamiliesAreNamed) {
  Folder folder;
  folder.replace_config(R"("model_type":"llama")", R"("model_type":"mamba")");
  expect_error(folder.load(), kUnsupported,
               "model_type 'mamba' is not known: this build runs llama");
  Folder other;
  other.replace_config("LlamaForCausalLM", "LlamaForTokenClassification");
  expect_error(other.load(), kUnsupported, "architecture 'LlamaForTokenClassification'");
}

TEST(FolderModel, BiasesAreThoseThatTheConfigurationDeclares) {
  Folder folder;
  const std::string layer = "model.layers.0.self_attn.";
  for (const auto& [name, size] :
       {std::pair{"q_proj", 8}, {"k_proj", 4}, {"v_proj", 4}, {"o_proj", 8}})
    folder.weights.add(layer + name + ".bias", {static_cast<uint64_t>(size)},
                       tiny::floats(static_cast<size_t>(size), 3));
  expect_error(folder.load(), kUnsupported, "q_proj.bias': has no role");
  const auto model = folder.load_with(R"("attention_bias":true,)");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ((*model)->layers[0].key_bias.size(), 4u);
  EXPECT_TRUE((*model)->layers[0].up_bias.empty());
}

TEST(FolderModel, TiesFollowTheConfiguration) {
  Folder folder;
  expect_error(folder.load_with(R"("tie_word_embeddings":true,)"), kCorrupt,
               "'lm_head.weight': differs from the embedding");
  // The same bytes once more are no contradiction.
  auto& entries = folder.weights.entries;
  std::memcpy(folder.weights.data.data() + entries[1].begin, folder.weights.data.data(),
              entries[0].end);
  auto model = folder.load();
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_TRUE((*model)->tied);
  EXPECT_EQ((*model)->weight_bytes,
            static_cast<int64_t>(folder.weights.data.size() - entries[0].end));
  // Not tied and not there.
  Folder bare;
  bare.weights.entries[1].name = "model.layers.0.self_attn.rotary_emb.inv_freq";
  expect_error(bare.load(), kCorrupt, "tensor 'lm_head.weight' is missing");
  model = bare.load_with(R"("tie_word_embeddings":true,)");
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ((*model)->output.data, (*model)->embedding.data);
}

TEST(FolderModel, GenerationConfig) {
  Folder folder;
  const std::string numbers = R"("temperature":0.6,"top_p":0.9,"top_k":50,"min_p":0.05,)"
                              R"("repetition_penalty":1.1,"eos_token_id":[1,2])";
  folder.files.write("generation_config.json", R"({"do_sample":true,)" + numbers + "}");
  auto model = folder.load();
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ((*model)->generation.temperature, 0.6f);
  EXPECT_EQ((*model)->generation.top_p, 0.9f);
  EXPECT_EQ((*model)->generation.top_k, 50);
  EXPECT_EQ((*model)->generation.min_p, 0.05f);
  EXPECT_EQ((*model)->generation.repetition_penalty, 1.1f);
  for (const char* start : {"{", R"({"do_sample":false,)"}) {
    folder.files.write("generation_config.json", start + numbers + "}");
    model = folder.load();
    ASSERT_TRUE(model.has_value());
    EXPECT_FALSE((*model)->generation.temperature.has_value());
    EXPECT_FALSE((*model)->generation.top_k.has_value());
  }
  for (const char* bad : {R"("temperature":-1)", R"("top_p":1.5)", R"("top_k":-1)", R"("min_p":2)",
                          R"("repetition_penalty":0)", R"("top_p":"0.9")"}) {
    SCOPED_TRACE(bad);
    folder.files.write("generation_config.json", fmt::format(R"({{"do_sample":true,{}}})", bad));
    expect_error(folder.load(), kCorrupt, "generation_config.json");
  }
}

}  // namespace
}  // namespace looseleaf
