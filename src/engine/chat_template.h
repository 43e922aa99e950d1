// The template that turns a model's chats into text.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "text/jinja/template.h"
#include "text/marked_string.h"
#include "text/tokenizer.h"

namespace looseleaf {

struct ChatMessage {
  std::string role;  // one of the API's: it counts as the template's own text
  MarkedString content;
};

// The wall clock, in the machine's time zone.
std::tm local_time();

// Immutable. A model without a usable template is no error before a chat is asked of it.
class ChatTemplate {
 public:
  // The model's own template; a model that has none but the marks of ChatML gets that layout.
  // `tokenizer` may be null.
  static ChatTemplate of(const Tokenizer* tokenizer, jinja::Clock clock = local_time);

  // The chat with the answer's opening at its end, with the variables that transformers gives:
  // messages, add_generation_prompt, bos_token, eos_token, tools and documents (none).
  // Errors: kUnsupported (no template, or one that cannot be followed), kInvalidArgument (the
  // template refuses or fails; param "messages").
  Expected<MarkedString> render(const std::vector<ChatMessage>& messages) const;

  // For people: which template it is, or why there is none.
  const std::string& description() const { return description_; }

 private:
  ChatTemplate(Expected<jinja::Template> parsed, std::string description);

  Expected<jinja::Template> template_;
  std::string description_;
  jinja::Variables special_tokens_;
  jinja::Clock clock_;
};

}  // namespace looseleaf
