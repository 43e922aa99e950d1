#include "model/gguf.h"

#include <functional>

#include "tiny_llama.h"

namespace looseleaf {
namespace {

Expected<GgufFile> read(const std::string& bytes) {
  const TempFolder folder;
  return GgufFile::read(map_file(folder.write("model.gguf", bytes)));
}

// A file with one entry of each kind.
GgufFile example() {
  GgufBuilder builder;
  builder.set("u8", GgufType::kU8, uint8_t{200});
  builder.set("i8", GgufType::kI8, int8_t{-5});
  builder.set("u16", GgufType::kU16, uint16_t{60000});
  builder.set("i32", GgufType::kI32, int32_t{-70000});
  builder.set_u32("u32", 4000000000u);
  builder.set("u64", GgufType::kU64, uint64_t{1} << 40);
  builder.set("i64", GgufType::kI64, int64_t{-1});
  builder.set_f32("f32", 0.1f);
  builder.set("f64", GgufType::kF64, 0.1);
  builder.set_bool("yes", true);
  builder.set_string("text", "h\xC3\xA9llo");
  builder.set_strings("texts", {"a", "", "c d"});
  builder.set_numbers<int32_t>("ints", GgufType::kI32, {1, -2, 3});
  builder.set_numbers<float>("floats", GgufType::kF32, {0.5f});
  auto file = read(builder.build());
  EXPECT_TRUE(file.has_value()) << file.error().message;
  return std::move(*file);
}

TEST(Gguf, NumbersConvertWhereTheyFit) {
  const GgufFile file = example();
  EXPECT_EQ(*file.get<uint32_t>("u8"), 200u);
  EXPECT_EQ(*file.get<int32_t>("i8"), -5);
  EXPECT_EQ(*file.get<int64_t>("u16"), 60000);
  EXPECT_EQ(*file.get<int32_t>("i32"), -70000);
  EXPECT_EQ(*file.get<uint32_t>("u32"), 4000000000u);
  EXPECT_EQ(*file.get<uint64_t>("u64"), uint64_t{1} << 40);
  EXPECT_EQ(*file.get<float>("f32"), 0.1f);
  EXPECT_EQ(*file.get<double>("f32"), static_cast<double>(0.1f));
  EXPECT_EQ(*file.get<double>("f64"), 0.1);
  EXPECT_TRUE(*file.get<bool>("yes"));
  expect_error(file.get<int32_t>("u32"), ErrorCode::kCorrupt, "'u32' is 4000000000, outside");
  expect_error(file.get<uint32_t>("i64"), ErrorCode::kCorrupt, "'i64' is -1, outside 0 to");
  expect_error(file.get<uint32_t>("f32"), ErrorCode::kCorrupt, "'f32' is f32, not an integer");
  expect_error(file.get<float>("u32"), ErrorCode::kCorrupt, "is u32, not a floating-point number");
  expect_error(file.get<bool>("u8"), ErrorCode::kCorrupt, "is u8, not bool");
  expect_error(file.get<uint32_t>("yes"), ErrorCode::kCorrupt, "is bool, not an integer");
  expect_error(file.get<uint32_t>("none"), ErrorCode::kCorrupt, "has no 'none'");
}

TEST(Gguf, StringsAndArraysAreViews) {
  const GgufFile file = example();
  EXPECT_EQ(*file.get<std::string_view>("text"), "h\xC3\xA9llo");
  const auto texts = *file.get<std::span<const std::string_view>>("texts");
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[2], "c d");
  const auto ints = *file.get<GgufNumbers<int32_t>>("ints");
  ASSERT_EQ(ints.size(), 3u);
  EXPECT_EQ(ints[1], -2);
  EXPECT_EQ((*file.get<GgufNumbers<float>>("floats"))[0], 0.5f);
  expect_error(file.get<GgufNumbers<float>>("ints"), ErrorCode::kCorrupt,
               "is array of i32, not an array of f32");
  expect_error(file.get<std::string_view>("texts"), ErrorCode::kCorrupt,
               "is array of string, not a string");
  expect_error(file.get<std::span<const std::string_view>>("ints"), ErrorCode::kCorrupt,
               "not an array of strings");
}

TEST(Gguf, FindTellsMissingFromWrong) {
  const GgufFile file = example();
  EXPECT_FALSE(file.find<bool>("none")->has_value());
  EXPECT_TRUE(**file.find<bool>("yes"));
  expect_error(file.find<bool>("text"), ErrorCode::kCorrupt, "not bool");
}

TEST(Gguf, TensorsLieWhereTheTableSays) {
  for (const uint32_t version : {2u, 3u}) {
    GgufBuilder builder = tiny::gguf();
    builder.version = version;
    builder.alignment = 64;
    builder.set_u32("general.alignment", 64);
    builder.add("mixed", {64, 3, 2}, 8, std::string(6 * 68, 'x'));
    const TempFolder folder;
    const auto file = GgufFile::read(map_file(folder.write("m.gguf", builder.build())));
    ASSERT_TRUE(file.has_value()) << file.error().message;
    EXPECT_EQ(file->version(), version);
    for (const auto& expected : builder.tensors) {
      const StoredTensor* tensor = file->tensors().find(expected.name);
      ASSERT_NE(tensor, nullptr) << expected.name;
      EXPECT_EQ(
          std::string(reinterpret_cast<const char*>(tensor->data.data()), tensor->data.size()),
          expected.bytes);
      EXPECT_EQ((tensor->data.data() - file->files().front()->bytes().data()) % 64, 0);
    }
    EXPECT_EQ(file->tensors().find("mixed")->shape_text(), "[2, 3, 64]");
    EXPECT_EQ(file->tensors().find("mixed")->type->name, "q8_0");
    EXPECT_EQ(file->tensors().find("none"), nullptr);
  }
}

TEST(Gguf, VocabularyAloneIsAFile) {
  GgufBuilder builder = tiny::gguf();
  builder.tensors.clear();
  EXPECT_TRUE(read(builder.build()).has_value());
}

struct Broken {
  const char* what;
  ErrorCode code;
  const char* part;  // of the message
  std::function<void(GgufBuilder&)> damage;
};

TEST(Gguf, EachDefectIsNamed) {
  constexpr auto kCorrupt = ErrorCode::kCorrupt;
  constexpr auto kUnsupported = ErrorCode::kUnsupported;
  const auto first = [](GgufBuilder & b) -> auto& { return b.tensors[0]; };
  const std::vector<Broken> cases = {
      {"magic", kCorrupt, "not a GGUF file", [](auto& b) { b.magic = "GGML"; }},
      {"version 0", kUnsupported, "GGUF version 0", [](auto& b) { b.version = 0; }},
      {"version 1", kUnsupported, "GGUF version 1", [](auto& b) { b.version = 1; }},
      {"version 4", kUnsupported, "GGUF version 4", [](auto& b) { b.version = 4; }},
      {"big-endian", kUnsupported, "big-endian", [](auto& b) { b.version = 3u << 24; }},
      {"big-endian 2", kUnsupported, "big-endian", [](auto& b) { b.version = 2u << 24; }},
      {"more tensors", kCorrupt, "tensor", [](auto& b) { b.tensor_count = b.tensors.size() + 1; }},
      {"endless tensors", kCorrupt, "18446744073709551615 tensors do not fit",
       [](auto& b) { b.tensor_count = UINT64_MAX; }},
      {"endless entries", kCorrupt, "18446744073709551615 metadata entries do not fit",
       [](auto& b) { b.entry_count = UINT64_MAX; }},
      {"entry twice", kCorrupt, "'general.name' stands there twice",
       [](auto& b) { b.entries.push_back(b.entries[1]); }},
      {"unknown type", kCorrupt, "'x' has the unknown type 13",
       [](auto& b) { b.set_raw("x", 13, "1234"); }},
      {"bool of 2", kCorrupt, "'x' is 2, not 0 or 1",
       [](auto& b) { b.set("x", GgufType::kBool, uint8_t{2}); }},
      {"endless string", kCorrupt, "metadata 'x' needs 18446744073709551615 bytes",
       [](auto& b) { b.set_raw("x", 8, raw(UINT64_MAX)); }},
      {"endless array", kCorrupt, "'x' has 4611686018427387905 elements",
       [](auto& b) { b.set_raw("x", 9, b.array_start(GgufType::kI32, (1ull << 62) + 1)); }},
      {"endless array of strings", kCorrupt, "'x' has 2305843009213693953 elements",
       [](auto& b) { b.set_raw("x", 9, b.array_start(GgufType::kString, (1ull << 61) + 1)); }},
      {"array of arrays", kUnsupported, "'x' is an array of arrays",
       [](auto& b) { b.set_raw("x", 9, b.array_start(GgufType::kArray, 1)); }},
      {"array of unknown", kCorrupt, "'x' is an array of the unknown type 77",
       [](auto& b) { b.set_raw("x", 9, b.array_start(static_cast<GgufType>(77), 1)); }},
      {"control characters in a key", kCorrupt, "'a\\x0a\\x1b'",
       [](auto& b) { b.set_raw("a\n\x1b", 99, ""); }},
      {"alignment 0", kCorrupt, "'general.alignment' is 0",
       [](auto& b) { b.set_u32("general.alignment", 0); }},
      {"alignment 1", kCorrupt, "'general.alignment' is 1, not a power of two from 8 on",
       [](auto& b) { b.set_u32("general.alignment", 1); }},
      {"alignment 3", kCorrupt, "'general.alignment' is 3, not a power of two",
       [](auto& b) { b.set_u32("general.alignment", 3); }},
      {"alignment 2^31", kCorrupt, "data offset 256 is no multiple of the alignment 2147483648",
       [](auto& b) { b.set_u32("general.alignment", 1u << 31); }},
      {"alignment 24", kCorrupt, "'general.alignment' is 24, not a power of two",
       [](auto& b) { b.set_u32("general.alignment", 24); }},
      {"alignment text", kCorrupt, "'general.alignment' is string",
       [](auto& b) { b.set_string("general.alignment", "32"); }},
      {"no dimensions", kCorrupt, "'token_embd.weight': 0 dimensions",
       [&](auto& b) { first(b).shape = {}; }},
      {"five dimensions", kCorrupt, "5 dimensions",
       [&](auto& b) {
         first(b).shape = {2, 2, 2, 2, 4};
       }},
      {"nine dimensions", kCorrupt, "9 dimensions, not 1 to 4",
       [&](auto& b) { first(b).shape = {2, 2, 2, 2, 2, 2, 2, 2, 4}; }},
      {"endless dimensions", kCorrupt, "4294967295 dimensions",
       [&](auto& b) {
         // One tensor whose rank is a lie; what the builder writes behind it is not reached.
         b.magic = "GGUF" + raw(3u) + raw(uint64_t{1}) + raw(uint64_t{0}) + gguf_string("x") +
                   raw(UINT32_MAX) + std::string(64, '\0');
       }},
      {"dimension 0", kCorrupt, "a dimension is 0", [&](auto& b) { first(b).shape[1] = 0; }},
      {"dimension beyond 63 bits", kCorrupt, "a dimension is 9223372036854775808",
       [&](auto& b) { first(b).shape[1] = 1ull << 63; }},
      {"product overflows", kCorrupt, "overflows 64 bits",
       [&](auto& b) {
         first(b).shape = {1ull << 32, 1ull << 32, 2};
       }},
      {"bytes overflow", kCorrupt, "overflows 63 bits",
       [&](auto& b) { first(b).shape = {1ull << 62}; }},
      {"weight type q8_K", kUnsupported, "weight type 15 (q8_K) is not read",
       [&](auto& b) { first(b).type = 15; }},
      {"weight type mxfp4", kUnsupported, "weight type 39 (mxfp4) is not read",
       [&](auto& b) { first(b).type = 39; }},
      {"weight type 200", kUnsupported, "weight type 200 (unknown) is not read",
       [&](auto& b) { first(b).type = 200; }},
      {"weight type unknown", kUnsupported, "weight type 4294967295 (unknown)",
       [&](auto& b) { first(b).type = UINT32_MAX; }},
      {"part of a block", kCorrupt, "no multiple of q4_0's block of 32",
       [&](auto& b) {
         first(b).type = 2;
         first(b).shape = {48, 8};
       }},
      {"misaligned", kCorrupt, "data offset 8 is no multiple",
       [&](auto& b) { first(b).offset = 8; }},
      {"past the end", kCorrupt, "end past the file's",
       [&](auto& b) { b.tensors.back().shape[1] *= 2; }},
      {"far past the end", kCorrupt, "end past the file's",
       [&](auto& b) { b.tensors.back().offset = UINT64_MAX - 31; }},
      {"overlap", kCorrupt, "overlaps another tensor", [](auto& b) { b.tensors[1].offset = 0; }},
      {"name twice", kCorrupt, "'token_embd.weight': the same name stands in",
       [](auto& b) { b.tensors[1].name = b.tensors[0].name; }},
  };
  for (const Broken& broken : cases) {
    SCOPED_TRACE(broken.what);
    GgufBuilder builder = tiny::gguf();
    broken.damage(builder);
    expect_error(read(builder.build()), broken.code, broken.part);
  }
}

// Every count, length, extent and offset at the sizes where arithmetic goes wrong. Nothing is
// allocated for what the file cannot hold: these would be gigabytes.
TEST(Gguf, NumbersThatNoFileCanHold) {
  for (const uint64_t huge : std::initializer_list<uint64_t>{
           1ull << 31, 1ull << 32, 1ull << 62, (1ull << 63) - 1, 1ull << 63, UINT64_MAX}) {
    SCOPED_TRACE(huge);
    const std::string text = fmt::to_string(huge);
    const auto refused = [&](const std::string& part, auto damage) {
      GgufBuilder builder = tiny::gguf();
      damage(builder);
      expect_error(read(builder.build()), ErrorCode::kCorrupt, part);
    };
    refused(text + " tensors do not fit", [&](auto& b) { b.tensor_count = huge; });
    refused(text + " metadata entries do not fit", [&](auto& b) { b.entry_count = huge; });
    refused("metadata 'x' needs " + text + " bytes",
            [&](auto& b) { b.set_raw("x", 8, raw(huge)); });
    for (const GgufType element : {GgufType::kU8, GgufType::kI64, GgufType::kString})
      refused("'x' has " + text + " elements, more than the file can hold",
              [&](auto& b) { b.set_raw("x", 9, b.array_start(element, huge)); });
    refused("a metadata key needs " + text + " bytes", [&](auto& b) {
      b.magic = "GGUF" + raw(3u) + raw(uint64_t{0}) + raw(uint64_t{1}) + raw(huge) +
                std::string(64, '\0');
    });
    refused("a tensor's name needs " + text + " bytes", [&](auto& b) {
      b.magic = "GGUF" + raw(3u) + raw(uint64_t{1}) + raw(uint64_t{0}) + raw(huge) +
                std::string(64, '\0');
    });
    refused("'token_embd.weight'", [&](auto& b) { b.tensors[0].shape[1] = huge; });
    refused("'token_embd.weight'", [&](auto& b) { b.tensors[0].shape = {8, 2, huge}; });
    refused("'token_embd.weight'", [&](auto& b) { b.tensors[0].offset = huge; });
  }
}

}  // namespace
}  // namespace looseleaf
