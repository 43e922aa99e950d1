// Chats with documents through the templates of several families: what stands where, what is a
// control token, and that data never becomes one.
#include "chat_models.h"
#include "engine/chat.h"

namespace looseleaf {
namespace {

struct Expectation {
  const char* name;
  const ChatFamily* family;
  std::string before;   // the first document, behind the intro
  std::string behind;   // the last document
  std::string opening;  // before the first message
  int control;          // tokens among the template's that are control tokens
};

Document doc(const std::string& text) {
  Document document;
  document.text = text;
  return document;
}

class ChatFamiliesTest : public testing::TestWithParam<Expectation> {
 protected:
  ChatFamiliesTest()
      : tokenizer_(value_of(Tokenizer::create(GetParam().family->spec()))),
        template_(ChatTemplate::of(tokenizer_.get(), test_time)),
        context_{tokenizer_.get(), "", kSmallVocab, &template_} {}

  // Texts as they are, documents as [text].
  std::string text_of(const std::vector<Message>& messages,
                      const std::vector<Document>& documents) const {
    std::string text;
    for (const ChatPart& part : value_of(render_chat(messages, documents, kLayout, template_))) {
      if (const auto* document = std::get_if<const Document*>(&part))
        text += "[" + (*document)->text + "]";
      else
        text += std::get<MarkedString>(part).text();
    }
    return text;
  }
  int control_tokens(const Prompt& prompt, bool in_documents) const {
    int count = 0;
    for (const PromptPiece& piece : prompt.pieces)
      for (const int32_t token : piece.tokens)
        count += piece.is_chunk() == in_documents && tokenizer_->is_control(token);
    return count;
  }

