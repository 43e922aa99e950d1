#include "model/fingerprint.h"

#include <chrono>

#include "base/hash.h"
#include "model/tensor_hashes.h"
#include "tiny_safetensors.h"

namespace looseleaf {
namespace {

namespace fs = std::filesystem;

std::string fingerprint_of(const GgufBuilder& builder) {
  const TempFolder folder;
  const auto model = load_model(folder.write("model.gguf", builder.build()));
  EXPECT_TRUE(model.has_value()) << model.error().message;
  return model ? (*model)->fingerprint : "";
}

TEST(Fingerprint, ChangesWithWhatChangesTheAnswer) {
  const std::string same = fingerprint_of(tiny::gguf());
  EXPECT_EQ(same.size(), 64u);
  EXPECT_EQ(fingerprint_of(tiny::gguf()), same);

  std::set<std::string> seen = {same};
  const auto expect_new = [&](const char* what, const GgufBuilder& builder) {
    EXPECT_TRUE(seen.insert(fingerprint_of(builder)).second) << what;
  };
  for (size_t i = 0; i < tiny::gguf().tensors.size(); ++i) {
    GgufBuilder builder = tiny::gguf();
    builder.tensors[i].bytes[5] ^= 1;
    expect_new(builder.tensors[i].name.c_str(), builder);
  }
  GgufBuilder builder = tiny::gguf();
  builder.set_f32("llama.rope.freq_base", 9999);
  expect_new("rope base", builder);
  builder = tiny::gguf();
  builder.set_f32("llama.attention.layer_norm_rms_epsilon", 2e-5f);
  expect_new("eps", builder);
  builder = tiny::gguf();
  builder.set_strings("tokenizer.ggml.merges", {"b a"});
  expect_new("merges", builder);
  builder = tiny::gguf();
  builder.remove_tensor("output.weight");
  expect_new("tied", builder);
}

TEST(Fingerprint, IsBlindToWhatDoesNot) {
  GgufBuilder builder = tiny::gguf();
  builder.set_string("general.name", "other");
  builder.set_string("tokenizer.chat_template", "{{ x }}");
  builder.set_u32("llama.context_length", 4096);
  std::swap(builder.tensors[3], builder.tensors[7]);
  EXPECT_EQ(fingerprint_of(builder), fingerprint_of(tiny::gguf()));
}

class Sidecar : public testing::Test {
 protected:
  Sidecar() { set_age(10); }

  // Files of this moment have no sidecar.
  void set_age(int seconds) const {
    fs::last_write_time(path_, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  }
  // The hash of bytes [4, 8), with whatever sidecar there is.
  uint64_t hash() const {
    const std::vector files = {map_file(path_)};
    TensorHashes hashes(files, 0);
    const uint64_t value = hashes.hash(files[0]->bytes().subspan(4, 4));
    hashes.save();
    return value;
  }
  static uint64_t hash_of(std::string_view text) { return xxh3(std::as_bytes(std::span(text))); }
  void write_sidecar(const std::string& text) const {
    folder_.write("model.gguf.looseleaf-hashes", text);
  }
  // With another hash in the only range, and a right check line.
  static std::string forged(std::string text) {
    text.resize(text.rfind("check "));
    text.replace(text.size() - 17, 16, "00000000000000ff");
    return text + fmt::format("check {:016x}\n", hash_of(text));
  }

  TempFolder folder_;
  fs::path path_ = folder_.write("model.gguf", "0123abcd4567");
  fs::path sidecar_ = path_.string() + ".looseleaf-hashes";
};

TEST_F(Sidecar, IsWrittenOnceAndUsed) {
  EXPECT_EQ(hash(), hash_of("abcd"));
  const std::string text = read_file(sidecar_);
  EXPECT_EQ(text.find("looseleaf-hashes 1\nfile 12 "), 0u);
  EXPECT_EQ(hash(), hash_of("abcd"));
  EXPECT_EQ(read_file(sidecar_), text);
  write_sidecar(forged(text));
  EXPECT_EQ(hash(), 255u) << "the sidecar was not read";
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 2) << "left-over files";
}

TEST_F(Sidecar, OfAnotherTimeOrSizeIsIgnored) {
  hash();
  const std::string text = forged(read_file(sidecar_));
  write_sidecar(text);
  set_age(20);
  EXPECT_EQ(hash(), hash_of("abcd"));
  EXPECT_NE(read_file(sidecar_), text);

  const auto time = fs::last_write_time(path_);
  write_sidecar(forged(read_file(sidecar_)));
  folder_.write("model.gguf", "0123abcd45678");
  fs::last_write_time(path_, time);
  EXPECT_EQ(hash(), hash_of("abcd"));
}

TEST_F(Sidecar, CutOrChangedAnywhereIsIgnored) {
  hash();
  const std::string text = forged(read_file(sidecar_));
  for (size_t i = 0; i < text.size(); ++i) {
    write_sidecar(text.substr(0, i));
    ASSERT_EQ(hash(), hash_of("abcd")) << "cut after " << i;
    std::string changed = text;
    changed[i] ^= 1;
    write_sidecar(changed);
    ASSERT_EQ(hash(), hash_of("abcd")) << "changed at " << i;
  }
}

TEST_F(Sidecar, IsNotWrittenForAFileOfThisMoment) {
  set_age(0);
  EXPECT_EQ(hash(), hash_of("abcd"));
  EXPECT_FALSE(fs::exists(sidecar_));
}

TEST_F(Sidecar, FolderThatCannotBeWrittenIsNoError) {
  fs::create_directory(sidecar_);  // a rename over it fails, for root too
  EXPECT_EQ(hash(), hash_of("abcd"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 2) << "left-over files";
}

TEST_F(Sidecar, SmallModelsHaveNone) {
  const auto path = folder_.write("tiny.gguf", tiny::gguf().build());
  fs::last_write_time(path, fs::last_write_time(path_));
  ASSERT_TRUE(load_model(path).has_value());
  EXPECT_FALSE(fs::exists(path.string() + ".looseleaf-hashes"));
}

}  // namespace
}  // namespace looseleaf
