#include "engine/chat.h"

#include <algorithm>

#include "base/utf8.h"
#include "engine/document_marks.h"

namespace looseleaf {
namespace {

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

Status check_message(const Message& message, size_t index) {
  const auto& roles = {"system", "user", "assistant", "tool"};
  if (std::find(roles.begin(), roles.end(), message.role) == roles.end())
    return field_error(fmt::format("messages[{}].role", index),
                       "'{}' is not one of system, user, assistant, tool", message.role);
  const std::string text = text_of(message);
  if (const auto offset = find_invalid_utf8(text))
    return field_error(fmt::format("messages[{}].content", index), "not UTF-8 at byte {}", *offset);
  return {};
}

// Contents with a mark for each document, and which document each mark stands for.
struct Marked {
  std::vector<ChatMessage> messages;
  std::vector<const Document*> documents;

  void insert(MarkedString& content, const Document& document) {
    content.append(document_mark(documents.size()));
    documents.push_back(&document);
  }
};

}  // namespace

Expected<std::vector<ChatPart>> render_chat(const std::vector<Message>& messages,
                                            const std::vector<Document>& documents,
                                            const Layout& layout,
                                            const ChatTemplate& chat_template) {
  if (messages.empty()) return field_error("messages", "is empty");
  size_t last_user = messages.size();
  for (size_t i = 0; i < messages.size(); ++i) {
    LL_RETURN_IF_ERROR(check_message(messages[i], i));
    if (messages[i].role == "user") last_user = i;
  }
  if (!documents.empty() && last_user == messages.size())
    return field_error("documents", "there is no user message to put them in");
  if (!documents.empty() && places_documents(messages[last_user]))
    return field_error("documents",
                       "the last user message has documents among its content parts; give all of "
                       "them there");

  Marked marked;
  for (size_t i = 0; i < messages.size(); ++i) {
    MarkedString content;
    if (i == last_user && !documents.empty()) {
      content.append(layout.intro, Origin::kData);
      for (const Document& document : documents) marked.insert(content, document);
      LL_ASSIGN(const std::string question, render_question(layout, text_of(messages[i])));
      content.append(question, Origin::kData);
      if (const auto offset = find_invalid_utf8(content.text()))
        return field_error("layout", "not UTF-8 at byte {} of what it writes", *offset);
    } else {
      for (const ContentPart& part : messages[i].content) {
        if (const auto* text = std::get_if<std::string>(&part))
          content.append(*text, Origin::kData);
        else
          marked.insert(content, std::get<Document>(part));
      }
    }
    marked.messages.push_back({messages[i].role, std::move(content)});
  }
  LL_ASSIGN(const MarkedString text, chat_template.render(marked.messages));
  LL_ASSIGN(std::vector<MarkedPart> parts, split_at_marks(text, marked.documents.size()));
  std::vector<ChatPart> chat;
  for (MarkedPart& part : parts) {
    if (const auto* index = std::get_if<size_t>(&part))
      chat.emplace_back(marked.documents[*index]);
    else
      chat.emplace_back(std::get<MarkedString>(std::move(part)));
  }
  return chat;
}

Expected<MarkedString> chat_opening(const std::string& role, const ChatTemplate& chat_template) {
  std::vector<ChatMessage> messages = {{role, document_mark(0)}};
  // A system message alone is no chat: some templates refuse it.
  if (role == "system") messages.push_back({"user", MarkedString()});
  LL_ASSIGN(const MarkedString text, chat_template.render(messages));
  return text_before_mark(text);
}

}  // namespace looseleaf
