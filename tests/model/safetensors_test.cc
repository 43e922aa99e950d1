#include "model/safetensors.h"

#include <functional>

#include "tiny_safetensors.h"

namespace looseleaf {
namespace {

constexpr auto kCorrupt = ErrorCode::kCorrupt;
constexpr auto kUnsupported = ErrorCode::kUnsupported;
constexpr auto kNotFound = ErrorCode::kNotFound;

Status read(const std::string& bytes) {
  const TempFolder folder;
  const auto file = map_file(folder.write("model.safetensors", bytes));
  TensorTable table;
  return read_safetensors(*file, table);
}

TEST(Safetensors, TensorsLieWhereTheHeaderSays) {
  SafetensorsBuilder builder = tiny::safetensors();
  builder.add("half", {3}, "123456", "BF16");
  builder.add("scalar", {}, "1234");
  const TempFolder folder;
  // Headers are often padded with blanks.
  const auto file =
      map_file(folder.write("model.safetensors", builder.with_header(builder.header() + "   ")));
  TensorTable table;
  const auto status = read_safetensors(*file, table);
  ASSERT_TRUE(status.has_value()) << status.error().message;
  EXPECT_EQ(table.tensors().size(), builder.entries.size());
  for (const auto& entry : builder.entries) {
    const StoredTensor* tensor = table.find(entry.name);
    ASSERT_NE(tensor, nullptr) << entry.name;
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(tensor->data.data()), tensor->data.size()),
              builder.data.substr(entry.begin, entry.end - entry.begin));
  }
  EXPECT_EQ(table.find("half")->type->name, "bf16");
  EXPECT_EQ(table.find("scalar")->rank, 0);
}

struct Broken {
  const char* what;
  ErrorCode code;
  const char* part;
  std::function<void(SafetensorsBuilder&)> damage;
};

TEST(Safetensors, EachDefectOfAnEntryIsNamed) {
  const std::vector<Broken> cases = {
      {"dtype", kUnsupported, "tensor 'model.embed_tokens.weight': dtype 'F8_E4M3' is not read",
       [](auto& b) { b.entries[0].dtype = "F8_E4M3"; }},
      {"negative dimension", kCorrupt, "shape[1] is an integer, not a whole number from 0",
       [](auto& b) { b.entries[0].shape = "[8,-8]"; }},
      {"fraction", kCorrupt, "shape[0] is a number with a fraction, not a whole number",
       [](auto& b) { b.entries[0].shape = "[8.5,8]"; }},
      {"beyond 63 bits", kCorrupt, "shape[0] is an integer, not a whole number from 0",
       [](auto& b) { b.entries[0].shape = "[9223372036854775808]"; }},
      {"zero", kCorrupt, "a dimension is 0", [](auto& b) { b.entries[0].shape = "[0,8]"; }},
      {"overflow", kCorrupt, "overflows 64 bits",
       [](auto& b) { b.entries[0].shape = "[4294967296,4294967296,2]"; }},
      {"five dimensions", kUnsupported, "shape has 5 numbers, more than 4",
       [](auto& b) { b.entries[0].shape = "[1,1,1,8,8]"; }},
      {"no shape", kCorrupt, "shape is missing", [](auto& b) { b.entries[0].shape = "null"; }},
      {"another size", kCorrupt, "256 bytes of data for F32 [8, 4], which takes 128",
       [](auto& b) { b.entries[0].shape = "[8,4]"; }},
      {"end before begin", kCorrupt, "'data_offsets' are not",
       [](auto& b) { std::swap(b.entries[0].begin, b.entries[0].end); }},
      {"overlap", kCorrupt, "begins at data offset",
       [](auto& b) { b.entries[1].begin -= 4, b.entries[1].end -= 4; }},
      {"hole", kCorrupt, "begins at data offset 4 where the one before ends at 0",
       [](auto& b) {
         for (auto& e : b.entries) e.begin += 4, e.end += 4;
         b.data += "1234";
       }},
      {"rest", kCorrupt, "3 bytes behind the last tensor", [](auto& b) { b.data += "123"; }},
      {"cut", kCorrupt, "the file is cut", [](auto& b) { b.data.pop_back(); }},
      {"same name", kCorrupt, "the key \"lm_head.weight\" stands here twice",
       [](auto& b) { b.entries[0].name = b.entries[1].name; }},
      {"same name, escaped", kCorrupt, "the key \"lm_head.weight\" stands here twice",
       [](auto& b) { b.entries[0].name = "lm\\u005fhead.weight"; }},
      {"entry of no object", kCorrupt, "tensor 'x': its header entry is not an object",
       [](auto& b) { b.extra = R"("x":[],)"; }},
      {"control characters in a name", kCorrupt, "tensor '\\x0a'",
       [](auto& b) { b.extra = R"("\n":[],)"; }},
  };
  for (const Broken& broken : cases) {
    SCOPED_TRACE(broken.what);
    SafetensorsBuilder builder = tiny::safetensors();
    broken.damage(builder);
    expect_error(read(builder.build()), broken.code, broken.part);
  }
}

