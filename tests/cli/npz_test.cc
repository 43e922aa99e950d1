// NumPy's archives as they are written, and as strangers may have them.
#include "cli/npz.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/repair_set_file.h"

namespace looseleaf {
namespace {

class NpzTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path_); }

  static NpyArray mask(const std::vector<std::string>& rows) {
    std::string bytes;
    for (const std::string& row : rows)
      for (const char c : row) bytes += static_cast<char>(c == '1');
    return {"|b1", {std::ssize(rows), std::ssize(rows[0])}, bytes};
  }
  static NpyArray numbers(const std::vector<int32_t>& values) {
    return npy_array("<i4", {std::ssize(values)}, values.data(), values.size() * sizeof(int32_t));
  }

  std::string refusal(const Npz& arrays) {
    EXPECT_TRUE(write_npz(path_, arrays));
    const auto set = read_repair_set(path_);
    return set ? "" : set.error().message;
  }

  std::string path_ = testing::TempDir() + fmt::format("npz-{}.npz", getpid());
};

TEST_F(NpzTest, ReadsWhatItWrites) {
  const std::vector<float> values = {1, 2, 3, -4, 5, 6};
  const Npz arrays = {
      {"scores", npy_array("<f4", {2, 3}, values.data(), values.size() * sizeof(float))},
      {"token_chunks", numbers({0, 0, 1})},
      {"none", {"<i4", {0, 7}, ""}},
      {"targets", mask({"101", "100"})}};
  ASSERT_TRUE(write_npz(path_, arrays));
  const auto read = read_npz(path_);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->size(), arrays.size());
  for (const auto& [name, array] : arrays) {
    EXPECT_EQ(read->at(name).type, array.type);
    EXPECT_EQ(read->at(name).shape, array.shape);
    EXPECT_EQ(read->at(name).bytes, array.bytes);
  }
}

TEST_F(NpzTest, CutAtEveryByteItIsRefused) {
  ASSERT_TRUE(write_npz(path_, {{"token_chunks", numbers({0, 1})}, {"targets", mask({"11"})}}));
  std::ostringstream whole;
  whole << std::ifstream(path_, std::ios::binary).rdbuf();
  for (size_t size = 0; size < whole.str().size(); ++size) {
    std::ofstream(path_, std::ios::binary) << whole.str().substr(0, size);
    ASSERT_FALSE(read_npz(path_) && read_npz(path_)->size() == 2) << size;
  }
}

TEST_F(NpzTest, RefusesOtherArrays) {
  EXPECT_EQ(read_npz(path_ + ".not").error().code, ErrorCode::kNotFound);
  const auto refused = [&](NpyArray array) {
    EXPECT_TRUE(write_npz(path_, {{"x", std::move(array)}}));
    return read_npz(path_).error().message;
  };
  EXPECT_NE(refused({"<f8", {1}, std::string(8, 0)}).find("\"x\" is of another type"),
            std::string::npos);
  EXPECT_NE(refused({"<f4", {3}, std::string(8, 0)}).find("not as long as its shape"),
            std::string::npos);
  EXPECT_NE(refused({"|b1", {1 << 30, 1 << 30, 1 << 30}, ""}).find("larger than the file"),
            std::string::npos);
}

TEST_F(NpzTest, RepairSets) {
  const NpyArray chunks = numbers({0, 0, 1, 1});
  ASSERT_TRUE(
      write_npz(path_, {{"targets", mask({"1101", "1001", "0001"})}, {"token_chunks", chunks}}));
  const auto set = read_repair_set(path_);
  ASSERT_TRUE(set) << set.error().message;
  EXPECT_EQ(set->layers, 3);
  EXPECT_EQ(set->depths, (std::vector<int32_t>{1, 0, -1, 2}));
  EXPECT_EQ(set->chunks, (std::vector<int32_t>{0, 0, 1, 1}));

  EXPECT_NE(refusal({{"targets", mask({"1100", "0010"})}, {"token_chunks", chunks}})
                .find("targets[1][2] is set, but not in the layer before"),
            std::string::npos);
  EXPECT_NE(refusal({{"targets", mask({"1100", "1100"})}, {"token_chunks", numbers({0, 0, 2, 2})}})
                .find("token_chunks[2] is 2"),
            std::string::npos);
  EXPECT_NE(refusal({{"targets", mask({"1100", "0000"})}, {"token_chunks", chunks}})
                .find("no token is a target behind layer 0"),
            std::string::npos);
  for (const Npz& arrays :
       {Npz{{"targets", mask({"11"})}}, Npz{{"targets", mask({"11"})}, {"token_chunks", chunks}},
        Npz{{"targets", chunks}, {"token_chunks", chunks}}})
    EXPECT_NE(refusal(arrays).find("needs targets, bool [layers, tokens]"), std::string::npos);
}

}  // namespace
}  // namespace looseleaf
