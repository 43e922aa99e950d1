// From requests to pieces of token ids.
#include "engine/prompt.h"

#include "asking.h"
#include "text/marked_string.h"

namespace looseleaf {
namespace {

constexpr int32_t kBos = 1;  // <|im_start|>, as the model's files say

class PromptTest : public testing::Test {
 protected:
  PromptTest() {
    const auto model = value_of(load_model(golden_dir() / "llama_f32.gguf"));
    spec_ = *model->tokenizer;
  }
  // With `adds_bos`, or without a BOS at all.
  void use(bool adds_bos, bool has_bos = true) {
    spec_.add_bos = adds_bos;
    if (!has_bos) spec_.bos = -1;
    tokenizer_ = value_of(Tokenizer::create(spec_));
    chat_template_ = ChatTemplate::of(tokenizer_.get());
    context_ = {tokenizer_.get(), "", kSmallVocab, &chat_template_};
  }
  Ids encode(const std::string& text) const { return value_of(tokenizer_->encode(text)); }
  Prompt build(const Request& r) const { return value_of(build_prompt(context_, r)); }
  std::string refused_field(const Request& r) const {
    const auto prompt = build_prompt(context_, r);
    return prompt ? "built" : prompt.error().param;
  }
  static Request completion_text(const std::string& prompt) {
    Request r;
    r.prompt = prompt;
    return r;
  }

