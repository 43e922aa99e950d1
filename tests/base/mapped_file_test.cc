// Files mapped into memory, and what cannot be.
#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

namespace looseleaf {
namespace {

class MappedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ =
        std::filesystem::path(testing::TempDir()) / ("mapped_file_" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    return folder_ / name;
  }
  static void expect_error(const std::filesystem::path& path, ErrorCode code) {
    const auto file = MappedFile::open(path);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, code);
    EXPECT_NE(file.error().message.find(path.string()), std::string::npos) << "names the file";
  }

  std::filesystem::path folder_;
};

TEST_F(MappedFileTest, Bytes) {
  const std::string bytes("a\0b", 3);
  const auto path = write("three", bytes);
  auto file = MappedFile::open(path);
  ASSERT_TRUE(file);
  ASSERT_EQ((*file)->bytes().size(), 3u);
  EXPECT_EQ(std::memcmp((*file)->bytes().data(), bytes.data(), 3), 0);
  EXPECT_EQ((*file)->path(), path);
  // A file that is replaced while it is mapped stays what it was.
  write("new", "xyz");
  std::filesystem::rename(folder_ / "new", path);
  EXPECT_EQ(std::memcmp((*file)->bytes().data(), bytes.data(), 3), 0);
}

TEST_F(MappedFileTest, Links) {
  std::filesystem::create_symlink(write("one", "1"), folder_ / "link");
  EXPECT_TRUE(MappedFile::open(folder_ / "link"));
  std::filesystem::create_symlink(folder_ / "nowhere", folder_ / "dangling");
  expect_error(folder_ / "dangling", ErrorCode::kNotFound);
}

TEST_F(MappedFileTest, NotAFile) {
  expect_error(folder_ / "missing", ErrorCode::kNotFound);
  expect_error(folder_, ErrorCode::kNotFound);
  expect_error("", ErrorCode::kNotFound);
  expect_error("/dev/null", ErrorCode::kNotFound);
  expect_error(write("file", "x") / "below", ErrorCode::kNotFound);
}

// Opening a pipe must not wait for somebody to write into it.
TEST_F(MappedFileTest, Pipe) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  expect_error(folder_ / "pipe", ErrorCode::kNotFound);
}

TEST_F(MappedFileTest, Empty) { expect_error(write("empty", ""), ErrorCode::kCorrupt); }

TEST_F(MappedFileTest, NoPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const auto path = write("secret", "x");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  expect_error(path, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace looseleaf