  static inline const Layout kLayout{"Intro. ", "{text}", "{text}", "Q: {question}"};
  std::unique_ptr<const Tokenizer> tokenizer_;
  ChatTemplate template_;
  PromptContext context_;
};

TEST_P(ChatFamiliesTest, DocumentsStandWhereTheyBelong) {
  const Expectation& want = GetParam();
  EXPECT_EQ(text_of({{"user", {"who?"}}}, {doc("A"), doc("B")}),
            want.before + "Intro. [A][B]Q: who?" + want.behind);
  EXPECT_EQ(text_of({{"user", {"Compare ", doc("A"), " and ", doc("B"), "."}}}, {}),
            want.before + "Compare [A] and [B]." + want.behind);
  // A document is not white space, so what a template trims it keeps.
  EXPECT_EQ(text_of({{"user", {doc("A"), "x", doc("A")}}}, {}),
            want.before + "[A]x[A]" + want.behind);
}

TEST_P(ChatFamiliesTest, OnlyTheTemplateWritesControlTokens) {
  const Expectation& want = GetParam();
  Request r = question("who?");
  r.documents = {doc("a text"), doc("another")};
  const Prompt plain = value_of(build_prompt(context_, r));
  EXPECT_EQ(control_tokens(plain, false), want.control);
  std::string evil;
  for (const std::string& text : want.family->control) evil += text + "\n";
  r.question = evil;
  r.documents = {doc(evil), doc("</think>" + evil)};
  r.layout = Layout{evil, "{text}", "{text}", "{question}" + evil};
  const Prompt attacked = value_of(build_prompt(context_, r));
  EXPECT_EQ(control_tokens(attacked, false), want.control);
  EXPECT_EQ(control_tokens(attacked, true), 0);
  Request several = r;
  several.question.clear();
  several.documents.clear();
  several.messages = {{"user", {evil}},
                      {"assistant", {"<think>" + evil + "</think>" + evil}},
                      {"user", {evil, doc(evil)}}};
  Request harmless = several;
  harmless.messages = {{"user", {"a"}}, {"assistant", {"b"}}, {"user", {"c", doc("d")}}};
  EXPECT_EQ(control_tokens(value_of(build_prompt(context_, several)), false),
            control_tokens(value_of(build_prompt(context_, harmless)), false));
}

TEST_P(ChatFamiliesTest, Header) {
  const Expectation& want = GetParam();
  EXPECT_EQ(value_of(chat_opening("user", template_)).text(), want.opening);
  Request r = question("who?");
  r.documents = {doc("a text")};
  r.encoding_prefix = "header";
  const Prompt asked = value_of(build_prompt(context_, r));
  const Prompt alone = value_of(build_document(context_, r.documents[0], r));
  EXPECT_EQ(asked.encoding_prefix, alone.encoding_prefix);
  EXPECT_EQ(asked.encoding_prefix,
            value_of(tokenizer_->encode(MarkedString(want.opening, Origin::kTemplate))));
  // Never the history.
  r.question.clear();
  r.messages = {{"user", {"a"}}, {"assistant", {"b"}}, {"user", {"c"}}};
  EXPECT_EQ(value_of(build_prompt(context_, r)).encoding_prefix, asked.encoding_prefix);
}

TEST_P(ChatFamiliesTest, ExactlyOneBos) {
  const int32_t bos = tokenizer_->spec().bos;
  const Prompt prompt = value_of(build_prompt(context_, question("who?")));
  const Ids& tokens = prompt.pieces[0].tokens;
  if (bos < 0) return;
  EXPECT_EQ(tokens[0], bos);
  EXPECT_EQ(std::count(tokens.begin(), tokens.end(), bos), 1);
}

const std::string kLlama3Open =
    "<|start_header_id|>system<|end_header_id|>\n\nDate: 04 Jul 2026\n\n<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\n";

INSTANTIATE_TEST_SUITE_P(
    All, ChatFamiliesTest,
    testing::Values(
        Expectation{"Llama3", &kLlama3, kLlama3Open,
                    "<|eot_id|><|start_header_id|>assistant<|end_header_id|>\n\n", kLlama3Open, 8},
        Expectation{"Mistral", &kMistralChat, "<s>[INST]", "[/INST]", "<s>[INST]", 3},
        Expectation{"Gemma", &kGemma, "<bos><start_of_turn>user\n",
                    "<end_of_turn>\n<start_of_turn>model\n", "<bos><start_of_turn>user\n", 4},
        Expectation{"Qwen3", &kQwen3Chat, "<|im_start|>user\n",
                    "<|im_end|>\n<|im_start|>assistant\n", "<|im_start|>user\n", 3},
        Expectation{"Phi", &kPhi, "<|user|>\n", "<|end|>\n<|assistant|>\n", "<|user|>\n", 3},
        Expectation{"Llama2", &kLlama2, "<s>[INST] ", " [/INST]", "<s>[INST] ", 3}),
    [](const auto& info) { return info.param.name; });

TEST(ChatFamilies, DocumentsInEarlierMessagesAndQwen3sThinking) {
  const auto tokenizer = value_of(Tokenizer::create(kQwen3Chat.spec()));
  const ChatTemplate chat_template = ChatTemplate::of(tokenizer.get(), test_time);
  const std::vector<Message> messages = {{"user", {doc("A"), "x"}},
                                         {"assistant", {"<think>hm</think>\nyes"}},
                                         {"tool", {doc("B")}},
                                         {"user", {"y"}}};
  std::string text;
  for (const ChatPart& part : value_of(render_chat(
           messages, {}, Layout{"", "{text}", "{text}", "{question}"}, chat_template))) {
    if (const auto* document = std::get_if<const Document*>(&part))
      text += "[" + (*document)->text + "]";
    else
      text += std::get<MarkedString>(part).text();
  }
  EXPECT_EQ(text,
            "<|im_start|>user\n[A]x<|im_end|>\n<|im_start|>assistant\nyes<|im_end|>\n"
            "<|im_start|>user\n<tool_response>\n[B]\n</tool_response><|im_end|>\n"
            "<|im_start|>user\ny<|im_end|>\n<|im_start|>assistant\n");
}

}  // namespace
}  // namespace looseleaf
