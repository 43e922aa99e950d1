// What the readers of tokenizer.json's components share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_reader.h"

namespace looseleaf {

// kUnsupported: `what` at `where` cannot be followed exactly.
tl::unexpected<Error> refuse_part(const std::string& where, std::string_view what);

// The component at `field`, or the components of a Sequence, nested ones too, in order; none where
// the field is null. Errors: kCorrupt, kUnsupported.
Expected<std::vector<ObjectReader>> components(const ObjectReader& tokenizer,
                                               std::string_view field, std::string_view list_field);

// The `pattern` of a Split or Replace: one of the two is there, and not empty.
struct JsonPattern {
  std::string regex, literal;
};
Expected<JsonPattern> read_pattern(const ObjectReader& part);

}  // namespace looseleaf
