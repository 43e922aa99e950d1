// Text of strangers inside one-line messages.
#pragma once

#include <string>
#include <string_view>

namespace looseleaf {

// `text` in quotes, control bytes and invalid UTF-8 escaped, cut after 48 bytes.
std::string quote(std::string_view text);

}  // namespace looseleaf
