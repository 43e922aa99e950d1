// How documents and question are written into the prompt, as a body says it.
#pragma once

#include <string>
#include <variant>

#include "base/json_reader.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

// A name, or {"document", "document_untitled"?, "intro"?, "question"?}. What is not given: untitled
// documents are written like titled ones, no intro, and the question as it is.
Expected<std::variant<std::string, Layout>> read_layout(const JsonField& field);

// Errors: kInvalidArgument (no layout has this name).
Status check_layout_name(const std::string& name);

}  // namespace looseleaf
