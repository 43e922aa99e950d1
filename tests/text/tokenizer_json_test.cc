#include "text/tokenizer_json.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "text/small_spec.h"
#include "text/split_patterns.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

// A small but whole tokenizer.json: bytes, "he" (256), <s> (257), </s> (258), <think> (259).
json::object small_file() {
  const TokenizerSpec spec = SmallSpec{{{"h", "e"}}, {}, {}}.build();
  json::object vocab;
  for (size_t id = 0; id < spec.tokens.size(); ++id) vocab[spec.tokens[id]] = id;
  const auto added = [](int id, std::string_view text, bool special) {
    return json::object{{"id", id},          {"content", text}, {"single_word", false},
                        {"lstrip", false},   {"rstrip", false}, {"normalized", false},
                        {"special", special}};
  };
  return {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens",
       {added(257, "<s>", true), added(258, "</s>", true), added(259, "<think>", false)}},
      {"normalizer", nullptr},
      {"pre_tokenizer",
       {{"type", "Sequence"},
        {"pretokenizers",
         json::array{json::object{{"type", "Digits"}, {"individual_digits", true}},
                     json::object{{"type", "ByteLevel"}, {"add_prefix_space", false}}}}}},
      {"post_processor", nullptr},
      {"decoder", {{"type", "ByteLevel"}, {"add_prefix_space", true}}},
      {"model",
       {{"type", "BPE"}, {"dropout", nullptr}, {"vocab", vocab}, {"merges", json::array{"h e"}}}},
  };
}

Expected<TokenizerSpec> read(const json::object& tokenizer, std::string_view config = {},
                             std::string_view generation = {}, std::string_view chat = {}) {
  const std::string text = json::serialize(tokenizer);
  return tokenizer_spec_from_json({text, config, generation, chat});
}

// What reading says after `change`.
template <typename Change>
std::string after(Change change) {
  json::object file = small_file();
  change(file);
  const auto spec = read(file);
  EXPECT_EQ(message_of(spec).find('\n'), std::string::npos);
  return message_of(spec);
}

json::object split(json::object pattern, std::string_view behavior = "Isolated") {
  return {{"type", "Split"}, {"pattern", pattern}, {"behavior", behavior}, {"invert", false}};
}

TEST(TokenizerJson, ReadsASmallOne) {
  const auto spec = read(small_file());
  ASSERT_TRUE(spec) << message_of(spec);
  EXPECT_EQ(spec->model, "bpe");
  EXPECT_EQ(spec->tokens.size(), 260u);
  EXPECT_EQ(spec->kinds[256], TokenKind::kNormal);
  EXPECT_EQ(spec->kinds[258], TokenKind::kControl);
  EXPECT_EQ(spec->kinds[259], TokenKind::kAdded);
  EXPECT_EQ(spec->split_patterns,
            (std::vector<SplitRule>{std::string(R"(\p{N})"), std::string(gpt2_split_pattern())}));
  EXPECT_EQ(spec->merges, (std::vector<std::pair<std::string, std::string>>{{"h", "e"}}));
  EXPECT_EQ(spec->bos, -1);
  EXPECT_EQ(spec->eos, -1);
  EXPECT_FALSE(spec->add_bos);
  EXPECT_TRUE(spec->end_of_generation.empty());
  const auto tokenizer = make_tokenizer(*spec);
  EXPECT_EQ(*tokenizer->encode("he12"), (std::vector<int32_t>{256, '1', '2'}));
}

TEST(TokenizerJson, MergesAsPairs) {
  json::object file = small_file();
  file["model"].as_object()["merges"] = json::array(1, json::array{"h", "e"});  // not a copy of it
  const auto spec = read(file);
  ASSERT_TRUE(spec) << message_of(spec);
  EXPECT_EQ(spec->merges.front(), (std::pair<std::string, std::string>("h", "e")));
}

