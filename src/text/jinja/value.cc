#include "text/jinja/value.h"

#include <algorithm>

namespace looseleaf::jinja {

Value Value::undefined(std::string why) {
  return Value(Undefined{std::make_shared<const std::string>(std::move(why))});
}

int Value::depth() const {
  if (const Sequence* items = sequence()) return items->depth;
  if (const Dict* entries = dict()) return entries->depth;
  if (const Function* callee = function()) {
    int depth = 0;
    for (const Value& self : callee->self) depth = std::max(depth, self.depth());
    return depth + 1;
  }
  return 0;
}

std::string_view Value::type_name() const {
  if (is_undefined()) return "Undefined";
  if (is_none()) return "NoneType";
  if (is<bool>()) return "bool";
  if (is<int64_t>()) return "int";
  if (is<double>()) return "float";
  if (string() != nullptr) return "str";
  if (dict() != nullptr) return "dict";
  if (name_space() != nullptr) return "Namespace";
  if (loop() != nullptr) return "LoopContext";
  if (const Sequence* items = sequence()) {
    switch (items->form) {
      case Form::kList:
        return "list";
      case Form::kTuple:
        return "tuple";
      case Form::kRange:
        return "range";
      case Form::kGenerator:
        return "generator";
      case Form::kKeys:
        return "dict_keys";
      case Form::kValues:
        return "dict_values";
      case Form::kItems:
        return "dict_items";
    }
  }
  return "function";
}

std::string_view Value::why() const {
  const auto& reason = get<Undefined>()->why;
  return reason == nullptr ? std::string_view("a value is undefined") : *reason;
}

}  // namespace looseleaf::jinja
