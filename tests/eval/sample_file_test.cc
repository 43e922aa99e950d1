#include "eval/sample_file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace looseleaf {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

SampleRecord record(const std::string& sample, const std::string& method) {
  SampleRecord record;
  record.task = "task";
  record.sample = sample;
  record.method = method;
  record.order = 2;
  record.metrics = {{"f1", 0.1}, {"nll", 1.0 / 3}};
  record.flops = 0.125;
  record.ttft_ms = 12.5;
  record.context_tokens = 100;
  record.documents = 3;
  record.repaired_tokens = 7;
  record.prompt_hash = "abc";
  record.text = "a \"quoted\"\nline, Röntgen";
  record.commit = "123";
  return record;
}

class SampleFileTest : public testing::Test {
 protected:
  SampleFileTest() : path_(fs::temp_directory_path() / fmt::format("samples-{}.jsonl", getpid())) {
    fs::remove(path_);
  }
  ~SampleFileTest() override { fs::remove(path_); }

  Expected<SampleFile> open(const json::object& config = {{"seed", 1}}) const {
    return SampleFile::open(path_.string(), config);
  }
  std::string content() const {
    std::ifstream file(path_);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }
  void write(const std::string& text) const { std::ofstream(path_) << text; }
  std::string error_of_opening(const json::object& config = {{"seed", 1}}) const {
    const auto file = open(config);
    EXPECT_FALSE(file);
    return file ? "" : file.error().message;
  }

  fs::path path_;
};

TEST_F(SampleFileTest, GivesBackWhatWasAdded) {
  {
    auto file = open();
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(file->add(record("a", "full")));
    ASSERT_TRUE(file->add(record("b", "reuse")));
  }
  const auto file = open();
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->size(), 2u);
  const SampleRecord* found = file->find("task", "a", 2, "full");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(to_json(*found), to_json(record("a", "full")));  // doubles to the last bit
  EXPECT_EQ(file->find("task", "a", 2, "reuse"), nullptr);
  EXPECT_EQ(file->find("task", "a", 1, "full"), nullptr);
  EXPECT_EQ(file->find("other", "a", 2, "full"), nullptr);
}

TEST_F(SampleFileTest, DropsALineThatWasCutAndGoesOn) {
  {
    auto file = open();
    ASSERT_TRUE(file->add(record("a", "full")));
  }
  const std::string whole = content();
  for (const size_t kept : {size_t{1}, size_t{20}, whole.size() / 2}) {
    write(whole + whole.substr(whole.find('\n') + 1, kept));
    auto file = open();
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->size(), 1u);
    EXPECT_EQ(content(), whole);
    ASSERT_TRUE(file->add(record("b", "full")));
    EXPECT_EQ(std::ranges::count(content(), '\n'), 3);
  }
}

TEST_F(SampleFileTest, AHeaderThatWasCutStartsAgain) {
  write("{\"looseleaf_samples\":1,\"conf");
  const auto file = open();
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(content(), "{\"looseleaf_samples\":1,\"config\":{\"seed\":1}}\n");
}

TEST_F(SampleFileTest, RefusesAnotherConfigurationByName) {
  ASSERT_TRUE(open({{"seed", 1}, {"layout", "qa"}}));
  const std::string before = content();
  EXPECT_NE(error_of_opening({{"seed", 2}, {"layout", "qa"}}).find("seed was 1 and is now 2"),
            std::string::npos);
  EXPECT_NE(error_of_opening({{"seed", 1}, {"threads", 2}}).find("threads was nothing"),
            std::string::npos);
  EXPECT_EQ(content(), before);
}

TEST_F(SampleFileTest, RefusesOtherFilesAndLeavesThemAlone) {
  for (const char* text : {"A diary.", "A diary.\nWith lines.\n", "[]\n", "{\"a\": 1}\n"}) {
    SCOPED_TRACE(text);
    write(text);
    EXPECT_NE(error_of_opening().find("is no file of samples"), std::string::npos);
    EXPECT_EQ(content(), text);
  }
}

TEST_F(SampleFileTest, NamesTheLineThatIsBroken) {
  {
    auto file = open();
    ASSERT_TRUE(file->add(record("a", "full")));
  }
  write(content() + "{\"task\": \"task\"}\n");
  EXPECT_NE(error_of_opening().find(":3: sample: is missing"), std::string::npos)
      << error_of_opening();
}

TEST_F(SampleFileTest, IsForOneRunAtATime) {
  const auto file = open();
  ASSERT_TRUE(file);
  EXPECT_NE(error_of_opening().find("another run has it open"), std::string::npos);
}

TEST_F(SampleFileTest, SaysWhyItCannotBeWritten) {
  const auto file = SampleFile::open("/no/such/folder/x.jsonl", {});
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace looseleaf
