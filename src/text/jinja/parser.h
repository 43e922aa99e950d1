// From source to statements.
#pragma once

#include <string_view>

#include "text/jinja/ast.h"

namespace looseleaf::jinja {

// Faults: kCorrupt (no template), kUnsupported (a tag or form that jinja2 knows and this version
// does not), each with its line.
Block parse(std::string_view source);

}  // namespace looseleaf::jinja
