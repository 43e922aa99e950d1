// Files cut anywhere and bytes changed anywhere: an error or a model, never a crash. Worth running
// under -fsanitize=address,undefined.
#include <random>

#include "model/model.h"
#include "tiny_families.h"
#include "tiny_safetensors.h"

namespace looseleaf {
namespace {

constexpr int kFlips = 2000;

// Touches everything that a loaded model points to.
void use(const Model& model) {
  std::vector<float> row(static_cast<size_t>(std::max(model.config.hidden, model.config.ffn)));
  double sum = 0;
  for (const LayerWeights& layer : model.layers) {
    for (const WeightMatrix* matrix : {&layer.query, &layer.key, &layer.value, &layer.gate,
                                       &layer.up, &model.embedding, &model.output}) {
      matrix->dequantize_row(matrix->rows - 1, row.data());
      sum += row[0];
    }
  }
  for (const int tokens : {1, INT32_MAX})
    sum += rope_regime(model.config.rope, tokens).frequencies[0];
  EXPECT_FALSE(model.fingerprint.empty()) << sum;
}

void expect_model_or_message(const std::filesystem::path& path) {
  const auto model = load_model(path);
  if (model) {
    use(**model);
    return;
  }
  EXPECT_FALSE(model.error().message.empty());
  EXPECT_EQ(model.error().message.find('\n'), std::string::npos) << model.error().message;
}

// Where to flip next: mostly in the header, which is small beside the data.
size_t choose(size_t header, size_t size, std::mt19937& random) {
  return random() % 8 != 0 ? random() % header : random() % size;
}

TEST(Hostile, GgufCutAtEveryByte) {
  const TempFolder folder;
  const std::string bytes = tiny::gguf().build();
  const auto path = folder.write("model.gguf", bytes);
  ASSERT_TRUE(load_model(path).has_value());
  for (size_t size = bytes.size(); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    const auto model = load_model(path);
    ASSERT_FALSE(model.has_value()) << "cut after " << size;
    ASSERT_EQ(model.error().message.find('\n'), std::string::npos);
  }
}

void load_with_changed_bytes(GgufBuilder builder, unsigned seed) {
  const TempFolder folder;
  const std::string bytes = builder.build();
  builder.tensors.clear();
  const size_t header = builder.build().size() + 600;  // with the tensor table
  std::mt19937 random(seed);
  for (int i = 0; i < kFlips; ++i) {
    std::string changed = bytes;
    for (unsigned flips = random() % 3 + 1; flips > 0; --flips)
      changed[choose(header, bytes.size(), random)] ^= static_cast<char>(1u << random() % 8);
    expect_model_or_message(folder.write("changed.gguf", changed));
  }
}

TEST(Hostile, GgufWithChangedBytes) { load_with_changed_bytes(tiny::gguf(), 1); }

TEST(Hostile, GgufOfOtherFamiliesWithChangedBytes) {
  load_with_changed_bytes(tiny::phi3_long_rope(), 4);
  GgufBuilder yarn = tiny::qwen3();
  yarn.set_string("qwen3.rope.scaling.type", "yarn");
  yarn.set_f32("qwen3.rope.scaling.factor", 4);
  yarn.set_u32("qwen3.rope.scaling.original_context_length", 64);
  load_with_changed_bytes(yarn, 5);
}

// One tensor in blocks of 256: its sizes are no longer those of single numbers.
TEST(Hostile, GgufOfLargeBlocksWithChangedBytes) {
  std::mt19937 random(6);
  for (const char* name : {"q2_K", "q3_K", "q4_K", "q5_K", "q6_K"}) {
    const WeightType* type = nullptr;
    for (const WeightType* known : weight_types())
      if (known->name == name) type = known;
    GgufBuilder builder = tiny::gguf();
    builder.set_u32("llama.embedding_length", 256);
    builder.set_u32("llama.attention.key_length", tiny::kHeadDim);
    builder.tensors.clear();
    for (const tiny::Shape& shape : tiny::weights()) {
      std::vector<uint64_t> dims(shape.dims.rbegin(), shape.dims.rend());
      const bool narrows = shape.gguf == "blk.0.attn_output" || shape.gguf == "blk.0.ffn_down";
      dims[narrows ? 1 : 0] = 256;  // the hidden size, innermost in all but these two
      if (shape.gguf == "token_embd") {
        builder.add("token_embd.weight", dims, static_cast<uint32_t>(type->gguf_id),
                    std::string(static_cast<size_t>(type->block_bytes) * tiny::kVocab, '\1'));
        continue;
      }
      builder.add(shape.gguf + ".weight", dims, tiny::kF32Id, tiny::floats(tiny::count(dims), 1));
    }
    const TempFolder folder;
    const auto model = load_model(folder.write("model.gguf", builder.build()));
    ASSERT_TRUE(model.has_value()) << model.error().message;
    use(**model);
    load_with_changed_bytes(builder, static_cast<unsigned>(random()));
  }
}

TEST(Hostile, SafetensorsCutAtEveryByte) {
  const TempFolder folder;
  folder.write("config.json", tiny::config_json());
  const std::string bytes = tiny::safetensors().build();
  const auto path = folder.write("model.safetensors", bytes);
  ASSERT_TRUE(load_model(folder.path()).has_value());
  for (size_t size = bytes.size(); size-- > 0;) {
    std::filesystem::resize_file(path, size);
    ASSERT_FALSE(load_model(folder.path()).has_value()) << "cut after " << size;
  }
}

TEST(Hostile, SafetensorsWithChangedBytes) {
  const TempFolder folder;
  folder.write("config.json", tiny::config_json());
  const std::string bytes = tiny::safetensors().build();
  const size_t header = bytes.size() - tiny::safetensors().data.size();
  std::mt19937 random(2);
  for (int i = 0; i < kFlips; ++i) {
    std::string changed = bytes;
    changed[choose(header, bytes.size(), random)] ^= static_cast<char>(1u << random() % 8);
    folder.write("model.safetensors", changed);
    expect_model_or_message(folder.path());
  }
}

TEST(Hostile, RopeOfTheConfigChanged) {
  const TempFolder folder;
  folder.write("model.safetensors", tiny::safetensors().build());
  std::mt19937 random(7);
  for (const std::string rope :
       {R"("rope_theta":1e4,"rope_scaling":{"type":"yarn","factor":4.0,"beta_fast":32,)"
        R"("beta_slow":1,"original_max_position_embeddings":64,"attention_factor":1.1},)",
        R"("rope_parameters":{"rope_theta":1e4,"rope_type":"longrope","short_factor":[1.0,2],)"
        R"("long_factor":[1.5,16],"original_max_position_embeddings":32},)",
        R"("rope_scaling":{"type":"dynamic","factor":2.0},"sliding_window":null,)"}) {
    const std::string config = tiny::config_json(rope);
    folder.write("config.json", config);
    ASSERT_TRUE(load_model(folder.path()).has_value());
    for (int i = 0; i < kFlips; ++i) {
      std::string changed = config;
      for (unsigned flips = random() % 2 + 1; flips > 0; --flips)
        changed[random() % rope.size()] ^= static_cast<char>(1u << random() % 8);
      folder.write("config.json", changed);
      expect_model_or_message(folder.path());
    }
  }
}

TEST(Hostile, ConfigCutAndChanged) {
  const TempFolder folder;
  folder.write("model.safetensors", tiny::safetensors().build());
  const std::string config = tiny::config_json();
  for (size_t size = 0; size < config.size(); ++size) {
    folder.write("config.json", config.substr(0, size));
    ASSERT_FALSE(load_model(folder.path()).has_value()) << "cut after " << size;
  }
  std::mt19937 random(3);
  for (int i = 0; i < kFlips; ++i) {
    std::string changed = config;
    changed[random() % changed.size()] ^= static_cast<char>(1u << random() % 8);
    folder.write("config.json", changed);
    expect_model_or_message(folder.path());
  }
}

}  // namespace
}  // namespace looseleaf
