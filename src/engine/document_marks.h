// Places of documents in a text that a template works on.
#pragma once

#include <cstddef>
#include <string>
#include <variant>
#include <vector>

#include "base/status.h"
#include "text/marked_string.h"

namespace looseleaf {

// Stands for document `index` while the template runs. Its origin is its own, so that no data can
// pass for one; its text survives trimming and changes of case.
MarkedString document_mark(size_t index);

// A text between documents, or the index of one.
using MarkedPart = std::variant<MarkedString, size_t>;

// Takes the marks out of a rendered text. Errors: kUnsupported (a mark that is not there exactly
// once, or not as it was).
Expected<std::vector<MarkedPart>> split_at_marks(const MarkedString& text, size_t documents);

// The text before the first mark. Errors: kUnsupported (there is none).
Expected<MarkedString> text_before_mark(const MarkedString& text);

}  // namespace looseleaf
