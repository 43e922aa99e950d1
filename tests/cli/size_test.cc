#include "cli/size.h"

#include <gtest/gtest.h>

namespace looseleaf {
namespace {

TEST(Size, PowersOf1024) {
  const std::pair<const char*, int64_t> cases[] = {
      {"0", 0},
      {"4096", 4096},
      {"010", 10},
      {"1K", 1024},
      {"512M", int64_t{512} << 20},
      {"4g", int64_t{4} << 30},
      {"1T", int64_t{1} << 40},
      {"1.5G", int64_t{3} << 29},
      {"2GiB", int64_t{2} << 30},
      {"2GB", int64_t{2} << 30},
      {"7b", 7},
  };
  for (const auto& [text, bytes] : cases) EXPECT_EQ(parse_size(text), bytes) << text;
}

TEST(Size, Refused) {
  for (const char* text :
       {"", "M", "-1", "-4G", "+4G", "4X", "4 G", " 4G", "4G ", "4GG", "1e9", "0x10", "1.2.3",
        "nan", "inf", "99999999999999999999", "9999999T", "4Gi"}) {
    const auto size = parse_size(text);
    ASSERT_FALSE(size.has_value()) << text << " gave " << *size;
    EXPECT_EQ(size.error().code, ErrorCode::kUsage);
  }
}

}  // namespace
}  // namespace looseleaf
