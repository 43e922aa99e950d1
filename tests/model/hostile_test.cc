// Files cut anywhere and bytes changed anywhere: an error or a model, never a crash. Worth running
// under -fsanitize=address,undefined.
#include <random>

#include "model/model.h"
#include "tiny_llama.h"
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

TEST(Hostile, GgufWithChangedBytes) {
  const TempFolder folder;
  GgufBuilder builder = tiny::gguf();
  const size_t size = builder.build().size();
  builder.tensors.clear();
  const size_t header = builder.build().size() + 600;  // with the tensor table
  const std::string bytes = tiny::gguf().build();
  std::mt19937 random(1);
  for (int i = 0; i < kFlips; ++i) {
    std::string changed = bytes;
    for (unsigned flips = random() % 3 + 1; flips > 0; --flips)
      changed[choose(header, size, random)] ^= static_cast<char>(1u << random() % 8);
    expect_model_or_message(folder.write("changed.gguf", changed));
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
