// Chat messages of a body, with documents among their content parts.
#pragma once

#include "base/json_reader.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

// Content is a string or a list of parts: {"type": "text", "text"}; {"type": "document",
// "document": ...} in any form of document_json.h; Anthropic's {"type": "document", "source":
// {"type": "text", "data"}, "title"?, "context"?}. Documents stand in user and tool messages only.
Expected<std::vector<Message>> read_messages(const JsonField& field, IgnoredFields& ignored);

}  // namespace looseleaf
