#include "model/gguf_tokenizer.h"

#include <functional>

#include "model/model.h"
#include "text/split_patterns.h"
#include "tiny_llama.h"

namespace looseleaf {
namespace {

constexpr auto kCorrupt = ErrorCode::kCorrupt;
constexpr auto kUnsupported = ErrorCode::kUnsupported;

Expected<TokenizerSpec> spec_of(const GgufBuilder& builder) {
  const TempFolder folder;
  const auto file = GgufFile::read(map_file(folder.write("model.gguf", builder.build())));
  EXPECT_TRUE(file.has_value()) << file.error().message;
  return tokenizer_spec_from_gguf(*file);
}

TEST(GgufTokenizer, FieldsOfByteLevelBpe) {
  GgufBuilder builder = tiny::gguf();
  builder.set_string("tokenizer.chat_template", "{{ messages }}");
  builder.set_u32("tokenizer.ggml.eot_token_id", 6);
  const auto spec = spec_of(builder);
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(spec->model, "bpe");
  EXPECT_EQ(spec->split_patterns, *split_patterns_for("gpt-2"));
  ASSERT_EQ(spec->tokens.size(), 8u);
  EXPECT_EQ(spec->tokens[4], "ab");
  using enum TokenKind;
  EXPECT_EQ(spec->kinds, (std::vector<TokenKind>{kControl, kControl, kNormal, kNormal, kNormal,
                                                 kNormal, kAdded, kUnused}));
  ASSERT_EQ(spec->merges.size(), 1u);
  EXPECT_EQ(spec->merges[0], (std::pair<std::string, std::string>("a", "b")));
  EXPECT_EQ(spec->bos, 0);
  EXPECT_EQ(spec->eos, 1);
  EXPECT_FALSE(spec->add_bos);
  EXPECT_FALSE(spec->ignore_merges);
  EXPECT_EQ(spec->chat_template, "{{ messages }}");
  EXPECT_EQ(spec->end_of_generation, (std::vector<int32_t>{1, 6}));
}

TEST(GgufTokenizer, UnknownAndByteTokensHaveTheirKinds) {
  GgufBuilder builder = tiny::gguf();
  builder.set_numbers<int32_t>("tokenizer.ggml.token_type", GgufType::kI32,
                               {2, 3, 1, 1, 1, 6, 4, 5});
  const auto spec = spec_of(builder);
  ASSERT_TRUE(spec.has_value());
  EXPECT_EQ(spec->kinds[0], TokenKind::kControl);
  EXPECT_EQ(spec->kinds[5], TokenKind::kByte);
  builder.remove("tokenizer.ggml.token_type");
  EXPECT_EQ(spec_of(builder)->kinds, std::vector<TokenKind>(8, TokenKind::kNormal));
}

TEST(GgufTokenizer, PreImpliesBosUnlessTheFileSaysOtherwise) {
  GgufBuilder builder = tiny::gguf();
  builder.set_string("tokenizer.ggml.pre", "llama-bpe");
  EXPECT_TRUE(spec_of(builder)->add_bos);
  EXPECT_TRUE(spec_of(builder)->ignore_merges);
  builder.set_bool("tokenizer.ggml.add_bos_token", false);
  EXPECT_FALSE(spec_of(builder)->add_bos);
  builder.remove("tokenizer.ggml.add_bos_token");
  builder.remove("tokenizer.ggml.bos_token_id");
  EXPECT_FALSE(spec_of(builder)->add_bos);
  EXPECT_EQ(spec_of(builder)->bos, -1);
}

TEST(GgufTokenizer, PreImpliesFormC) {
  GgufBuilder builder = tiny::gguf();
  EXPECT_TRUE(spec_of(builder)->normalize.empty());
  builder.set_string("tokenizer.ggml.pre", "qwen2");
  EXPECT_EQ(spec_of(builder)->normalize, (std::vector<NormalizeStep>{{NormalizeStep::Kind::kNfc}}));
}

// Tokens 0 to 7 of the tiny model: two control, four normal, one added, one unused.
GgufBuilder sentencepiece(std::string_view model) {
  GgufBuilder builder = tiny::gguf();
  builder.set_string("tokenizer.ggml.model", model);
  builder.remove("tokenizer.ggml.merges");
  builder.remove("tokenizer.ggml.add_bos_token");
  builder.set_strings("tokenizer.ggml.tokens", {"<unk>", "</s>", "▁", "a", "▁a", "b", "▁▁", "?"});
  builder.set_numbers<float>("tokenizer.ggml.scores", GgufType::kF32, {0, 0, -2, -3, -1, -4, 0, 0});
  return builder;
}

TEST(GgufTokenizer, SentencePieceByScores) {
  using enum NormalizeStep::Kind;
  GgufBuilder builder = sentencepiece("llama");
  auto spec = spec_of(builder);
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(spec->model, "spm");
  EXPECT_EQ(spec->unk, 0);
  EXPECT_TRUE(spec->add_bos);
  EXPECT_EQ(spec->tokens[6], "  ");  // matched in text as it is
  EXPECT_EQ(spec->scores[4], -1);
  EXPECT_EQ(spec->normalize,
            (std::vector<NormalizeStep>{{kPrepend, "", " "}, {kReplace, " ", "▁"}}));
  EXPECT_EQ(spec->space_mark, "▁");
  EXPECT_EQ(spec->leading_space, LeadingSpace::kOneDropped);
  EXPECT_TRUE(spec->strips.empty());

  builder.set_bool("tokenizer.ggml.add_space_prefix", false);
  builder.set_u32("tokenizer.ggml.unknown_token_id", 1);
  spec = spec_of(builder);
  EXPECT_EQ(spec->normalize, (std::vector<NormalizeStep>{{kReplace, " ", "▁"}}));
  EXPECT_EQ(spec->leading_space, LeadingSpace::kKept);
  EXPECT_EQ(spec->unk, 1);
}

TEST(GgufTokenizer, Unigram) {
  using enum NormalizeStep::Kind;
  GgufBuilder builder = sentencepiece("t5");
  builder.set_bool("tokenizer.ggml.add_space_prefix", true);
  builder.set_bool("tokenizer.ggml.remove_extra_whitespaces", true);
  builder.set_numbers<uint8_t>("tokenizer.ggml.precompiled_charsmap", GgufType::kU8,
                               {0, 0, 0, 0, 'x', 0});
  builder.set_u32("tokenizer.ggml.unknown_token_id", 0);
  const auto spec = spec_of(builder);
  ASSERT_TRUE(spec.has_value()) << spec.error().message;
  EXPECT_EQ(spec->model, "unigram");
  EXPECT_FALSE(spec->add_bos);
  EXPECT_EQ(spec->unk_score, -14);
  EXPECT_EQ(spec->normalize, (std::vector<NormalizeStep>{{kCharsmap, std::string("\0\0\0\0x\0", 6)},
                                                         {kCollapseSpaces},
                                                         {kPrepend, "", " "},
                                                         {kReplace, " ", "▁"},
                                                         {kDropTrailing, "▁"}}));
  builder.remove("tokenizer.ggml.remove_extra_whitespaces");
  expect_error(spec_of(builder), kCorrupt, "no 'tokenizer.ggml.remove_extra_whitespaces'");
}

TEST(GgufTokenizer, SentencePieceDefects) {
  GgufBuilder builder = sentencepiece("llama");
  builder.set_numbers<float>("tokenizer.ggml.scores", GgufType::kF32, {0, 0});
  expect_error(spec_of(builder), kCorrupt, "scores has 2 entries for 8 tokens");
  builder.remove("tokenizer.ggml.scores");
  expect_error(spec_of(builder), kCorrupt, "no 'tokenizer.ggml.scores'");
  builder = sentencepiece("llama");
  builder.set_u32("tokenizer.ggml.unknown_token_id", 8);
  expect_error(spec_of(builder), kCorrupt, "unknown_token_id is 8, outside the 8 tokens");
}

TEST(GgufTokenizer, EachDefectIsNamed) {
  struct Broken {
    const char* what;
    ErrorCode code;
    const char* part;
    std::function<void(GgufBuilder&)> damage;
  };
  const auto merges = [](std::string line) {
    return [=](GgufBuilder& b) { b.set_strings("tokenizer.ggml.merges", {"a b", line}); };
  };
  const std::vector<Broken> cases = {
      {"no tokens", kCorrupt, "no 'tokenizer.ggml.tokens'",
       [](auto& b) { b.remove("tokenizer.ggml.tokens"); }},
      {"empty", kCorrupt, "has 0 entries",
       [](auto& b) { b.set_strings("tokenizer.ggml.tokens", {}); }},
      {"too few types", kCorrupt, "token_type has 1 entries for 8 tokens",
       [](auto& b) {
         b.template set_numbers<int32_t>("tokenizer.ggml.token_type", GgufType::kI32, {1});
       }},
      {"type 7", kCorrupt, "token_type[1] is 7",
       [](auto& b) {
         b.template set_numbers<int32_t>("tokenizer.ggml.token_type", GgufType::kI32,
                                         {1, 7, 1, 1, 1, 1, 1, 1});
       }},
      {"no merges", kCorrupt, "no 'tokenizer.ggml.merges'",
       [](auto& b) { b.remove("tokenizer.ggml.merges"); }},
      {"merge of nothing", kCorrupt, "merges[1] ''", merges("")},
      {"merge of one", kCorrupt, "merges[1] 'ab' is not two pieces", merges("ab")},
      {"merge without a left piece", kCorrupt, "merges[1] ' b'", merges(" b")},
      {"merge without a right piece", kCorrupt, "merges[1] 'a '", merges("a ")},
      {"merge of three", kCorrupt, "merges[1] 'a b c'", merges("a b c")},
      {"bos", kCorrupt, "bos_token_id is 8, outside the 8 tokens",
       [](auto& b) { b.set_u32("tokenizer.ggml.bos_token_id", 8); }},
      {"no pre", kUnsupported, "no 'tokenizer.ggml.pre'",
       [](auto& b) { b.remove("tokenizer.ggml.pre"); }},
      {"unknown pre", kUnsupported, "'what'",
       [](auto& b) { b.set_string("tokenizer.ggml.pre", "what"); }},
  };
  for (const Broken& broken : cases) {
    SCOPED_TRACE(broken.what);
    GgufBuilder builder = tiny::gguf();
    broken.damage(builder);
    expect_error(spec_of(builder), broken.code, broken.part);
  }
}

// A model whose text cannot be followed still takes token lists; one that is broken does not load.
TEST(GgufTokenizer, WhatTheModelKeepsOfIt) {
  const TempFolder folder;
  GgufBuilder builder = tiny::gguf();
  builder.set_string("tokenizer.ggml.pre", "what");
  auto model = load_model(folder.write("pre.gguf", builder.build()));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_FALSE((*model)->tokenizer.has_value());
  EXPECT_NE((*model)->tokenizer_problem.find("'what'"), std::string::npos);

  builder = tiny::gguf();
  builder.set_string("tokenizer.ggml.model", "bert");
  model = load_model(folder.write("bert.gguf", builder.build()));
  ASSERT_TRUE(model.has_value());
  EXPECT_EQ((*model)->tokenizer->model, "bert");
  EXPECT_TRUE((*model)->tokenizer->split_patterns.empty());

  builder = tiny::gguf();
  std::erase_if(builder.entries, [](const auto& e) { return e.key.starts_with("tokenizer."); });
  model = load_model(folder.write("none.gguf", builder.build()));
  ASSERT_TRUE(model.has_value());
  EXPECT_FALSE((*model)->tokenizer.has_value());
  EXPECT_EQ((*model)->tokenizer_problem, "");

  builder = tiny::gguf();
  builder.remove("tokenizer.ggml.merges");
  EXPECT_FALSE(load_model(folder.write("broken.gguf", builder.build())).has_value());
}

TEST(GgufTokenizer, VocabularyFitsTheEmbedding) {
  const TempFolder folder;
  GgufBuilder builder = tiny::gguf();
  builder.set_strings("tokenizer.ggml.tokens", {"<s>", "</s>", "a", "b", "ab"});
  builder.remove("tokenizer.ggml.token_type");
  auto model = load_model(folder.write("padded.gguf", builder.build()));
  ASSERT_TRUE(model.has_value()) << model.error().message;
  ASSERT_EQ((*model)->tokenizer->tokens.size(), 8u);
  EXPECT_EQ((*model)->tokenizer->kinds[4], TokenKind::kNormal);
  EXPECT_EQ((*model)->tokenizer->kinds[5], TokenKind::kUnused);

  std::vector<std::string> tokens;
  for (int i = 0; i < 9; ++i) tokens.push_back(std::to_string(i));
  builder.set_strings("tokenizer.ggml.tokens", tokens);
  model = load_model(folder.write("long.gguf", builder.build()));
  ASSERT_TRUE(model.has_value());
  EXPECT_FALSE((*model)->tokenizer.has_value());
  EXPECT_NE((*model)->tokenizer_problem.find("a tokenizer of 9 tokens over an embedding of 8 rows"),
            std::string::npos);
}

}  // namespace
}  // namespace looseleaf
