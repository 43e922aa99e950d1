// Devices by name, and what is said where one is not there.
#include "compute/open_device.h"

#include <gtest/gtest.h>

namespace looseleaf {
namespace {

TEST(OpenDevice, CpuIsAlwaysThere) {
  const auto opened = open_device("cpu", {.threads = 1});
  ASSERT_TRUE(opened) << opened.error().message;
  EXPECT_EQ(opened->device->name(), "cpu");
  EXPECT_EQ(opened->warning, "");
}

TEST(OpenDevice, UnknownNamesAndThreads) {
  EXPECT_EQ(open_device("abacus", {}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(open_device("cpu", {.threads = -1}).error().code, ErrorCode::kUsage);
  EXPECT_EQ(open_device("cpu", {.threads = 1025}).error().code, ErrorCode::kUsage);
}

TEST(OpenDevice, WithoutAGpuCudaSaysWhyAndAutoIsTheCpu) {
  const auto cuda = open_device("cuda", {.threads = 1});
  const auto automatic = open_device("auto", {.threads = 1});
  ASSERT_TRUE(automatic) << automatic.error().message;
  if (cuda) {
    EXPECT_EQ(automatic->device->name(), "cuda");
    GTEST_SKIP() << "there is a GPU: " << cuda->device->facts().hardware;
  }
  const Error& error = cuda.error();
  EXPECT_TRUE(error.message.starts_with("--device cuda: ")) << error.message;
  EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
  EXPECT_EQ(automatic->device->name(), "cpu");
  if (error.code == ErrorCode::kNotFound) {
    EXPECT_EQ(automatic->warning, "") << "a build without the module";
  } else {
    EXPECT_EQ(error.code, ErrorCode::kUnsupported) << error.message;
    EXPECT_NE(automatic->warning.find(error.message), std::string::npos) << automatic->warning;
  }
}

}  // namespace
}  // namespace looseleaf
