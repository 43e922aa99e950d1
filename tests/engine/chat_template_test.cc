// Which template a model gets, what is said where there is none, and documents that a template does
// not pass through.
#include "engine/chat_template.h"

#include "chat_models.h"
#include "engine/chat.h"
#include "engine/describe.h"
#include "engine/document_marks.h"

namespace looseleaf {
namespace {

const Layout kLayout{"", "{text}", "{text}", "{question}"};

struct Model {
  explicit Model(const TokenizerSpec& spec)
      : tokenizer(value_of(Tokenizer::create(spec))),
        chat_template(ChatTemplate::of(tokenizer.get(), test_time)) {}
  Expected<std::vector<ChatPart>> chat(const std::vector<Message>& messages) const {
    return render_chat(messages, {}, kLayout, chat_template);
  }
  std::string text(const std::vector<Message>& messages) const {
    const auto parts = chat(messages);
    return parts ? std::get<MarkedString>(parts->at(0)).text() : "error: " + parts.error().message;
  }
  std::unique_ptr<const Tokenizer> tokenizer;
  ChatTemplate chat_template;
};

TokenizerSpec with_template(const std::string& source) {
  TokenizerSpec spec = kQwen3Chat.spec();
  spec.chat_template = source;
  return spec;
}

Document doc(const std::string& text) {
  Document document;
  document.text = text;
  return document;
}

TEST(ChatTemplate, ChatMlWhereTheMarksAreAndNoTemplate) {
  const Model model(with_template(""));
  EXPECT_EQ(model.text({{"system", {"s"}}, {"user", {"x"}}}),
            "<|im_start|>system\ns<|im_end|>\n<|im_start|>user\nx<|im_end|>\n"
            "<|im_start|>assistant\n");
  EXPECT_NE(model.chat_template.description().find("ChatML"), std::string::npos);
}

TEST(ChatTemplate, NeitherTemplateNorMarks) {
  TokenizerSpec spec = with_template("");
  spec.tokens[1] = "<|start|>";
  const Model model(spec);
  const auto chat = model.chat({{"user", {"x"}}});
  ASSERT_FALSE(chat);
  EXPECT_EQ(chat.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(chat.error().message.find("no chat template"), std::string::npos);
  EXPECT_NE(chat.error().message.find("completion"), std::string::npos);
  // Completions need none, whatever their chunks are computed behind.
  PromptContext context{model.tokenizer.get(), "", kSmallVocab, &model.chat_template};
  Request r = completion({7, 8}, {{9}}, {3}, "reuse");
  for (const char* prefix : {"none", "bos", "header"}) {
    r.encoding_prefix = prefix;
    EXPECT_TRUE(build_prompt(context, r)) << prefix;
  }
  Request header;
  header.encoding_prefix = "header";
  EXPECT_FALSE(build_document(context, document({9}), header)) << "a chat's header is asked for";
}

TEST(ChatTemplate, OneThatCannotBeFollowedIsAnErrorOfChatsOnly) {
  const Model model(with_template("{% if x %}\n{{ y }"));
  const auto chat = model.chat({{"user", {"x"}}});
  ASSERT_FALSE(chat);
  EXPECT_EQ(chat.error().code, ErrorCode::kUnsupported);
  EXPECT_NE(chat.error().message.find("the model's chat template, line 2"), std::string::npos)
      << chat.error().message;
  EXPECT_NE(model.chat_template.description().find("line 2"), std::string::npos);
  PromptContext context{model.tokenizer.get(), "", kSmallVocab, &model.chat_template};
  EXPECT_TRUE(build_prompt(context, completion({7, 8}, {{9}}, {3}, "reuse")));
}

TEST(ChatTemplate, NamedTemplatesWithoutADefault) {
  TokenizerSpec spec = with_template("");
  spec.chat_template_problem = "chat_template has 'rag', and none is named 'default'";
  const auto chat = Model(spec).chat({{"user", {"x"}}});
  ASSERT_FALSE(chat);
  EXPECT_NE(chat.error().message.find("'rag'"), std::string::npos);
}

TEST(ChatTemplate, WhatTheTemplateRaises) {
  const Model model(kGemma.spec());
  const auto chat = model.chat({{"system", {"s"}}, {"user", {"x"}}});
  ASSERT_FALSE(chat);
  EXPECT_EQ(chat.error().code, ErrorCode::kInvalidArgument);
  EXPECT_EQ(chat.error().param, "messages");
  EXPECT_NE(chat.error().message.find("There is no system role"), std::string::npos);
}

TEST(ChatTemplate, SpecialTokensAndTime) {
  TokenizerSpec spec = with_template(
      "{{ bos_token }}|{{ eos_token }}|{{ strftime_now('%Y') }}|{{ tools }}|{{ documents }}|"
      "{{ add_generation_prompt }}|{{ messages|length }}");
  spec.bos = 1;
  spec.eos = 2;
  EXPECT_EQ(Model(spec).text({{"user", {"x"}}}), "<|im_start|>|<|im_end|>|2026|None|None|True|1");
  EXPECT_GE(local_time().tm_year, 126);
}

TEST(ChatTemplate, DocumentsThatDoNotComeThrough) {
  const auto refusal = [](const std::string& content) {
    const Model model(with_template("{% for m in messages %}{{ " + content + " }}{% endfor %}x"));
    const auto chat = model.chat({{"user", {"abc", doc("A"), doc("B"), "d"}}});
    if (chat) return std::string("rendered");
    EXPECT_EQ(chat.error().code, ErrorCode::kUnsupported);
    return chat.error().message;
  };
  EXPECT_EQ(refusal("m.content"), "rendered");
  EXPECT_EQ(refusal("m.content|upper|trim|title"), "rendered");
  EXPECT_NE(refusal("m.role").find("leaves documents[0] out"), std::string::npos);
  EXPECT_NE(refusal("m.content[:6]").find("leaves documents[1] out"), std::string::npos);
  EXPECT_NE(refusal("m.content ~ m.content").find("more than once"), std::string::npos);
  EXPECT_NE(refusal("m.content[4:]").find("cuts or changes"), std::string::npos);
  // What replace() puts in is the template's: no mark can be made from another.
  EXPECT_NE(refusal("m.content|replace('0', '1')").find("cuts or changes"), std::string::npos);
  EXPECT_NE(refusal("m.content|replace('1', '2')").find("cuts or changes"), std::string::npos);
  EXPECT_NE(refusal("m.content|reverse").find("cuts or changes"), std::string::npos);
  EXPECT_NE(refusal("m.content|list|join('-')").find("cuts or changes"), std::string::npos);
}

TEST(ChatTemplate, DataCannotPassForADocument) {
  const Model model(with_template("{% for m in messages %}{{ m.content }}{% endfor %}"));
  const std::string forged = document_mark(0).text();
  const std::vector<Message> messages = {{"user", {forged, doc("A"), forged}}};
  const auto chat = value_of(model.chat(messages));
  ASSERT_EQ(chat.size(), 3u);
  EXPECT_EQ(std::get<MarkedString>(chat[0]).text(), forged);
  EXPECT_EQ(std::get<const Document*>(chat[1])->text, "A");
  EXPECT_EQ(std::get<MarkedString>(chat[2]).text(), forged);
  const Model writes_it(with_template("{{ messages[0].content }}" + forged));
  EXPECT_EQ(value_of(writes_it.chat({{"user", {doc("A")}}})).size(), 2u);
}

TEST(ChatTemplate, ManyDocumentsInOrder) {
  const Model model(with_template("{% for m in messages %}{{ m.content }}{% endfor %}."));
  Message message{"user", {}};
  for (int i = 0; i < 300; ++i) message.content.emplace_back(doc(std::to_string(i)));
  const std::vector<Message> messages = {message};
  const auto chat = value_of(model.chat(messages));
  ASSERT_EQ(chat.size(), 301u);
  for (size_t i = 0; i < 300; ++i)
    EXPECT_EQ(std::get<const Document*>(chat[i])->text, std::to_string(i));
}

TEST(ChatTemplate, HeaderOfATemplateThatHasNone) {
  const Model model(with_template("{% for m in messages[1:] %}{{ m.content }}{% endfor %}."));
  const auto opening = chat_opening("user", model.chat_template);
  ASSERT_FALSE(opening);
  EXPECT_EQ(opening.error().code, ErrorCode::kUnsupported);
}

TEST(ChatTemplate, BytesThatAreNotUtf8) {
  const Model model(with_template("{{ messages[0].content|upper }}"));
  const auto chat = model.chat({{"user", {"fine"}}, {"user", {"a\xFF"}}});
  ASSERT_FALSE(chat);
  EXPECT_EQ(chat.error().param, "messages[1].content");
}

TEST(ChatTemplate, InspectTellsWhichOne) {
  const auto core = make_core(golden_dir() / "llama_f32.gguf", {.cache_bytes = 1 << 20});
  const auto facts = boost::json::parse(describe_engine(*core));
  const std::string told =
      boost::json::value_to<std::string>(facts.at("tokenizer").at("chat_template"));
  EXPECT_TRUE(told.starts_with("the model's own, ")) << told;
}

}  // namespace
}  // namespace looseleaf