TEST(TokenizerJson, ReadsTheConfig) {
  const auto spec = read(small_file(), R"({"bos_token": "<s>", "eos_token": {"content": "</s>"},
    "add_bos_token": true, "model_max_length": 1000000000000000019884624838656,
    "chat_template": [{"name": "tool_use", "template": "T"}, {"name": "default", "template": "D"}],
    "added_tokens_decoder": {"257": {"content": "<s>"},
                             "260": {"content": "<|im_end|>", "special": true}}})",
                         R"({"eos_token_id": [258, 256]})");
  ASSERT_TRUE(spec) << message_of(spec);
  EXPECT_EQ(spec->bos, 257);
  EXPECT_EQ(spec->eos, 258);
  EXPECT_TRUE(spec->add_bos);
  EXPECT_EQ(spec->chat_template, "D");
  EXPECT_EQ(spec->kinds[260], TokenKind::kControl);
  EXPECT_EQ(spec->end_of_generation, (std::vector<int32_t>{256, 258, 260}));
}

TEST(TokenizerJson, ChatTemplates) {
  EXPECT_EQ(read(small_file(), R"({"chat_template": "A"})")->chat_template, "A");
  EXPECT_EQ(read(small_file(), R"({"chat_template": "A"})", {}, "B")->chat_template, "B");
  EXPECT_EQ(read(small_file(), R"({"chat_template": []})")->chat_template, "");
  EXPECT_EQ(read(small_file(), R"({"chat_template": []})")->chat_template_problem, "");
  const auto named = R"({"chat_template": [{"name": "rag", "template": "R"}]})";
  EXPECT_EQ(read(small_file(), named)->chat_template, "");
  EXPECT_NE(read(small_file(), named)->chat_template_problem.find("'rag'"), std::string::npos);
  EXPECT_EQ(read(small_file(), named, {}, "B")->chat_template_problem, "");
  EXPECT_FALSE(read(small_file(), R"({"chat_template": 1})"));
}

TEST(TokenizerJson, EosFromTheGenerationConfig) {
  EXPECT_EQ(read(small_file(), {}, R"({"eos_token_id": 258})")->eos, 258);
  EXPECT_EQ(read(small_file(), {}, R"({"eos_token_id": null})")->eos, -1);
  EXPECT_EQ(message_of(read(small_file(), {}, R"({"eos_token_id": "</s>"})")),
            "generation_config.json: eos_token_id is neither a token id nor a list of them");
}

TEST(TokenizerJson, BosFromThePostProcessor) {
  json::object file = small_file();
  const json::object bos = {{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}};
  const json::object sequence = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  file["post_processor"] = {
      {"type", "Sequence"},
      {"processors", json::array{json::object{{"type", "ByteLevel"}},
                                 json::object{{"type", "TemplateProcessing"},
                                              {"single", json::array{bos, sequence}}}}}};
  auto spec = read(file);
  ASSERT_TRUE(spec) << message_of(spec);
  EXPECT_TRUE(spec->add_bos);
  EXPECT_EQ(spec->bos, 257);
  EXPECT_FALSE(read(file, R"({"add_bos_token": false})")->add_bos);
  EXPECT_NE(message_of(read(file, R"({"bos_token": "</s>"})")).find("make them agree"),
            std::string::npos);
  file["post_processor"] = {{"type", "TemplateProcessing"}, {"single", json::array{sequence, bos}}};
  EXPECT_NE(message_of(read(file)).find("any token but one before the text"), std::string::npos);
}

TEST(TokenizerJson, SplitPatterns) {
  json::object file = small_file();
  const json::object byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  const json::object nested = {
      {"type", "Sequence"},
      {"pretokenizers", json::array{split({{"Regex", R"(\p{L}+)"}}), split({{"String", "a."}})}}};
  file["pre_tokenizer"] = {{"type", "Sequence"},
                           {"pretokenizers", json::array{nested, byte_level}}};
  const auto spec = read(file);
  ASSERT_TRUE(spec) << message_of(spec);
  EXPECT_EQ(spec->split_patterns,
            (std::vector<SplitRule>{std::string(R"(\p{L}+)"), std::string(R"(a\.)")}));
}

