// Fields of a body that must not pass silently: misspelled ones, and ones that nobody here serves.
#pragma once

#include "base/json_reader.h"

namespace looseleaf {

// Refuses fields that ask for something that this version cannot do (tools, response_format, ...).
// Values that ask for nothing, such as an empty list, pass and count as known.
Status refuse_unsupported(ObjectReader& body);

// Refuses fields that are nearly our own (docs, Encoding-Prefix) and says what was meant: a body
// with an ignored "docs" would be answered without documents. REQUIRES: nothing was taken yet.
Status refuse_near_misses(const ObjectReader& body);

}  // namespace looseleaf
