#include "text/byte_alphabet.h"

#include <gtest/gtest.h>

#include <set>

#include "base/utf8.h"

namespace looseleaf {
namespace {

TEST(ByteAlphabet, KnownSpellings) {
  EXPECT_EQ(spell_byte('a'), "a");
  EXPECT_EQ(spell_byte(' '), "Ġ");
  EXPECT_EQ(spell_byte('\n'), "Ċ");
  EXPECT_EQ(spell_byte(0x00), "Ā");
  EXPECT_EQ(spell_byte(0xAD), "Ń");
  EXPECT_EQ(spell_byte(0xFF), "ÿ");
}

TEST(ByteAlphabet, EveryByteComesBack) {
  std::set<std::string_view> seen;
  for (int byte = 0; byte < 256; ++byte) {
    const std::string_view spelling = spell_byte(static_cast<uint8_t>(byte));
    EXPECT_EQ(utf8_length(spelling), static_cast<int>(spelling.size()));
    EXPECT_TRUE(seen.insert(spelling).second);
    EXPECT_EQ(unspell_bytes(spelling), std::string(1, static_cast<char>(byte)));
  }
}

TEST(ByteAlphabet, ReadsWords) {
  EXPECT_EQ(unspell_bytes("ĠÐ¼Ð¸ÑĢ"), " мир");
  EXPECT_EQ(unspell_bytes(""), "");
}

TEST(ByteAlphabet, RefusesWhatIsOutside) {
  EXPECT_FALSE(unspell_bytes(" "));
  EXPECT_FALSE(unspell_bytes("a b"));
  EXPECT_FALSE(unspell_bytes("ń"));  // U+0144, one past the end
  EXPECT_FALSE(unspell_bytes("世"));
  EXPECT_FALSE(unspell_bytes("\xC4"));
  EXPECT_FALSE(unspell_bytes("\xC4g"));
  EXPECT_FALSE(unspell_bytes("\x80"));
  EXPECT_FALSE(unspell_bytes("\xC1\xA1"));  // an overlong 'a'
}

}  // namespace
}  // namespace looseleaf
