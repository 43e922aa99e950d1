// A model in several GGUF files.
#include <functional>

#include "model/model.h"
#include "tiny_llama.h"

namespace looseleaf {
namespace {

constexpr auto kCorrupt = ErrorCode::kCorrupt;

// The tiny model in parts: metadata and the first tensors, then the rest.
std::vector<GgufBuilder> parts(uint16_t count = 3) {
  const GgufBuilder whole = tiny::gguf();
  std::vector<GgufBuilder> out(count);
  out[0].entries = whole.entries;
  for (size_t i = 0; i < whole.tensors.size(); ++i)
    out[i * count / whole.tensors.size()].tensors.push_back(whole.tensors[i]);
  for (uint16_t i = 0; i < count; ++i) {
    out[i].set("split.no", GgufType::kU16, i);
    out[i].set("split.count", GgufType::kU16, count);
    out[i].set("split.tensors.count", GgufType::kI32, static_cast<int32_t>(whole.tensors.size()));
  }
  return out;
}

std::string part_name(size_t index, size_t count) {
  return fmt::format("tiny-{:05}-of-{:05}.gguf", index + 1, count);
}

void write_parts(const TempFolder& folder, const std::vector<GgufBuilder>& all) {
  for (size_t i = 0; i < all.size(); ++i) folder.write(part_name(i, all.size()), all[i].build());
}

TEST(GgufSplit, FirstPartLoadsAll) {
  const TempFolder folder;
  write_parts(folder, parts());
  const auto whole = load_model(folder.write("whole.gguf", tiny::gguf().build()));
  const auto split = load_model(folder.path() / part_name(0, 3));
  ASSERT_TRUE(whole.has_value());
  ASSERT_TRUE(split.has_value()) << split.error().message;
  EXPECT_EQ((*split)->files.size(), 3u);
  EXPECT_EQ((*split)->weight_bytes, (*whole)->weight_bytes);
  EXPECT_EQ((*split)->fingerprint, (*whole)->fingerprint);
}

TEST(GgufSplit, FirstPartMayHoldNoTensors) {
  const TempFolder folder;
  auto all = parts(2);
  all[1].tensors.insert(all[1].tensors.begin(), all[0].tensors.begin(), all[0].tensors.end());
  all[0].tensors.clear();
  write_parts(folder, all);
  const auto model = load_model(folder.path() / part_name(0, 2));
  EXPECT_TRUE(model.has_value()) << model.error().message;
}

TEST(GgufSplit, AnotherPartNamesTheFirst) {
  const TempFolder folder;
  write_parts(folder, parts());
  expect_error(load_model(folder.path() / part_name(1, 3)), ErrorCode::kUsage,
               "part 2 of 3: give the first one, " + (folder.path() / part_name(0, 3)).string());
}

TEST(GgufSplit, MissingPartIsNamed) {
  const TempFolder folder;
  write_parts(folder, parts());
  std::filesystem::remove(folder.path() / part_name(2, 3));
  expect_error(load_model(folder.path() / part_name(0, 3)), ErrorCode::kNotFound, part_name(2, 3));
}

TEST(GgufSplit, RenamedFirstPart) {
  const TempFolder folder;
  const auto path = folder.write("model.gguf", parts()[0].build());
  expect_error(load_model(path), ErrorCode::kUsage, "does not end in -00001-of-00003.gguf");
}

TEST(GgufSplit, ForeignPartsAreNamed) {
  struct Case {
    const char* part;
    std::function<void(std::vector<GgufBuilder>&)> damage;
  };
  const std::vector<Case> cases = {
      {"says that it is part 3 of 3, not part 2 of 3",
       [](auto& all) { all[1].set("split.no", GgufType::kU16, uint16_t{2}); }},
      {"says that it is part 2 of 4, not part 2 of 3",
       [](auto& all) { all[1].set("split.count", GgufType::kU16, uint16_t{4}); }},
      {"says that it is part 1 of 1, not part 2 of 3", [](auto& all) { all[1].entries.clear(); }},
      {"split.no is 7 of 3 parts",
       [](auto& all) { all[1].set("split.no", GgufType::kU16, uint16_t{7}); }},
      {"'split.no'", [](auto& all) { all[0].remove("split.no"); }},
      {"'split.count' is 70000, outside 0 to 65535",
       [](auto& all) { all[0].set_u32("split.count", 70000); }},
      {"is of a 'qwen2' model",
       [](auto& all) { all[1].set_string("general.architecture", "qwen2"); }},
      {"the same name stands in",
       [](auto& all) { all[2].tensors.push_back(all[1].tensors.front()); }},
      {"split.tensors.count is 12 and the 3 parts hold 11",
       [](auto& all) { all[2].tensors.pop_back(); }},
      {"'split.tensors.count' is string",
       [](auto& all) { all[0].set_string("split.tensors.count", "12"); }},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.part);
    const TempFolder folder;
    auto all = parts();
    c.damage(all);
    write_parts(folder, all);
    expect_error(load_model(folder.path() / part_name(0, 3)), kCorrupt, c.part);
  }
}

TEST(GgufSplit, PartsCutAnywhere) {
  const TempFolder folder;
  const auto all = parts(2);
  write_parts(folder, all);
  const auto path = folder.path() / part_name(1, 2);
  const size_t size = all[1].build().size();
  for (size_t at = 1; at < size; at += 7) {
    std::filesystem::resize_file(path, size - at);
    ASSERT_FALSE(load_model(folder.path() / part_name(0, 2)).has_value()) << at;
  }
}

}  // namespace
}  // namespace looseleaf
