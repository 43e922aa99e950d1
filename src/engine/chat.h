// Chats as text: the place where a model's chat template is applied.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "engine/layout.h"
#include "looseleaf/looseleaf.h"
#include "text/marked_string.h"
#include "text/tokenizer.h"

namespace looseleaf {

// A stretch of a rendered chat, or a document standing between two of them.
using ChatPart = std::variant<MarkedString, const Document*>;

struct RenderedChat {
  std::vector<ChatPart> parts;
  MarkedString opening;  // what the template writes before the first message's content
};

// Renders messages in the ChatML layout with the answer's opening at the end. `documents` stand at
// the start of the last user message, behind the layout's intro, and its text is written by the
// layout's question pattern. A last user message that places documents itself stays as it is.
// The documents are pointed to: REQUIRES that messages and documents outlive the result.
// Errors: kUnsupported (the model's template is not ChatML), kInvalidArgument (no user message for
// the documents, or one that has its own; an unknown role).
Expected<RenderedChat> render_chat(const std::vector<Message>& messages,
                                   const std::vector<Document>& documents, const Layout& layout,
                                   const Tokenizer& tokenizer);

}  // namespace looseleaf
