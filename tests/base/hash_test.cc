// SHA-256 over length-prefixed fields.
#include "base/hash.h"

#include <gtest/gtest.h>

#include <vector>

namespace looseleaf {
namespace {

std::string hex(Sha256& hash) { return to_hex(hash.finish()); }

// Values of Python's hashlib over the bytes that the fields become: an eight-byte little-endian
// length before each text or list, eight little-endian bytes for a number.
TEST(Sha256Test, KnownVectors) {
  Sha256 empty;
  EXPECT_EQ(hex(empty), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  Sha256 text;
  EXPECT_EQ(hex(text.field("abc")),
            "ce91dc5eec0139adf091900d225971d6ad246a845bad791b5693a9d0d55dd391");
  Sha256 number;
  EXPECT_EQ(hex(number.field(uint64_t{0x0102030405060708})),
            "380b980886b7a3e726b5c2776160d7842b8f139eaea1e6acf7442cdf890e6287");
  Sha256 list;
  const std::vector<int32_t> ids = {1, -2, 300};
  EXPECT_EQ(hex(list.field(std::span<const int32_t>(ids))),
            "5b6ff7fe5f26b61c90f9b4b98b8d9ec739a7254f41ccee2844794ea3572af20b");
}

TEST(Sha256Test, FieldsDoNotRunTogether) {
  Sha256 a, b, c, d;
  const std::string ab_c = hex(a.field("ab").field("c"));
  EXPECT_NE(ab_c, hex(b.field("a").field("bc")));
  EXPECT_NE(ab_c, hex(c.field("abc")));
  EXPECT_NE(ab_c, hex(d.field("ab").field("c").field("")));
}

TEST(Sha256Test, BytesAreBinary) {
  Sha256 a, b;
  EXPECT_NE(hex(a.field(std::string_view("a\0b", 3))), hex(b.field(std::string_view("a\0c", 3))));
}

TEST(HashTest, Hex) {
  const std::vector<uint8_t> bytes = {0x00, 0x0F, 0xA0, 0xFF};
  EXPECT_EQ(to_hex(bytes), "000fa0ff");
  EXPECT_EQ(to_hex({}), "");
}

// The empty input's value stands in xxHash's specification.
TEST(HashTest, Xxh3) {
  EXPECT_EQ(xxh3({}), 0x2D06800538D394C2u);
  const std::byte one[] = {std::byte{1}};
  EXPECT_NE(xxh3(one), xxh3(one, 1));
}

}  // namespace
}  // namespace looseleaf
