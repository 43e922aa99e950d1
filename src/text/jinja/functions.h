// The functions that every template may call.
#pragma once

#include <memory>

#include "text/jinja/runtime.h"
#include "text/jinja/scope.h"

namespace looseleaf::jinja {

// range, namespace, dict, raise_exception and, where there is a clock, strftime_now.
std::shared_ptr<const Scope> builtin_scope(const Runtime& runtime);

// REQUIRES: `name` is one of them.
Value call_builtin(Runtime& runtime, std::string_view name, const Arguments& arguments);

}  // namespace looseleaf::jinja
