// How this folder's code gives up: an exception that never leaves it. Template::parse and render
// turn it into an Error.
#pragma once

#include <fmt/format.h>

#include <string>

#include "base/status.h"

namespace looseleaf::jinja {

// Expressions nest, and a fault ends all of them at once: unlike elsewhere in the project every
// operation can fail, so carrying Expected through each would drown what they do.
struct Fault {
  ErrorCode code = ErrorCode::kInvalidArgument;
  std::string message;
  int line = 0;  // of the template; 0: where the evaluator stands
};

template <typename... Args>
[[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) {
  throw Fault{ErrorCode::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...), 0};
}

}  // namespace looseleaf::jinja