TEST(Safetensors, EachDefectOfTheHeaderIsNamed) {
  const SafetensorsBuilder builder = tiny::safetensors();
  const std::string header = builder.header();
  expect_error(read("1234567"), kCorrupt, "7 bytes cannot hold a safetensors header");
  expect_error(read("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"), kCorrupt,
               "a git-lfs pointer");
  expect_error(read(raw(UINT64_MAX) + header), kCorrupt, "a header of 18446744073709551615 bytes");
  expect_error(read(raw(uint64_t{100}) + "{}"), kCorrupt, "a header of 100 bytes does not fit");
  expect_error(read(builder.with_header(header.substr(1))), kCorrupt, "not valid JSON");
  expect_error(read(builder.with_header("[]")), kCorrupt, "is not a JSON object");
  expect_error(read(builder.with_header(header + "x")), kCorrupt, "not valid JSON");
  expect_error(read(builder.with_header("{\"\xFF\":1}")), kCorrupt, "not valid JSON");
  std::string deep;
  for (int i = 0; i < 100; ++i) deep += "{\"a\":";
  expect_error(read(builder.with_header(deep)), kCorrupt, "not valid JSON");
  expect_error(read(builder.with_header(std::string(1 << 20, '['))), kCorrupt, "not valid JSON");
}

// The tiny model in two shards and its index.
struct Sharded {
  TempFolder folder;
  std::string index;

  Sharded() {
    SafetensorsBuilder shards[2];
    std::string map;
    int i = 0;
    for (const auto& shape : tiny::weights()) {
      const int shard = i++ % 2;
      const std::string name = shape.hf + ".weight";
      shards[shard].add(name, shape.dims, tiny::floats(tiny::count(shape.dims), 1));
      map += fmt::format("{}\"{}\":\"{}.safetensors\"", map.empty() ? "" : ",", name, shard);
    }
    folder.write("0.safetensors", shards[0].build());
    folder.write("1.safetensors", shards[1].build());
    index = fmt::format(R"({{"metadata":{{"total_size":1}},"weight_map":{{{}}}}})", map);
  }
  Expected<SafetensorsFolder> read_with(const std::string& text) const {
    folder.write("model.safetensors.index.json", text);
    return read_safetensors_folder(folder.path());
  }
  std::string changed(std::string_view from, std::string_view to) const {
    std::string text = index;
    return text.replace(text.find(from), from.size(), to);
  }
};

TEST(SafetensorsFolder, ShardsAreReadTogether) {
  const Sharded sharded;
  const auto read = sharded.read_with(sharded.index);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->files.size(), 2u);
  EXPECT_EQ(read->tensors.tensors().size(), tiny::weights().size());
}

TEST(SafetensorsFolder, IndexMustTellTheTruth) {
  const Sharded sharded;
  for (const char* outside :
       {"../0.safetensors", "/etc/passwd", "a\\\\b", "..", ".", "", "a\\u0000b"})
    expect_error(sharded.read_with(sharded.changed("0.safetensors", outside)), kCorrupt,
                 "is not the name of a file beside it");
  expect_error(sharded.read_with(sharded.changed("\"0.safetensors\"", "7")), kCorrupt,
               "is not the name of a file beside it");
  expect_error(sharded.read_with(sharded.changed("0.safetensors", "2.safetensors")), kNotFound,
               "shard '2.safetensors' is missing");
  expect_error(sharded.read_with(sharded.changed("0.safetensors", "1.safetensors")), kCorrupt,
               "tensor 'model.embed_tokens.weight' is not in '1.safetensors'");
  expect_error(sharded.read_with(sharded.changed("lm_head", "lm_tail")), kCorrupt,
               "tensor 'lm_tail.weight' is not in");
  expect_error(sharded.read_with(sharded.changed("\"lm_head.weight\":\"1.safetensors\",", "")),
               kCorrupt, "tensor 'lm_head.weight': model.safetensors.index.json does not name it");
  expect_error(sharded.read_with("{}"), kCorrupt, "weight_map is missing");
  expect_error(sharded.read_with(sharded.changed("model.norm", "lm_head")), kCorrupt,
               "stands here twice");
}

TEST(SafetensorsFolder, OneTensorInTwoShards) {
  const Sharded sharded;
  SafetensorsBuilder again;
  again.add("lm_head.weight", {1}, "1234");
  again.add("extra", {1}, "1234");
  sharded.folder.write("2.safetensors", again.build());
  expect_error(sharded.read_with(sharded.changed("\"weight_map\":{",
                                                 "\"weight_map\":{\"extra\":\"2.safetensors\",")),
               kCorrupt, "tensor 'lm_head.weight': the same name stands in");
}

TEST(SafetensorsFolder, WhatIsMissingIsNamed) {
  const TempFolder folder;
  expect_error(read_safetensors_folder(folder.path()), kNotFound,
               "holds neither model.safetensors");
  folder.write("pytorch_model.bin", "x");
  expect_error(read_safetensors_folder(folder.path()), kUnsupported, "PyTorch pickles only");
  // A link into a cache that was cleared.
  std::filesystem::create_symlink("/nowhere/blob", folder.path() / "model.safetensors");
  expect_error(read_safetensors_folder(folder.path()), kNotFound, "cannot be opened");
}

}  // namespace
}  // namespace looseleaf
