// The tojson filter.
#pragma once

#include "text/jinja/runtime.h"

namespace looseleaf::jinja {

struct JsonStyle {
  bool ascii = false;   // everything beyond ASCII as \uXXXX
  bool lines = false;   // an item a line
  MarkedString indent;  // of each level
  MarkedString item_separator, key_separator;
  bool sorted = false;  // by key
};

// As Python's json.dumps writes it; the text of strings keeps its marks. Faults for what JSON does
// not have.
Value to_json(Runtime& runtime, const Value& value, const JsonStyle& style);

}  // namespace looseleaf::jinja
