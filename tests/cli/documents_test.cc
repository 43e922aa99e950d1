#include "cli/documents.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace looseleaf {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test.
class DocumentsTest : public testing::Test {
 protected:
  DocumentsTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() / fmt::format("looseleaf-{}-{}", test->name(), getpid());
    fs::create_directories(folder_);
  }
  ~DocumentsTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ / name; }

  std::string write(const std::string& name, const std::string& bytes) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    std::ofstream(path(name), std::ios::binary) << bytes;
    return path(name);
  }

  // Loads what must be refused, and checks that the message names the file and says `what`.
  static void expect_refused(const DocumentSources& sources, ErrorCode code,
                             const std::string& file, const std::string& what) {
    const auto documents = load_documents(sources);
    ASSERT_FALSE(documents.has_value()) << file;
    const Error& error = documents.error();
    EXPECT_EQ(error.code, code) << error.message;
    EXPECT_NE(error.message.find(file), std::string::npos) << error.message;
    EXPECT_NE(error.message.find(what), std::string::npos) << error.message;
  }

  fs::path folder_;
};

TEST_F(DocumentsTest, FilesThenCollectionThenTexts) {
  const std::string file = write("notes/Letter.MD", "Dear Ann");
  const std::string lines =
      write("more.jsonl", "\"one\"\n\n{\"text\": \"two\", \"id\": \"2\"}\r\n");
  const auto documents = load_documents({{file}, lines, {"three"}});
  ASSERT_TRUE(documents.has_value()) << documents.error().message;
  ASSERT_EQ(documents->size(), 4u);
  EXPECT_EQ((*documents)[0].title, "Letter");
  EXPECT_EQ((*documents)[0].text, "Dear Ann");
  EXPECT_EQ((*documents)[1].text, "one");
  EXPECT_EQ((*documents)[2].id, "2");
  EXPECT_EQ((*documents)[3].text, "three");
  EXPECT_EQ((*documents)[3].title, "");
}

TEST_F(DocumentsTest, FoldersAreSortedAndSkipDotFiles) {
  write("d/b.txt", "b");
  write("d/a/z.md", "z");
  write("d/README", "r");
  write("d/.hidden.md", "no");
  write("d/.git/x.md", "no");
  fs::create_directory_symlink(path("d"), path("d/a/loop"));
  fs::create_symlink(path("d/b.txt"), path("d/c.txt"));
  fs::create_symlink(path("nowhere"), path("d/broken.txt"));
  for (const DocumentSources& sources :
       {DocumentSources{{path("d")}, "", {}}, DocumentSources{{}, path("d"), {}}}) {
    const auto documents = load_documents(sources);
    ASSERT_TRUE(documents.has_value()) << documents.error().message;
    std::vector<std::string> titles;
    for (const Document& document : *documents) titles.push_back(document.title);
    EXPECT_EQ(titles, (std::vector<std::string>{"README", "a/z", "b", "c"}));
  }
}

TEST_F(DocumentsTest, JsonIsAListOrAnObjectWithOne) {
  for (const char* text : {R"(["a", {"content": "b"}])", R"({"documents": ["a", "b"]})"}) {
    const auto documents = load_documents({{}, write("d.json", text), {}});
    ASSERT_TRUE(documents.has_value()) << documents.error().message;
    ASSERT_EQ(documents->size(), 2u);
    EXPECT_EQ((*documents)[1].text, "b");
  }
}

TEST_F(DocumentsTest, AByteOrderMarkIsNoText) {
  const auto documents = load_documents({{write("a.txt", "\xEF\xBB\xBFHi")}, "", {}});
  ASSERT_TRUE(documents.has_value());
  EXPECT_EQ((*documents)[0].text, "Hi");
}

TEST_F(DocumentsTest, Refused) {
  expect_refused({{path("no.txt")}, "", {}}, ErrorCode::kNotFound, "no.txt", "no such file");
  expect_refused({{}, path("no.jsonl"), {}}, ErrorCode::kNotFound, "no.jsonl", "No such file");
  expect_refused({{}, path("no"), {}}, ErrorCode::kNotFound, "no", "no such file");
  expect_refused({{write("a.pdf", "%PDF")}, "", {}}, ErrorCode::kUnsupported, "a.pdf", "pdftotext");
  expect_refused({{write("a.png", "x")}, "", {}}, ErrorCode::kUnsupported, "a.png", "only text");
  expect_refused({{write("a.json", "[]")}, "", {}}, ErrorCode::kUnsupported, "a.json", "--docs");
  expect_refused({{}, write("a.md", "x"), {}}, ErrorCode::kUnsupported, "a.md", "--doc ");
  expect_refused({{write("empty.txt", "")}, "", {}}, ErrorCode::kInvalidArgument, "empty.txt",
                 "is empty");
  expect_refused({{write("blank.txt", " \n\t\n")}, "", {}}, ErrorCode::kInvalidArgument,
                 "blank.txt", "is empty");
  expect_refused({{write("latin.txt", "caf\xE9 au lait")}, "", {}}, ErrorCode::kInvalidArgument,
                 "latin.txt", "not UTF-8 at byte 3");
  fs::create_directory(path("nothing"));
  expect_refused({{}, path("nothing"), {}}, ErrorCode::kNotFound, "nothing", "no text or Markdown");
  write("mixed/a.md", "x");
  write("mixed/b.docx", "x");
  expect_refused({{}, path("mixed"), {}}, ErrorCode::kUnsupported, "b.docx", "pandoc");
  expect_refused({{}, "", {""}}, ErrorCode::kUsage, "--doc-text", "empty");
  expect_refused({{}, "", {"\xFF"}}, ErrorCode::kUsage, "--doc-text", "UTF-8");
}

TEST_F(DocumentsTest, ErrorsInJsonNameFileLineAndField) {
  expect_refused({{}, write("a.jsonl", "\"ok\"\n\n{\"text\": 5}\n"), {}},
                 ErrorCode::kInvalidArgument, "a.jsonl:3: ", "document.text: must be a string");
  expect_refused({{}, write("b.jsonl", "\"ok\"\n{\n"), {}}, ErrorCode::kInvalidArgument,
                 "b.jsonl:2: ", "ends too early");
  expect_refused({{}, write("c.jsonl", "\n\n"), {}}, ErrorCode::kInvalidArgument, "c.jsonl",
                 "no documents");
  expect_refused({{}, write("d.json", R"(["a", {}])"), {}}, ErrorCode::kInvalidArgument,
                 "d.json: ", "documents[1].text: is missing");
  expect_refused({{}, write("e.json", R"({"docs": []})"), {}}, ErrorCode::kInvalidArgument,
                 "e.json", "\"documents\"");
  expect_refused({{}, write("f.json", "[]"), {}}, ErrorCode::kInvalidArgument, "f.json",
                 "no documents");
}

}  // namespace
}  // namespace looseleaf
