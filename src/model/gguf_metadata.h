// Reads one metadata entry of a GGUF file: key string, type u32, value.
#pragma once

#include <utility>

#include "model/gguf.h"
#include "model/gguf_cursor.h"

namespace looseleaf {

std::string_view gguf_type_name(GgufType type);  // "u32", "string"; "?" for a number it lacks

// Errors: kCorrupt, kUnsupported (an array of arrays).
Expected<std::pair<std::string_view, GgufValue>> read_gguf_entry(GgufCursor& cursor);

}  // namespace looseleaf
