// Which method a request is answered by.
#pragma once

#include <string>

#include "engine/core.h"
#include "engine/prompt.h"
#include "repair/method.h"

namespace looseleaf {

struct ChosenMethod {
  Method method;
  std::string reason;  // why `auto` is not what it usually is; or ""
};

// `text` as parse_method takes it. Where the model allows no chunk, `auto` is `full`.
// Errors: those of parse_method.
Expected<ChosenMethod> choose_method(const EngineCore& core, const std::string& text,
                                     const Prompt& prompt);

}  // namespace looseleaf
