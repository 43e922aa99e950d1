// What load_model makes of a path, and the golden models.
#include <cmath>

#include "model/model.h"
#include "tiny_safetensors.h"

namespace looseleaf {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = LOOSELEAF_GOLDEN_DIR;

TEST(LoadModel, PathsThatAreNoModelSayWhatToGive) {
  const TempFolder folder;
  const auto empty_folder = folder.path() / "empty";
  fs::create_directory(empty_folder);
  expect_error(load_model(folder.path() / "none"), ErrorCode::kNotFound, "none: cannot be opened");
  expect_error(load_model(""), ErrorCode::kNotFound, "cannot be opened");
  expect_error(load_model("/dev/null"), ErrorCode::kNotFound, "not a regular file");
  expect_error(load_model(empty_folder), ErrorCode::kNotFound,
               "no config.json in this folder: give a folder with config.json and safetensors");
  expect_error(load_model(folder.write("empty.gguf", "")), ErrorCode::kCorrupt, "is empty");
  expect_error(load_model(folder.write("a.txt", "hello")), ErrorCode::kCorrupt,
               "does not start with 'GGUF'");
  expect_error(load_model(folder.write("short", "GG")), ErrorCode::kCorrupt, "not start with");
  expect_error(load_model(folder.write("lfs.gguf", "version https://git-lfs.github.com/spec/v1\n")),
               ErrorCode::kCorrupt, "a git-lfs pointer");
  expect_error(load_model(folder.write("model.bin", "PK\x03\x04...")), ErrorCode::kUnsupported,
               "a PyTorch pickle");
  expect_error(load_model(folder.write("model.safetensors", tiny::safetensors().build())),
               ErrorCode::kUsage, "give the folder that holds it");
  expect_error(load_model(folder.path()), ErrorCode::kNotFound, "give the file");
  folder.write("config.json", tiny::config_json());
  folder.write("tokenizer.json", "{");
  expect_error(load_model(folder.path()), ErrorCode::kCorrupt, "tokenizer.json");
  folder.write("tokenizer.json", R"({"model":{"type":"WordPiece"}})");
  const auto model = load_model(folder.path());
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_NE((*model)->tokenizer_problem.find(folder.path().string() + ": tokenizer.json"),
            std::string::npos)
      << (*model)->tokenizer_problem;
}

std::shared_ptr<const Model> golden(const std::string& name) {
  const auto model = load_model(kGolden / name);
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return model ? *model : nullptr;
}

TEST(Golden, ShapesAndTypes) {
  struct Case {
    const char* name;
    int layers;
    bool tied;
    double base;
    bool llama3;
    size_t divisors;
    const char* types;
  };
  const Case cases[] = {
      {"llama_f32.gguf", 2, false, 10000, false, 0, "f32 16"},
      {"llama_f16.gguf", 2, false, 10000, false, 8, "f16 16"},
      {"llama_bf16.gguf", 3, false, 50000, false, 0, "bf16 23"},
      {"llama_q8_0.gguf", 3, true, 10000, false, 0, "q8_0 22"},
      {"llama_q4_0.gguf", 3, false, 10000, false, 0, "q4_0 23"},
      {"llama_q4_1.gguf", 3, false, 10000, false, 0, "q4_1 22, q8_0 1"},
      {"llama_hf_f32", 2, false, 10000, false, 0, "f32 16"},
      {"llama_hf_f16", 2, false, 50000, false, 0, "f16 16"},
      {"llama3_hf_bf16", 3, true, 10000, true, 0, "bf16 22"},
  };
  for (const Case& expected : cases) {
    SCOPED_TRACE(expected.name);
    const auto model = golden(expected.name);
    if (model == nullptr) continue;
    EXPECT_EQ(model->config.layers, expected.layers);
    EXPECT_EQ(model->config.heads, 4);
    EXPECT_EQ(model->config.kv_heads, 2);
    EXPECT_EQ(model->config.head_dim, 16);
    EXPECT_EQ(model->config.vocab, 320);
    EXPECT_EQ(model->tied, expected.tied);
    EXPECT_EQ(model->config.rope.base, expected.base);
    EXPECT_EQ(model->config.rope.scaling == RopeScaling::kLlama3, expected.llama3);
    EXPECT_EQ(model->config.rope.divisors.size(), expected.divisors);
    EXPECT_EQ(describe_weight_types(*model), expected.types);
    ASSERT_TRUE(model->tokenizer.has_value()) << model->tokenizer_problem;
    EXPECT_EQ(model->tokenizer->tokens.size(), 320u);
    EXPECT_EQ(model->tokenizer->bos, 1);
    EXPECT_EQ(model->tokenizer->eos, 2);
  }
}

// llama_hf_f32 and llama_f32.gguf hold the same numbers; GGUF's rows of q and k are permuted.
TEST(Golden, BothFormsHoldTheSameWeights) {
  const auto hf = golden("llama_hf_f32"), gguf = golden("llama_f32.gguf");
  ASSERT_TRUE(hf != nullptr && gguf != nullptr);
  const int half = hf->config.head_dim / 2;
  const auto row = [](const WeightMatrix& matrix, int64_t index) {
    std::vector<float> out(static_cast<size_t>(matrix.cols));
    matrix.dequantize_row(index, out.data());
    return out;
  };
  for (size_t l = 0; l < hf->layers.size(); ++l) {
    const LayerWeights &a = hf->layers[l], &b = gguf->layers[l];
    for (int64_t r = 0; r < a.query.rows; ++r) {
      const int64_t head = r / (2 * half), j = r % (2 * half);
      const int64_t permuted = head * 2 * half + j % half * 2 + j / half;
      EXPECT_EQ(row(a.query, r), row(b.query, permuted));
      if (r < a.key.rows) {
        EXPECT_EQ(row(a.key, r), row(b.key, permuted));
      }
    }
    for (int64_t r = 0; r < a.down.rows; ++r) EXPECT_EQ(row(a.down, r), row(b.down, r));
    EXPECT_EQ(a.attention_norm, b.attention_norm);
    EXPECT_EQ(a.ffn_norm, b.ffn_norm);
  }
  EXPECT_EQ(row(hf->output, 7), row(gguf->output, 7));
  EXPECT_EQ(hf->tokenizer->tokens, gguf->tokenizer->tokens);
  EXPECT_EQ(hf->tokenizer->merges, gguf->tokenizer->merges);
  EXPECT_EQ(hf->tokenizer->end_of_generation, gguf->tokenizer->end_of_generation);
  EXPECT_EQ(hf->tokenizer->chat_template, gguf->tokenizer->chat_template);
  EXPECT_EQ(hf->generation.temperature, 0.7f);
  EXPECT_EQ(hf->generation.top_p, 0.9f);
}

// A converter writes llama3's scaling as divisors; the frequencies come out the same.
TEST(Golden, Llama3ScalingEqualsItsDivisors) {
  const auto json = golden("llama3_hf_bf16"), gguf = golden("llama_f16.gguf");
  ASSERT_TRUE(json != nullptr && gguf != nullptr);
  const auto a = rope_regime(json->config.rope, 1).frequencies;
  const auto b = rope_regime(gguf->config.rope, 1).frequencies;
  ASSERT_EQ(a.size(), b.size());
  for (size_t j = 0; j < a.size(); ++j) EXPECT_NEAR(a[j] / b[j], 1, 1e-6) << j;
}

}  // namespace
}  // namespace looseleaf
