// Tiny SentencePiece models against ids that sentencepiece and tokenizers made (tests/golden).
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <chrono>
#include <random>

#include "text/detokenizer.h"
#include "text/golden_files.h"
#include "text/marked_string.h"
#include "text/random_text.h"
#include "text/small_spec.h"

namespace looseleaf {
namespace {

using Ids = std::vector<int32_t>;

const std::filesystem::path kFolder = std::filesystem::path(LOOSELEAF_GOLDEN_DIR) / "sentencepiece";

std::unique_ptr<const Tokenizer> tokenizer_of(const std::string& name) {
  const auto spec =
      name.ends_with(".gguf") ? spec_from_gguf(kFolder / name) : spec_from_folder(kFolder / name);
  EXPECT_TRUE(spec) << name << ": " << message_of(spec);
  return spec ? make_tokenizer(*spec) : nullptr;
}

class SentencePiece : public testing::TestWithParam<const char*> {
 protected:
  const std::unique_ptr<const Tokenizer> tokenizer_ = tokenizer_of(GetParam());
};

TEST_P(SentencePiece, Ids) {
  ASSERT_TRUE(tokenizer_);
  const auto golden = boost::json::parse(read_file(kFolder / "golden.json"));
  const auto& cases = golden.at(GetParam()).as_array();
  EXPECT_GT(cases.size(), 20u);
  for (const auto& entry : cases) {
    const std::string text(entry.at("text").as_string());
    const bool parsed = entry.as_object().contains("ids");
    const auto ids =
        tokenizer_->encode(MarkedString(text, parsed ? Origin::kTemplate : Origin::kData));
    ASSERT_TRUE(ids) << message_of(ids);
    EXPECT_EQ(*ids, boost::json::value_to<Ids>(entry.at(parsed ? "ids" : "ids_plain"))) << text;
    EXPECT_EQ(decode(*tokenizer_, *ids, parsed), std::string(entry.at("decoded").as_string()));
  }
}

TEST_P(SentencePiece, StreamedTextIsTheWholeText) {
  ASSERT_TRUE(tokenizer_);
  std::mt19937 random(5);
  std::uniform_int_distribution<int32_t> any(0, tokenizer_->vocab_size() - 1);
  for (int i = 0; i < 200; ++i) {
    Ids ids;
    for (int n = 0; n < 20; ++n) ids.push_back(any(random));
    Detokenizer detokenizer(*tokenizer_);
    std::string text;
    for (const int32_t id : ids) text += detokenizer.push(id);
    EXPECT_EQ(text + detokenizer.finish(), decode(*tokenizer_, ids));
  }
}

TEST_P(SentencePiece, ControlTextInDataStaysText) {
  ASSERT_TRUE(tokenizer_);
  std::mt19937 random(6);
  for (int i = 0; i < 200; ++i) {
    const std::string text =
        random_text(random, 10) + "</s><s><unk><0x41>" + random_text(random, 5);
    const auto ids = tokenizer_->encode(text);
    ASSERT_TRUE(ids) << message_of(ids);
    for (const int32_t id : *ids) EXPECT_TRUE(!tokenizer_->is_control(id) || id == 0);
    EXPECT_EQ(std::count(ids->begin(), ids->end(), *tokenizer_->special("</s>")), 0);
  }
  MarkedString half("</", Origin::kTemplate);
  half.append("s>", Origin::kData);
  EXPECT_EQ(*tokenizer_->encode(half), *tokenizer_->encode("</s>"));
}

TEST_P(SentencePiece, AMegabyteOfOneCharacter) {
  ASSERT_TRUE(tokenizer_);
  for (const std::string unit : {"a", " ", "\n", "é", "the ", "\u0301"}) {
    std::string text;
    while (text.size() < 1'000'000) text += unit;
    const auto start = std::chrono::steady_clock::now();
    const auto ids = tokenizer_->encode(text);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(ids) << message_of(ids);
    EXPECT_LT(seconds.count(), 5.0) << "of '" << unit << "'";
  }
}

INSTANTIATE_TEST_SUITE_P(Tiny, SentencePiece,
                         testing::Values("bpe.gguf", "bpe", "unigram.gguf", "unigram"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST(SentencePieceBpe, SaysTheSameFromBothForms) {
  const auto gguf = tokenizer_of("bpe.gguf"), json = tokenizer_of("bpe");
  ASSERT_TRUE(gguf && json);
  EXPECT_EQ(gguf->spec().tokens, json->spec().tokens);
  EXPECT_EQ(gguf->spec().kinds, json->spec().kinds);
  std::mt19937 random(7);
  for (int i = 0; i < 500; ++i) {
    const MarkedString text(random_text(random, 30) + "</s> x", Origin::kTemplate);
    EXPECT_EQ(*gguf->encode(text), *json->encode(text)) << text.text();
  }
}

TEST(SentencePieceBpe, RandomTextComesBack) {
  const auto tokenizer = tokenizer_of("bpe.gguf");
  ASSERT_TRUE(tokenizer);
  std::mt19937 random(8);
  for (int i = 0; i < 2000; ++i) {
    const std::string text = random_text(random, 40);
    if (text.find("▁") != std::string::npos) continue;  // comes back as a space
    const auto ids = tokenizer->encode(text);
    ASSERT_TRUE(ids) << message_of(ids);
    EXPECT_EQ(decode(*tokenizer, *ids), text);
  }
}

}  // namespace
}  // namespace looseleaf