TEST(TokenizerJson, NormalizerNfc) {
  json::object file = small_file();
  file["normalizer"] = {{"type", "NFC"}};
  const auto spec = read(file);
  ASSERT_TRUE(spec) << message_of(spec);
  EXPECT_EQ(spec->normalize, (std::vector<NormalizeStep>{{NormalizeStep::Kind::kNfc}}));
  json::object& token = file["added_tokens"].as_array()[2].as_object();
  token["normalized"] = true;
  EXPECT_NE(message_of(read(file)).find("'<think>' is matched in normalized text"),
            std::string::npos);
  token["content"] = "   ";  // is the same in either text
  EXPECT_EQ(message_of(read(file)), "no error");
  token["content"] = "<think>";
  file["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}};
  EXPECT_EQ(message_of(read(file)), "no error");
  token["content"] = "<a think>";
  EXPECT_NE(message_of(read(file)).find("is matched in normalized text"), std::string::npos);
}

TEST(TokenizerJson, Normalizers) {
  using enum NormalizeStep::Kind;
  const auto steps = [](json::array parts) {
    json::object file = small_file();
    file["normalizer"] = {{"type", "Sequence"}, {"normalizers", parts}};
    const auto spec = read(file);
    EXPECT_TRUE(spec) << message_of(spec);
    return spec ? spec->normalize : std::vector<NormalizeStep>{};
  };
  EXPECT_EQ(
      steps(
          {json::object{{"type", "NFKC"}}, json::object{{"type", "Prepend"}, {"prepend", "▁"}},
           json::object{{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}},
           json::object{{"type", "Replace"}, {"pattern", {{"Regex", " {2,}"}}}, {"content", " "}}}),
      (std::vector<NormalizeStep>{
          {kNfkc}, {kPrepend, "", "▁"}, {kReplace, " ", "▁"}, {kReplacePattern, " {2,}", " "}}));
  EXPECT_EQ(steps({json::object{{"type", "Strip"}, {"strip_left", true}, {"strip_right", false}},
                   json::object{{"type", "Precompiled"}, {"precompiled_charsmap", "AAAAAGEA"}}}),
            (std::vector<NormalizeStep>{{kStripLeft},
                                        {kGraphemeCharsmap, std::string("\0\0\0\0a\0", 6)}}));
}

TEST(TokenizerJson, RefusesComponentsByName) {
  const auto set = [](std::string_view key, json::value value) {
    return after([&](json::object& file) { file[key] = value; });
  };
  EXPECT_EQ(set("normalizer", {{"type", "NFKD"}}),
            "tokenizer.json: normalizer.type: 'NFKD' is not supported; use the model as GGUF or "
            "with another tokenizer");
  EXPECT_NE(set("normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "?"}})
                .find("precompiled_charsmap is not base64"),
            std::string::npos);
  EXPECT_NE(set("pre_tokenizer", {{"type", "BertPreTokenizer"}})
                .find("pre_tokenizer.type: 'BertPreTokenizer'"),
            std::string::npos);
  EXPECT_NE(
      set("pre_tokenizer", nullptr).find("a model without ByteLevel, byte_fallback or unk_token"),
      std::string::npos);
  EXPECT_NE(set("pre_tokenizer", {{"type", "ByteLevel"}}).find("add_prefix_space: true"),
            std::string::npos);
  EXPECT_NE(set("decoder", {{"type", "WordPiece"}}).find("'WordPiece'"), std::string::npos);
  EXPECT_NE(set("post_processor", {{"type", "BertProcessing"}}).find("'BertProcessing'"),
            std::string::npos);
  const json::object byte_level = {{"type", "ByteLevel"}, {"add_prefix_space", false}};
  const auto sequence = [&](json::array parts) {
    return set("pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", parts}});
  };
  EXPECT_NE(sequence({byte_level, json::object{{"type", "Digits"}}})
                .find("pretokenizers[1]: 'Digits' behind ByteLevel"),
            std::string::npos);
  EXPECT_NE(sequence({byte_level, json::object{{"type", "Metaspace"}, {"replacement", "_"}}})
                .find("'Metaspace' behind ByteLevel"),
            std::string::npos);
  EXPECT_NE(sequence({split({{"Regex", "a"}}),
                      json::object{{"type", "Metaspace"}, {"replacement", "_"}}, byte_level})
                .find("'Metaspace'"),
            std::string::npos);
  EXPECT_NE(sequence({split({{"Regex", "a"}}, "Some"), byte_level}).find("behavior: 'Some'"),
            std::string::npos);
  EXPECT_NE(sequence({split({{"String", ""}}), byte_level}).find("neither Regex nor String"),
            std::string::npos);
}

