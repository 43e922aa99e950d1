#include "text/jinja/methods.h"

#include <algorithm>
#include <array>

#include "text/jinja/format.h"
#include "text/jinja/operators.h"
#include "text/jinja/scope.h"
#include "text/jinja/string_methods.h"

namespace looseleaf::jinja {
namespace {

Value dict_view(Runtime& runtime, const Dict& dict, Form form) {
  runtime.budget.build(dict.entries.size() * sizeof(Value));
  std::vector<Value> items;
  for (const auto& [key, value] : dict.entries) {
    if (form == Form::kItems)
      items.push_back(runtime.sequence({key, value}, Form::kTuple));
    else
      items.push_back(form == Form::kKeys ? key : value);
  }
  return runtime.sequence(std::move(items), form);
}

Value items(Runtime& runtime, const Value& self, const Bound&) {
  return dict_view(runtime, *self.dict(), Form::kItems);
}
Value keys(Runtime& runtime, const Value& self, const Bound&) {
  return dict_view(runtime, *self.dict(), Form::kKeys);
}
Value values(Runtime& runtime, const Value& self, const Bound&) {
  return dict_view(runtime, *self.dict(), Form::kValues);
}
Value get(Runtime& runtime, const Value& self, const Bound& arguments) {
  const Value* held = find_key(runtime, *self.dict(), arguments[0]);
  if (held != nullptr) return *held;
  return !arguments.has(1) ? Value(None{}) : arguments[1];
}
Value copy(Runtime&, const Value& self, const Bound&) { return self; }

Value count(Runtime& runtime, const Value& self, const Bound& arguments) {
  int64_t found = 0;
  for (const Value& item : self.sequence()->items) found += equal(runtime, item, arguments[0]);
  return Value(found);
}
Value index(Runtime& runtime, const Value& self, const Bound& arguments) {
  const auto& all = self.sequence()->items;
  for (size_t i = 0; i < all.size(); ++i)
    if (equal(runtime, all[i], arguments[0])) return Value(static_cast<int64_t>(i));
  fail("index: the {} does not hold it", self.type_name());
}

constexpr Method kDictMethods[] = {
    {"items", "/", items},          {"keys", "/", keys}, {"values", "/", values},
    {"get", "/ key default=", get}, {"copy", "/", copy},
};
constexpr Method kListMethods[] = {
    {"count", "/ value", count}, {"index", "/ value", index}, {"copy", "/", copy}};
// What jinja2's immutable sandbox refuses.
constexpr std::array<std::string_view, 13> kChanging = {
    "append",  "clear", "extend", "insert",     "pop",     "popitem", "remove",
    "reverse", "sort",  "update", "setdefault", "discard", "add"};

std::span<const Method> methods_of(const Value& value) {
  if (value.string() != nullptr) return string_methods();
  if (value.dict() != nullptr) return kDictMethods;
  const Sequence* sequence = value.sequence();
  if (sequence == nullptr) return {};
  if (sequence->form == Form::kList) return kListMethods;
  if (sequence->form == Form::kTuple || sequence->form == Form::kRange)
    return std::span<const Method>(kListMethods).first(2);
  return {};
}

Value loop_method(Runtime& runtime, LoopState& loop, const std::string& name,
                  const Arguments& arguments) {
  if (!arguments.keywords.empty()) fail("loop.{} takes no named arguments", name);
  const std::vector<Value>& given = arguments.positional;
  if (name == "cycle") {
    if (given.empty()) fail("loop.cycle: nothing to cycle through");
    return given[loop.index % given.size()];
  }
  bool same = loop.asked_changed && loop.changed.size() == given.size();
  for (size_t i = 0; same && i < given.size(); ++i)
    same = equal(runtime, loop.changed[i], given[i]);
  for (const Value& value : given) runtime.storable(value);
  loop.asked_changed = true;
  loop.changed = given;
  return Value(!same);
}

}  // namespace

std::optional<Value> find_method(const Value& self, std::string_view name) {
  const auto bound = [&] {
    auto method = std::make_shared<Function>();
    method->kind = Function::Kind::kMethod;
    method->name = name;
    method->self = {self};
    return Value(std::shared_ptr<const Function>(std::move(method)));
  };
  if (self.loop() != nullptr) {
    if (name == "cycle" || name == "changed") return bound();
    return std::nullopt;
  }
  for (const Method& method : methods_of(self))
    if (method.name == name) return bound();
  const bool changes = (self.dict() != nullptr ||
                        (self.sequence() != nullptr && self.sequence()->form == Form::kList)) &&
                       std::find(kChanging.begin(), kChanging.end(), name) != kChanging.end();
  if (!changes) return std::nullopt;
  const bool of_dict = name == "pop" || name == "popitem" || name == "update" ||
                       name == "setdefault" || name == "clear";
  const bool of_list = name != "popitem" && name != "update" && name != "setdefault" &&
                       name != "discard" && name != "add";
  if (self.dict() != nullptr ? !of_dict : !of_list) return std::nullopt;
  return Value::undefined(
      fmt::format("the method '{}' of a {} would change it", name, self.type_name()));
}

Value call_method(Runtime& runtime, const Function& callee, const Arguments& arguments) {
  const Value& self = callee.self[0];
  if (LoopState* loop = self.loop()) return loop_method(runtime, *loop, callee.name, arguments);
  if (self.string() != nullptr && callee.name == "format")
    return format_braces(runtime, *self.string(), arguments);
  for (const Method& method : methods_of(self)) {
    if (method.name != callee.name) continue;
    return method.call(runtime, self, bind(method.name, method.signature, arguments));
  }
  fail("a {} has no method {}", self.type_name(), callee.name);
}

}  // namespace looseleaf::jinja
