// Chats as text and documents: what the model's chat template makes of them.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "engine/chat_template.h"
#include "engine/layout.h"
#include "looseleaf/looseleaf.h"
#include "text/marked_string.h"

namespace looseleaf {

// A stretch of a rendered chat, or a document standing between two of them.
using ChatPart = std::variant<MarkedString, const Document*>;

// Renders messages with the answer's opening at the end. `documents` stand at the start of the last
// user message, behind the layout's intro, and its text is written by the layout's question
// pattern. A last user message that places documents itself stays as it is.
// The documents are pointed to: REQUIRES that messages and documents outlive the result.
// Errors: those of ChatTemplate::render, kInvalidArgument (no user message for the documents, or
// one that has its own; an unknown role; bytes that are not UTF-8), kUnsupported (the template does
// not write every document once and unchanged).
Expected<std::vector<ChatPart>> render_chat(const std::vector<Message>& messages,
                                            const std::vector<Document>& documents,
                                            const Layout& layout,
                                            const ChatTemplate& chat_template);

// What the template writes before the content of a chat whose first message is of `role`; the same
// for every chat of that kind. Errors: those of ChatTemplate::render, kUnsupported (the template
// does not write that content).
Expected<MarkedString> chat_opening(const std::string& role, const ChatTemplate& chat_template);

}  // namespace looseleaf