// The same file over characters: pieces "h", "e", "he", byte tokens.
json::object char_file() {
  json::object file = small_file();
  json::object vocab = {{"<unk>", 0}, {"h", 1}, {"e", 2}, {"he", 3}, {"▁", 4}};
  for (int byte = 0; byte < 252; ++byte) vocab[fmt::format("<0x{:02X}>", byte)] = 5 + byte;
  json::object& model = file["model"].as_object();
  model["vocab"] = vocab;
  model["unk_token"] = "<unk>";
  model["byte_fallback"] = true;
  file["pre_tokenizer"] = nullptr;
  file["decoder"] = {
      {"type", "Sequence"},
      {"decoders",
       json::array{
           json::object{{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}},
           json::object{{"type", "ByteFallback"}}, json::object{{"type", "Fuse"}},
           json::object{{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}}}};
  return file;
}

TEST(TokenizerJson, CharactersWithByteFallback) {
  json::object file = char_file();
  file["normalizer"] = {{"type", "Prepend"}, {"prepend", "▁"}};
  const auto spec = read(file);
  ASSERT_TRUE(spec) << message_of(spec);
  EXPECT_EQ(spec->model, "char-bpe");
  EXPECT_EQ(spec->unk, 0);
  EXPECT_EQ(spec->kinds[0], TokenKind::kControl);
  EXPECT_EQ(spec->kinds[5], TokenKind::kByte);
  EXPECT_EQ(spec->space_mark, "▁");
  EXPECT_EQ(spec->leading_space, LeadingSpace::kOneDropped);
  const auto tokenizer = make_tokenizer(*spec);
  EXPECT_EQ(*tokenizer->encode("he\n\xF4\x8F\xBF\xBF"),
            (std::vector<int32_t>{4, 3, 5 + '\n', 5 + 0xF4, 5 + 0x8F, 5 + 0xBF, 5 + 0xBF}));
  // A tokenizer_config.json may repeat that a space is put before a text, not deny it.
  EXPECT_EQ(message_of(read(file, R"({"add_prefix_space": true})")), "no error");
  EXPECT_NE(message_of(read(file, R"({"add_prefix_space": false})")).find("make them agree"),
            std::string::npos);
  file["normalizer"] = nullptr;
  EXPECT_NE(message_of(read(file, R"({"add_prefix_space": true})")).find("make them agree"),
            std::string::npos);
}

TEST(TokenizerJson, RefusesDecodersByName) {
  const auto with = [](json::value decoder) {
    json::object file = char_file();
    file["decoder"] = std::move(decoder);
    return message_of(read(file));
  };
  const auto sequence = [&](json::array parts) {
    return with(json::object{{"type", "Sequence"}, {"decoders", parts}});
  };
  EXPECT_NE(with(nullptr).find("decoder: none"), std::string::npos);
  EXPECT_NE(with({{"type", "ByteLevel"}}).find("'ByteLevel'"), std::string::npos);
  EXPECT_NE(with({{"type", "Fuse"}}).find("a byte_fallback without its decoder"),
            std::string::npos);
  EXPECT_NE(sequence({json::object{{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}}})
                .find("stripping anything but one space"),
            std::string::npos);
  EXPECT_NE(sequence({json::object{
                         {"type", "Replace"}, {"pattern", {{"String", "_"}}}, {"content", "-"}}})
                .find("any replacement but one mark for spaces"),
            std::string::npos);
}

TEST(TokenizerJson, UnigramsOfBrokenFiles) {
  const auto with = [](json::value vocab, json::value unk) {
    json::object file = char_file();
    file["model"] = {{"type", "Unigram"}, {"vocab", std::move(vocab)}, {"unk_id", std::move(unk)}};
    file["added_tokens"] = json::array{};
    file["decoder"] = {{"type", "Metaspace"}, {"replacement", "▁"}};
    return message_of(read(file));
  };
  const json::array good = {json::array{"<unk>", 0}, json::array{"a", -1.5}};
  EXPECT_EQ(with(good, 0), "no error");
  EXPECT_NE(with(good, 2).find("unk_id is 2, outside the vocabulary of 2"), std::string::npos);
  EXPECT_NE(with(nullptr, 0).find("model.vocab is missing"), std::string::npos);
  for (const json::value& entry :
       {json::value("a"), json::value(json::array{"a"}), json::value(json::array{1, 2}),
        json::value(json::array{"a", "b"})})
    EXPECT_NE(with(json::array{entry}, 0).find("model.vocab[0] is not"), std::string::npos);
  EXPECT_NE(with(json::array{json::array{"a", 0}, json::array{"a", 0}}, 0).find("are both 'a'"),
            std::string::npos);
}

TEST(TokenizerJson, RefusesModelsByName) {
  const auto set = [](std::string_view key, json::value value) {
    return after([&](json::object& file) { file["model"].as_object()[key] = value; });
  };
  EXPECT_NE(set("type", "WordPiece").find("model.type: 'WordPiece'"), std::string::npos);
  EXPECT_NE(set("type", "Unigram").find("model.type: Unigram behind ByteLevel"), std::string::npos);
  EXPECT_NE(set("byte_fallback", true).find("model.byte_fallback: true"), std::string::npos);
  EXPECT_NE(set("dropout", 0.1).find("model.dropout"), std::string::npos);
  EXPECT_NE(set("end_of_word_suffix", "</w>").find("'</w>'"), std::string::npos);
  EXPECT_NE(set("continuing_subword_prefix", "##").find("'##'"), std::string::npos);
  EXPECT_EQ(set("dropout", 0.0), "no error");
  EXPECT_EQ(set("continuing_subword_prefix", ""), "no error");
}

TEST(TokenizerJson, RefusesAddedTokensThatDependOnWords) {
  const std::string message = after([&](json::object& file) {
    file["added_tokens"].as_array()[0].as_object()["single_word"] = true;
  });
  EXPECT_NE(message.find("added_tokens[0].single_word: the added token '<s>'"), std::string::npos)
      << message;
}

TEST(TokenizerJson, AddedTokensMayTakeWhiteSpace) {
  json::object file = small_file();
  auto& tokens = file["added_tokens"].as_array();
  tokens[1].as_object()["rstrip"] = true;
  tokens[2].as_object()["lstrip"] = true;
  const auto spec = read(file);
  ASSERT_TRUE(spec) << message_of(spec);
  EXPECT_EQ(spec->strip(257), TokenStrip::kNone);
  EXPECT_EQ(spec->strip(258), TokenStrip::kBehind);
  EXPECT_EQ(spec->strip(259), TokenStrip::kBefore);
}

TEST(TokenizerJson, RefusesBrokenFiles) {
  const auto model = [](auto change) {
    return after([&](json::object& file) { change(file["model"].as_object()); });
  };
  EXPECT_EQ(model([](auto& m) { m.erase("merges"); }),
            "tokenizer.json: model.merges is missing; fetch the file again");
  for (const json::value& merge : {json::value("he"), json::value("h e x"), json::value(1),
                                   json::value(json::array{"h"}), json::value(json::array{1, 2})})
    EXPECT_NE(model([&](auto& m) { m["merges"] = json::array{merge}; }).find("model.merges[0]"),
              std::string::npos);
  EXPECT_NE(model([](auto& m) { m["vocab"] = 1; }).find("model.vocab"), std::string::npos);
  EXPECT_NE(model([](auto& m) { m["vocab"].as_object()["x"] = "y"; }).find("id of 'x'"),
            std::string::npos);
  EXPECT_NE(model([](auto& m) { m["vocab"].as_object()["x y"] = -1; }).find("'x y' has the id -1"),
            std::string::npos);
  EXPECT_NE(model([](auto& m) { m["vocab"].as_object()["xy"] = 1'000'000'000'000; }).find("'xy'"),
            std::string::npos);
  EXPECT_NE(model([](auto& m) { m["vocab"].as_object()["xy"] = 5; }).find("id 5 is both"),
            std::string::npos);
  const auto file = [](auto change) { return after(change); };
  EXPECT_NE(file([](auto& f) { f.erase("model"); }).find("tokenizer.json: model"),
            std::string::npos);
  EXPECT_NE(file([](auto& f) {
              f["added_tokens"].as_array()[0].as_object()["id"] = 5;
            }).find("id 5 is both"),
            std::string::npos);
  EXPECT_NE(file([](auto& f) {
              f["added_tokens"].as_array()[0].as_object().erase("content");
            }).find("added_tokens[0].content"),
            std::string::npos);
  EXPECT_NE(file([](auto& f) { f["pre_tokenizer"] = "ByteLevel"; }).find("is not a JSON object"),
            std::string::npos);
  EXPECT_NE(message_of(read(small_file(), R"({"eos_token": "<none>"})"))
                .find("tokenizer_config.json: eos_token: '<none>' is not a token"),
            std::string::npos);
  EXPECT_NE(message_of(read(small_file(), R"({"added_tokens_decoder": {"257": {"content": "x"}}})"))
                .find("added_tokens_decoder.257 is 'x' but tokenizer.json has '<s>'"),
            std::string::npos);
  EXPECT_NE(message_of(read(small_file(), R"({"added_tokens_decoder": {"1x": {}}})")).find("'1x'"),
            std::string::npos);
  EXPECT_NE(message_of(read(small_file(), R"({"add_bos_token": true})")).find("BOS"),
            std::string::npos);
  EXPECT_NE(message_of(read(small_file(), R"({"add_eos_token": true})")).find("add_eos_token"),
            std::string::npos);
}

// Merges whose result is one of their sides: each still takes one symbol away, so that they end.
TEST(TokenizerJson, MergesInACircleEnd) {
  json::object file = small_file();
  json::object& model = file["model"].as_object();
  model["vocab"].as_object()[""] = 300;
  model["merges"] = json::array{json::array{"", "h"}, json::array{"h", ""}, json::array{"h", "e"}};
  const auto spec = read(file);
  ASSERT_TRUE(spec) << message_of(spec);
  EXPECT_EQ(*make_tokenizer(*spec)->encode("hehh"), (std::vector<int32_t>{256, 'h', 'h'}));
}

TEST(TokenizerJson, IdsFarBeyondAnyVocabularyAreRefused) {
  json::object file = small_file();
  file["model"].as_object()["vocab"].as_object()["xy"] = 1 << 20;
  EXPECT_NE(message_of(read(file)).find("'xy' has the id 1048576"), std::string::npos);
}

TEST(TokenizerJson, RefusesWhatIsNotJson) {
  const std::string deep = std::string(100'000, '[');
  for (const std::string_view text :
       {std::string_view(""), std::string_view("{"), std::string_view("{} x"),
        std::string_view("{\"a\": \xFF}"), std::string_view(deep)}) {
    const auto spec = tokenizer_spec_from_json({text, {}, {}, {}});
    ASSERT_FALSE(spec);
    EXPECT_EQ(spec.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(spec.error().message.find("tokenizer.json: not valid JSON at offset"),
              std::string::npos)
        << spec.error().message;
  }
  EXPECT_EQ(message_of(tokenizer_spec_from_json({"[]", {}, {}, {}})),
            "tokenizer.json is not a JSON object");
}

TEST(TokenizerJson, UnnamedIdsAreUnused) {
  json::object file = small_file();
  file["added_tokens"].as_array()[2].as_object()["id"] = 300;
  const auto spec = read(file);
  ASSERT_TRUE(spec) << message_of(spec);
  EXPECT_EQ(spec->tokens.size(), 301u);
  EXPECT_EQ(spec->kinds[270], TokenKind::kUnused);
  EXPECT_EQ(make_tokenizer(*spec)->bytes(270), "");
}

}  // namespace
}  // namespace looseleaf
