// The option by which methods choose what their targets attend to.
#pragma once

#include <string_view>

#include "repair/method.h"

namespace looseleaf {

// A prompt this long is short: reading all of it costs little beside the matrix products. `auto`
// takes the causal context up to here, own+union beyond.
inline constexpr int kShortPrompt = 2048;

constexpr MethodOption context_option(std::string_view default_value) {
  return {
      "context", default_value, "causal|union|own+union|auto",
      "what targets attend to: all before them, the chosen tokens, or all of their document and "
      "the others' chosen tokens; auto: causal in short prompts, else own+union"};
}

inline RepairContext context_of(const Method& method, const PromptShape& shape) {
  const std::string& name = method.option("context");
  const bool automatic = name == "auto", is_short = shape.prompt_tokens <= kShortPrompt;
  if (name == "union") return RepairContext::kUnion;
  if (name == "own+union" || (automatic && !is_short)) return RepairContext::kOwnUnion;
  return RepairContext::kCausal;
}

}  // namespace looseleaf
