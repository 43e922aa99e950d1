// Layouts: how a document and a question are written into a prompt.
#pragma once

#include <string>

#include "base/status.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

// The layout of a request; "auto" is `plain` for a chat with a system message, else `qa`.
// Errors: kInvalidArgument (unknown name).
Expected<Layout> resolve_layout(const std::variant<std::string, Layout>& layout,
                                bool has_system_message);

// The document as its layout's pattern writes it. Placeholders are replaced in one pass, so that
// braces inside a document stay as they are. Errors: kInvalidArgument (a placeholder that does not
// exist or has no value, an unclosed brace).
Expected<std::string> render_document(const Layout& layout, const Document& document);

// The question as the layout's pattern writes it: {question}.
Expected<std::string> render_question(const Layout& layout, const std::string& question);

}  // namespace looseleaf
