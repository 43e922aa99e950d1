// Files for one test, and checking what errors say.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>

#include "base/mapped_file.h"

namespace looseleaf {

// A folder that goes with the object.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "looseleaf-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~TempFolder() {
    std::error_code status;
    std::filesystem::remove_all(path_, status);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, std::string_view bytes) const {
    // Truncating a file on ext4 makes its closing wait for the disk; most tests only change bytes.
    const auto path = path_ / name;
    std::error_code status;
    const bool same_size = std::filesystem::file_size(path, status) == bytes.size() && !status;
    const auto mode = same_size ? std::ios::in | std::ios::out : std::ios::out;
    std::fstream(path, mode | std::ios::binary) << bytes;
    return path;
  }

 private:
  std::filesystem::path path_;
};

inline std::shared_ptr<const MappedFile> map_file(const std::filesystem::path& path) {
  auto file = MappedFile::open(path);
  EXPECT_TRUE(file.has_value()) << path;
  return file ? *file : nullptr;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <typename T>
void expect_error(const Expected<T>& result, ErrorCode code, std::string_view part) {
  ASSERT_FALSE(result.has_value()) << "expected an error with: " << part;
  EXPECT_EQ(static_cast<int>(result.error().code), static_cast<int>(code))
      << result.error().message;
  EXPECT_NE(result.error().message.find(part), std::string::npos)
      << "message: " << result.error().message << "\nexpected part: " << part;
  EXPECT_EQ(result.error().message.find('\n'), std::string::npos) << result.error().message;
}

}  // namespace looseleaf
