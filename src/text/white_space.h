// Unicode's White_Space at the ends of a text.
#pragma once

#include <cstddef>
#include <string_view>

namespace looseleaf {

// Bytes of the white space that `text` begins or ends with. REQUIRES: `text` is UTF-8.
size_t leading_space_bytes(std::string_view text);
size_t trailing_space_bytes(std::string_view text);

}  // namespace looseleaf
