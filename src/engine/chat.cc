#include "engine/chat.h"

#include <algorithm>

namespace looseleaf {
namespace {

constexpr std::string_view kStart = "<|im_start|>", kEnd = "<|im_end|>";

// The system message that a ChatML template writes when the chat has none: the literal that stands
// between the two marks in the template's source.
std::string default_system(const std::string& chat_template) {
  constexpr std::string_view kOpen = "<|im_start|>system\\n";
  size_t open = chat_template.find(kOpen);
  size_t length = kOpen.size();
  if (open == std::string::npos) {
    open = chat_template.find("<|im_start|>system\n");
    --length;  // the same with a real newline
  }
  if (open == std::string::npos) return "";
  const size_t close = chat_template.find(kEnd, open);
  if (close == std::string::npos) return "";
  std::string text = chat_template.substr(open + length, close - open - length);
  // A quote or a brace means that the template computes the text: then it has no default.
  return text.find_first_of("'\"{") == std::string::npos ? text : "";
}

// Builds parts, so that text on both sides of a mark is one stretch.
class Writer {
 public:
  void write(std::string_view text, Origin origin) {
    if (parts_.empty() || !std::holds_alternative<MarkedString>(parts_.back()))
      parts_.emplace_back(MarkedString());
    std::get<MarkedString>(parts_.back()).append(text, origin);
  }
  void insert(const Document& document) { parts_.emplace_back(&document); }
  std::vector<ChatPart> take() { return std::move(parts_); }

 private:
  std::vector<ChatPart> parts_;
};

bool places_documents(const Message& message) {
  return std::any_of(message.content.begin(), message.content.end(), [](const ContentPart& part) {
    return std::holds_alternative<Document>(part);
  });
}

std::string text_of(const Message& message) {
  std::string text;
  for (const ContentPart& part : message.content)
    if (const auto* piece = std::get_if<std::string>(&part)) text += *piece;
  return text;
}

void write_content(const Message& message, Writer& writer) {
  for (const ContentPart& part : message.content) {
    if (const auto* text = std::get_if<std::string>(&part))
      writer.write(*text, Origin::kData);
    else
      writer.insert(std::get<Document>(part));
  }
}

}  // namespace

Expected<RenderedChat> render_chat(const std::vector<Message>& messages,
                                   const std::vector<Document>& documents, const Layout& layout,
                                   const Tokenizer& tokenizer) {
  if (!tokenizer.special(kStart) || !tokenizer.special(kEnd))
    return error(
        ErrorCode::kUnsupported,
        "this model's chat template is not ChatML ({} is no token of it), the only one that "
        "can be rendered so far; use a completion: prefix, documents, prompt",
        kStart);
  if (messages.empty()) return field_error("messages", "is empty");

  size_t last_user = messages.size();
  for (size_t i = 0; i < messages.size(); ++i)
    if (messages[i].role == "user") last_user = i;
  if (!documents.empty() && last_user == messages.size())
    return field_error("documents", "there is no user message to put them in");
  if (!documents.empty() && places_documents(messages[last_user]))
    return field_error("documents",
                       "the last user message has documents among its content parts; give all of "
                       "them there");

  Writer writer;
  RenderedChat chat;
  if (messages[0].role != "system") {
    const std::string system = default_system(tokenizer.spec().chat_template);
    if (!system.empty()) {
      const std::string block = fmt::format("{}system\n{}{}\n", kStart, system, kEnd);
      writer.write(block, Origin::kTemplate);
      chat.opening.append(block, Origin::kTemplate);
    }
  }
  for (size_t i = 0; i < messages.size(); ++i) {
    const Message& message = messages[i];
    const auto& roles = {"system", "user", "assistant", "tool"};
    if (std::find(roles.begin(), roles.end(), message.role) == roles.end())
      return field_error(fmt::format("messages[{}].role", i),
                         "'{}' is not one of system, user, assistant, tool", message.role);
    const std::string open = fmt::format("{}{}\n", kStart, message.role);
    writer.write(open, Origin::kTemplate);
    if (i == 0) chat.opening.append(open, Origin::kTemplate);
    if (i == last_user && !documents.empty()) {
      writer.write(layout.intro, Origin::kData);
      for (const Document& document : documents) writer.insert(document);
      LL_ASSIGN(const std::string question, render_question(layout, text_of(message)));
      writer.write(question, Origin::kData);
    } else {
      write_content(message, writer);
    }
    writer.write(fmt::format("{}\n", kEnd), Origin::kTemplate);
  }
  writer.write(fmt::format("{}assistant\n", kStart), Origin::kTemplate);
  chat.parts = writer.take();
  return chat;
}

}  // namespace looseleaf
