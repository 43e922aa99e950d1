// Variables and loops of a template that runs.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

namespace looseleaf::jinja {

using Variables = std::vector<std::pair<std::string, Value>>;

// Reading goes outwards, writing stays here.
struct Scope {
  std::shared_ptr<const Scope> parent;  // null: the template's own
  Variables variables;

  const Value* find(std::string_view name) const {
    for (const Scope* scope = this; scope != nullptr; scope = scope->parent.get())
      for (const auto& [key, value] : scope->variables)
        if (key == name) return &value;
    return nullptr;
  }
  void set(std::string_view name, Value value) {
    for (auto& [key, held] : variables) {
      if (key != name) continue;
      held = std::move(value);
      return;
    }
    variables.emplace_back(name, std::move(value));
  }
};

// What `loop` is inside a for.
struct LoopState {
  std::vector<Value> items;
  size_t index = 0;            // from 0
  std::vector<Value> changed;  // what loop.changed was called with last
  bool asked_changed = false;
};

}  // namespace looseleaf::jinja
