// What stands behind a dot or in brackets. Only data: nothing of the host is reachable.
#pragma once

#include <string_view>

#include "text/jinja/runtime.h"
#include "text/jinja/strings.h"

namespace looseleaf::jinja {

// value.name: a method before a key, as in jinja2. Undefined where there is none.
Value attribute(Runtime& runtime, const Value& value, std::string_view name);
// value[key]: a key before a method.
Value item(Runtime& runtime, const Value& value, const Value& key);
// value[start:stop:step]; what is null or None is left out.
Value slice(Runtime& runtime, const Value& value, const Value* start, const Value* stop,
            const Value* step);

}  // namespace looseleaf::jinja
