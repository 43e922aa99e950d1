#include "text/split_patterns.h"

#include <gtest/gtest.h>

#include "text/pretokenizer.h"
#include "text/small_spec.h"

namespace looseleaf {
namespace {

TEST(SplitPatterns, KnownNamesCompile) {
  for (const char* pre : {"default",        "gpt-2",
                          "phi-2",          "mpt",
                          "olmo",           "mellum",
                          "exaone4",        "trillion",
                          "smollm",         "starcoder",
                          "refact",         "command-r",
                          "codeshell",      "exaone",
                          "minerva-7b",     "llama3",
                          "llama-v3",       "llama-bpe",
                          "falcon3",        "falcon-h1",
                          "lfm2",           "pixtral",
                          "midm-2.0",       "dbrx",
                          "smaug-bpe",      "glm4",
                          "chatglm-bpe",    "qwen2",
                          "megrez",         "stablelm2",
                          "hunyuan",        "qwen35",
                          "gpt-4o",         "llama4",
                          "tekken",         "falcon",
                          "deepseek-v3",    "bloom",
                          "deepseek-coder", "deepseek-llm",
                          "poro-chat",      "jais",
                          "jais-2",         "gigachat",
                          "a.x-4.0",        "granite-docling",
                          "mellum2",        "minicpm5",
                          "grok-2",         "solar-open",
                          "kormo",          "seed-coder",
                          "bailingmoe",     "kanana2",
                          "bailingmoe2",    "llada-moe",
                          "viking",         "minimax-m2",
                          "joyai-llm",      "hunyuan-dense",
                          "gpt3-finnish",   "deepseek-r1-qwen"}) {
    const auto patterns = split_patterns_for(pre);
    ASSERT_TRUE(patterns) << message_of(patterns);
    const auto splitter = Pretokenizer::create(*patterns);
    EXPECT_TRUE(splitter) << pre << ": " << message_of(splitter);
  }
}

TEST(SplitPatterns, UnknownNamesAreRefusedByName) {
  const auto patterns = split_patterns_for("no-such\nfamily");
  ASSERT_FALSE(patterns);
  EXPECT_EQ(patterns.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(patterns.error().message.find(R"('no-such\x0afamily')"), std::string::npos)
      << patterns.error().message;
  EXPECT_FALSE(split_patterns_for(""));
}

TEST(SplitPatterns, WhatElseANameImplies) {
  EXPECT_TRUE(ignores_merges("llama-bpe"));
  EXPECT_TRUE(adds_bos("llama-bpe"));
  EXPECT_TRUE(ignores_merges("glm4"));
  EXPECT_FALSE(adds_bos("glm4"));
  EXPECT_FALSE(ignores_merges("smollm"));
  EXPECT_FALSE(adds_bos("no-such-family"));
  EXPECT_TRUE(normalizes_to_nfc("qwen2"));
  EXPECT_TRUE(normalizes_to_nfc("command-r"));
  EXPECT_FALSE(normalizes_to_nfc("llama-bpe"));
}

}  // namespace
}  // namespace looseleaf