  TokenizerSpec spec_;
  std::unique_ptr<const Tokenizer> tokenizer_;
  ChatTemplate chat_template_ = ChatTemplate::of(nullptr);
  PromptContext context_;
};

TEST_F(PromptTest, Pieces) {
  use(false);
  const Prompt prompt = build(completion(ids(3, 1), {ids(4, 2), ids(5, 3)}, ids(6, 4), "reuse"));
  ASSERT_EQ(prompt.pieces.size(), 4u);
  EXPECT_EQ(prompt.pieces[0].tokens, ids(3, 1));
  EXPECT_EQ(prompt.pieces[1].document, 0);
  EXPECT_EQ(prompt.pieces[2].document, 1);
  EXPECT_EQ(prompt.pieces[3].tokens, ids(6, 4));
  EXPECT_EQ(prompt.tokens(), 18);
  EXPECT_EQ(prompt.document_tokens(), 9);
  const Prompt text = build(completion(ids(3, 1), {}, ids(6, 4), "reuse"));
  ASSERT_EQ(text.pieces.size(), 1u) << "texts that touch are one";
  EXPECT_FALSE(text.has_documents());
}

TEST_F(PromptTest, IdsOutsideTheVocabulary) {
  use(false);
  for (const int32_t id : {-1, kSmallVocab, INT32_MIN, INT32_MAX}) {
    EXPECT_EQ(refused_field(completion({3, id}, {}, {3}, "auto")), "prefix[1]");
    EXPECT_EQ(refused_field(completion({}, {}, {3, 3, id}, "auto")), "prompt[2]");
    EXPECT_EQ(refused_field(completion({}, {{3}, {id}}, {3}, "auto")), "documents[1].tokens[0]");
  }
  EXPECT_EQ(refused_field(completion({0}, {{kSmallVocab - 1}}, {3}, "auto")), "built");
}

TEST_F(PromptTest, NothingAsked) {
  use(false);
  EXPECT_EQ(refused_field(Request{}), "messages");
  EXPECT_EQ(refused_field(completion({}, {}, {}, "auto")), "prompt");
  EXPECT_EQ(refused_field(completion_text("")), "prompt");
  EXPECT_EQ(refused_field(completion({3}, {{4}}, {}, "auto")), "prompt") << "ends in a document";
  EXPECT_EQ(refused_field(completion({}, {{4}}, {}, "auto")), "prompt");
  Request r = completion({}, {{4}}, {5}, "auto");
  r.documents.push_back({});
  EXPECT_EQ(refused_field(r), "documents[1]");
  r.documents[1].title = "a title alone";
  EXPECT_EQ(refused_field(r), "documents[1]");
}

TEST_F(PromptTest, SeveralAsked) {
  use(false);
  Request r = question("x");
  r.prompt = "y";
  EXPECT_EQ(refused_field(r), "prompt");
  r = question("x");
  r.messages = {{"user", {"y"}}};
  EXPECT_EQ(refused_field(r), "question");
  r = question("x");
  r.prefix = "y";
  EXPECT_EQ(refused_field(r), "prefix");
}

TEST_F(PromptTest, BytesThatAreNotUtf8) {
  use(false);
  Request r = completion_text("x");
  r.documents = {{}, {}};
  r.documents[0].text = "fine";
  r.documents[1].text = "a\xFF";
  EXPECT_EQ(refused_field(r), "documents[1]");
  r.documents.pop_back();
  r.prompt = "\xC3";
  EXPECT_EQ(refused_field(r), "prompt");
  r = question("a\xFF");
  EXPECT_FALSE(build_prompt(context_, r));
}

TEST_F(PromptTest, ExactlyOneBos) {
  use(true);
  const auto with_bos = [](const Ids& tokens) { return joined({kBos}, tokens); };
  EXPECT_EQ(build(completion_text("cards")).pieces[0].tokens, with_bos(encode("cards")));
  EXPECT_EQ(build(completion_text("<|im_start|>cards")).pieces[0].tokens, with_bos(encode("cards")))
      << "the text has one";
  Request r = completion_text("cards");
  r.prefix = "The ";
  EXPECT_EQ(build(r).pieces[0].tokens, with_bos(joined(encode("The "), encode("cards"))));
  r.prefix = "";
  EXPECT_EQ(build(r).pieces[0].tokens, with_bos(encode("cards")));
  EXPECT_EQ(build(completion({}, {}, {7, 8}, "auto")).pieces[0].tokens, (Ids{7, 8}))
      << "token lists are used as they are";
  // A chat begins with <|im_start|>, which is this model's BOS.
  const Ids chat = build(question("x")).pieces[0].tokens;
  EXPECT_EQ(chat[0], kBos);
  EXPECT_NE(chat[1], kBos);
}

TEST_F(PromptTest, BosStandsBeforeTheFirstDocumentNotInIt) {
  use(true);
  Request r = completion_text("cards");
  r.documents = {{}};
  r.documents[0].text = "reader";
  const Prompt prompt = build(r);
  ASSERT_EQ(prompt.pieces.size(), 3u);
  EXPECT_EQ(prompt.pieces[0].tokens, (Ids{kBos}));
  EXPECT_EQ(prompt.pieces[1].tokens, encode("reader\n\n"));
  EXPECT_EQ(prompt.pieces[2].tokens, encode("cards"));
  const Prompt alone = value_of(build_document(context_, r.documents[0], r));
  ASSERT_EQ(alone.pieces.size(), 1u);
  EXPECT_EQ(alone.pieces[0].tokens, encode("reader\n\n"));
}

TEST_F(PromptTest, NoBosWhereTheTokenizerAddsNone) {
  use(false);
  EXPECT_EQ(build(completion_text("cards")).pieces[0].tokens, encode("cards"));
}

TEST_F(PromptTest, EncodingPrefix) {
  use(false);
  Request r = completion({7, 8}, {{9}}, {3}, "reuse");
  const auto prefix_of = [&](const char* name) {
    r.encoding_prefix = name;
    return build(r).encoding_prefix;
  };
  EXPECT_EQ(prefix_of("none"), Ids());
  EXPECT_EQ(prefix_of("bos"), (Ids{kBos}));
  EXPECT_EQ(prefix_of("header"), (Ids{7, 8})) << "a completion's header is its prefix";
  r.prefix.reset();
  EXPECT_EQ(prefix_of("header"), Ids()) << "the prompt is no header";
  r = question("x");
  const Ids header = prefix_of("header");
  EXPECT_EQ(header[0], kBos);
  EXPECT_EQ(header, value_of(tokenizer_->encode(MarkedString(
                        "<|im_start|>system\nYou are a tiny model.<|im_end|>\n<|im_start|>user\n",
                        Origin::kTemplate))));
  r.encoding_prefix = "all";
  EXPECT_EQ(refused_field(r), "encoding_prefix");
}

// A model without a BOS takes the first token of its chat header, in chats and completions alike,
// so that both use the same chunks.
TEST_F(PromptTest, BosOfAModelWithoutOne) {
  use(false, false);
  const int32_t start = *tokenizer_->special("<|im_start|>");
  EXPECT_EQ(build(question("x")).encoding_prefix, (Ids{start}));
  EXPECT_EQ(build(completion({7, 8}, {{9}}, {3}, "reuse")).encoding_prefix, (Ids{start}));
  EXPECT_EQ(build(completion({}, {{9}}, {3}, "reuse")).encoding_prefix, (Ids{start}));
  EXPECT_EQ(value_of(build_document(context_, document({9}), {})).encoding_prefix, (Ids{start}));
}

TEST_F(PromptTest, WithoutATokenizer) {
  context_ = {nullptr, "its model is unknown", kSmallVocab, &chat_template_};
  EXPECT_EQ(refused_field(completion({3}, {{4}}, {5}, "reuse")), "built");
  Request text = completion({}, {}, {5}, "auto");
  text.documents = {{}};
  text.documents[0].text = "x";
  for (const Request& r : {question("x"), completion_text("x"), text}) {
    const auto prompt = build_prompt(context_, r);
    ASSERT_FALSE(prompt);
    EXPECT_EQ(prompt.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(prompt.error().message.find("its model is unknown"), std::string::npos);
  }
}

}  // namespace
}  // namespace looseleaf
