// Whole vocabularies against ids that other programs made.
#include <gtest/gtest.h>

#include <algorithm>
#include <boost/json.hpp>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>

#include "text/detokenizer.h"
#include "text/golden_files.h"
#include "text/marked_string.h"
#include "text/nfc.h"
#include "text/random_text.h"
#include "text/small_spec.h"
#include "text/tokenizer_json.h"

namespace looseleaf {
namespace {

using Ids = std::vector<int32_t>;

// llama.cpp's form: texts between separator lines, a line of ids for each.
void check_vectors(const Tokenizer& tokenizer, const std::filesystem::path& stem) {
  const std::string separator = "\n__ggml_vocab_test__\n";
  const std::string texts = read_file(stem.string() + ".inp");
  std::istringstream lines(read_file(stem.string() + ".out"));
  ASSERT_FALSE(texts.empty()) << stem;
  size_t count = 0;
  for (size_t at = 0; at < texts.size(); ++count) {
    const size_t end = texts.find(separator, at);
    ASSERT_NE(end, std::string::npos);
    const std::string text = texts.substr(at, end - at);
    at = end + separator.size();
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    std::istringstream numbers(line);
    Ids expected;
    for (int32_t id; numbers >> id;) expected.push_back(id);
    const auto ids = tokenizer.encode(text);
    ASSERT_TRUE(ids) << message_of(ids);
    EXPECT_EQ(*ids, expected) << stem.filename() << ", text " << count << ": " << text;
    EXPECT_EQ(decode(tokenizer, *ids), text);
  }
  EXPECT_GT(count, 40u);
}

class GgufVocabulary : public testing::TestWithParam<const char*> {};

TEST_P(GgufVocabulary, Vectors) {
  const auto archive = tokenizer_archive();
  if (!archive) GTEST_SKIP() << "no LOOSELEAF_TEST_DATA/tokenizers/tokenizers.tar.zst";
  const auto file = *archive / "llama_cpp_vocabs" / "ik_llama" /
                    (std::string("ggml-vocab-") + GetParam() + ".gguf");
  auto spec = spec_from_gguf(file);
  ASSERT_TRUE(spec) << message_of(spec);
  const auto tokenizer = Tokenizer::create(*std::move(spec));
  ASSERT_TRUE(tokenizer) << message_of(tokenizer);
  check_vectors(**tokenizer, file);

  const auto& steps = (*tokenizer)->spec().normalize;
  const bool form_c = steps == std::vector<NormalizeStep>{{NormalizeStep::Kind::kNfc}};
  std::mt19937 random(2);
  for (int i = 0; i < 500; ++i) {
    const std::string text = random_text(random, 30);
    const auto ids = (*tokenizer)->encode(text);
    // A few of these vocabularies lack control bytes.
    if (!ids) {
      EXPECT_NE(ids.error().message.find("vocabulary has no token"), std::string::npos);
    } else if (text.find("▁") == std::string::npos) {
      EXPECT_EQ(decode(**tokenizer, *ids), form_c ? to_nfc(text) : text);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(LlamaCpp, GgufVocabulary,
                         testing::Values("deepseek-coder", "deepseek-llm", "falcon", "gpt-2",
                                         "llama-spm", "mpt", "phi-3", "refact", "starcoder"),
                         [](const auto& instance) {
                           std::string name = instance.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// A SentencePiece vocabulary without vectors: its text comes back.
TEST(GgufVocabularies, BaichuanIsLossless) {
  const auto archive = tokenizer_archive();
  if (!archive) GTEST_SKIP() << "no LOOSELEAF_TEST_DATA/tokenizers/tokenizers.tar.zst";
  const auto spec = spec_from_gguf(*archive / "llama_cpp_vocabs/ik_llama/ggml-vocab-baichuan.gguf");
  ASSERT_TRUE(spec) << message_of(spec);
  const auto tokenizer = make_tokenizer(*spec);
  std::mt19937 random(3);
  for (int i = 0; i < 500; ++i) {
    const std::string text = random_text(random, 30);
    const auto ids = tokenizer->encode(text);
    ASSERT_TRUE(ids) << message_of(ids);
    if (text.find("▁") == std::string::npos) {
      EXPECT_EQ(decode(*tokenizer, *ids), text);
    }
  }
}

TEST(GgufVocabularies, WordPieceIsRefusedByName) {
  const auto archive = tokenizer_archive();
  if (!archive) GTEST_SKIP() << "no LOOSELEAF_TEST_DATA/tokenizers/tokenizers.tar.zst";
  const auto spec = spec_from_gguf(*archive / "llama_cpp_vocabs/ik_llama/ggml-vocab-bert-bge.gguf");
  ASSERT_TRUE(spec) << message_of(spec);
  const auto tokenizer = Tokenizer::create(*spec);
  ASSERT_FALSE(tokenizer);
  EXPECT_EQ(tokenizer.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(tokenizer.error().message.find("'bert'"), std::string::npos);
}

// A folder's ids equal llama.cpp's for the same vocabulary.
void check_folder(const char* folder, const char* vectors) {
  const auto archive = tokenizer_archive();
  if (!archive) GTEST_SKIP() << "no LOOSELEAF_TEST_DATA/tokenizers/tokenizers.tar.zst";
  auto spec = spec_from_folder(*archive / folder);
  ASSERT_TRUE(spec) << message_of(spec);
  const auto tokenizer = Tokenizer::create(*std::move(spec));
  ASSERT_TRUE(tokenizer) << message_of(tokenizer);
  check_vectors(**tokenizer, *archive / "llama_cpp_vocabs" / "ik_llama" / vectors);
}

TEST(TokenizerFolder, Llama3) { check_folder("lenml_llama3", "ggml-vocab-llama-bpe.gguf"); }

// Merges as transformers makes them of pieces and scores: every way to cut a piece in two, the best
// score first, and of one score the shortest parts.
boost::json::array merges_by_score(const TokenizerSpec& spec) {
  struct Merge {
    double score;
    std::string_view left, right;
    size_t left_id, right_id;
  };
  std::map<std::string_view, size_t> ids;
  for (size_t id = 0; id < spec.tokens.size(); ++id) ids[spec.tokens[id]] = id;
  std::vector<Merge> merges;
  for (size_t id = 0; id < spec.tokens.size(); ++id) {
    const std::string_view token = spec.tokens[id];
    const size_t first = merges.size();
    for (size_t cut = 1; cut < token.size(); ++cut) {
      const auto left = ids.find(token.substr(0, cut)), right = ids.find(token.substr(cut));
      if (left == ids.end() || right == ids.end()) continue;
      merges.push_back({spec.scores[id], left->first, right->first, left->second, right->second});
    }
    std::sort(merges.begin() + static_cast<std::ptrdiff_t>(first), merges.end(),
              [](const Merge& a, const Merge& b) {
                return std::pair(a.left_id, a.right_id) < std::pair(b.left_id, b.right_id);
              });
  }
  const auto length = [](std::string_view text) {
    return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  };
  std::stable_sort(merges.begin(), merges.end(), [&](const Merge& a, const Merge& b) {
    return std::tuple(a.score, length(a.left), length(a.right)) >
           std::tuple(b.score, length(b.left), length(b.right));
  });
  boost::json::array result;
  for (const Merge& merge : merges) result.push_back(boost::json::array{merge.left, merge.right});
  return result;
}

// Llama 2's tokenizer.json around the vocabulary of its GGUF says the same as the GGUF. (The
// vocabulary that the archive's own file has is another one, Mistral's.)
TEST(TokenizerFolder, Llama2SaysTheSameAsGguf) {
  const auto archive = tokenizer_archive();
  if (!archive) GTEST_SKIP() << "no LOOSELEAF_TEST_DATA/tokenizers/tokenizers.tar.zst";
  const auto file = *archive / "llama_cpp_vocabs/ik_llama/ggml-vocab-llama-spm.gguf";
  const auto gguf = spec_from_gguf(file);
  ASSERT_TRUE(gguf) << message_of(gguf);
  auto document = boost::json::parse(read_file(*archive / "lenml_llama2" / "tokenizer.json"));
  boost::json::object& model = document.as_object()["model"].as_object();
  boost::json::object vocab;
  for (size_t id = 0; id < gguf->tokens.size(); ++id) vocab[gguf->tokens[id]] = id;
  model["vocab"] = std::move(vocab);
  model["merges"] = merges_by_score(*gguf);
  const auto json = tokenizer_spec_from_json({boost::json::serialize(document), {}, {}, {}});
  ASSERT_TRUE(json) << message_of(json);
  EXPECT_EQ(json->tokens, gguf->tokens);
  EXPECT_EQ(json->kinds, gguf->kinds);
  EXPECT_EQ(json->add_bos, gguf->add_bos);
  const auto from_gguf = make_tokenizer(*gguf), from_json = make_tokenizer(*json);
  check_vectors(*from_json, file);
  std::mt19937 random(4);
  for (int i = 0; i < 500; ++i) {
    const std::string text = random_text(random, 30);
    const auto ids = from_json->encode(text);
    ASSERT_TRUE(ids) << message_of(ids);
    EXPECT_EQ(*ids, *from_gguf->encode(text)) << text;
    EXPECT_EQ(decode(*from_json, *ids), decode(*from_gguf, *ids));
  }
}

TEST(TokenizerFolder, Qwen3) { check_folder("lenml_qwen3", "ggml-vocab-qwen2.gguf"); }

TEST(TokenizerFolder, Llama3HasItsSpecialTokens) {
  const auto archive = tokenizer_archive();
  if (!archive) GTEST_SKIP() << "no LOOSELEAF_TEST_DATA/tokenizers/tokenizers.tar.zst";
  const auto spec = spec_from_folder(*archive / "lenml_llama3");
  ASSERT_TRUE(spec) << message_of(spec);
  EXPECT_EQ(spec->bos, 128000);
  EXPECT_EQ(spec->eos, 128001);
  EXPECT_EQ(spec->end_of_generation, (Ids{128001, 128009}));
  EXPECT_TRUE(spec->ignore_merges);
}

// The list "tokenizer" of a golden file: ids with special tokens parsed and not.
void check_golden(const Tokenizer& tokenizer, const std::filesystem::path& file) {
  const auto golden = boost::json::parse(read_file(file));
  const auto& cases = golden.at("tokenizer").as_array();
  EXPECT_GT(cases.size(), 10u);
  for (const auto& entry : cases) {
    const std::string text(entry.at("text").as_string());
    const auto parsed = tokenizer.encode(MarkedString(text, Origin::kTemplate));
    const auto plain = tokenizer.encode(text);
    ASSERT_TRUE(parsed && plain) << text;
    EXPECT_EQ(*parsed, boost::json::value_to<Ids>(entry.at("ids"))) << text;
    EXPECT_EQ(*plain, boost::json::value_to<Ids>(entry.at("ids_plain"))) << text;
    EXPECT_EQ(decode(tokenizer, *plain), text);
    EXPECT_EQ(decode(tokenizer, *parsed, true), text);
  }
}

const std::filesystem::path kGolden = LOOSELEAF_GOLDEN_DIR;

TEST(GoldenModels, TinyGguf) {
  const auto spec = spec_from_gguf(kGolden / "llama_f32.gguf");
  ASSERT_TRUE(spec) << message_of(spec);
  check_golden(*make_tokenizer(*spec), kGolden / "llama_f32.golden.json");
}

TEST(GoldenModels, TinyFolderSaysTheSameAsGguf) {
  const auto folder = spec_from_folder(kGolden / "llama_hf_f32");
  const auto gguf = spec_from_gguf(kGolden / "llama_f32.gguf");
  ASSERT_TRUE(folder) << message_of(folder);
  ASSERT_TRUE(gguf) << message_of(gguf);
  check_golden(*make_tokenizer(*folder), kGolden / "llama_hf_f32.golden.json");
  EXPECT_EQ(folder->tokens, gguf->tokens);
  EXPECT_EQ(folder->kinds, gguf->kinds);
  EXPECT_EQ(folder->merges, gguf->merges);
  EXPECT_EQ(folder->split_patterns, gguf->split_patterns);
  EXPECT_EQ(folder->bos, gguf->bos);
  EXPECT_EQ(folder->eos, gguf->eos);
  EXPECT_EQ(folder->add_bos, gguf->add_bos);
  EXPECT_EQ(folder->end_of_generation, gguf->end_of_generation);
  EXPECT_EQ(folder->chat_template, gguf->chat_template);
}

TEST(GoldenModels, SmolLm2) {
  const char* file = std::getenv("LOOSELEAF_SMOLLM2");
  if (file == nullptr || *file == '\0') GTEST_SKIP() << "LOOSELEAF_SMOLLM2 is not set";
  const auto spec = spec_from_gguf(file);
  ASSERT_TRUE(spec) << message_of(spec);
  check_golden(*make_tokenizer(*spec), kGolden / "smollm2_135m_q4_1.golden.json");
}

}  // namespace
}  // namespace looseleaf
