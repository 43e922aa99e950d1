#include "engine/choose_method.h"

namespace looseleaf {

Expected<ChosenMethod> choose_method(const EngineCore& core, const std::string& text,
                                     const Prompt& prompt) {
  const bool documents = prompt.has_documents();
  if (text != "auto" || !documents || can_reuse_chunks(core.model->config.rope)) {
    LL_ASSIGN(Method method, parse_method(text, documents));
    return ChosenMethod{std::move(method), {}};
  }
  LL_ASSIGN(Method full, parse_method("full", documents));
  return ChosenMethod{std::move(full),
                      "method auto is full here: with dynamic NTK scaling keys depend on the "
                      "prompt's length, so that no chunk can be reused"};
}

}  // namespace looseleaf
