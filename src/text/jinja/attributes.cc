#include "text/jinja/attributes.h"

#include <algorithm>

#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/scope.h"
#include "text/quote.h"

namespace looseleaf::jinja {
namespace {

// jinja2's words for what something is.
std::string object_name(const Value& value) {
  return value.is_none() ? "None" : fmt::format("{} object", value.type_name());
}

Value no_attribute(const Value& value, std::string_view name) {
  return Value::undefined(fmt::format("'{}' has no attribute {}", object_name(value), quote(name)));
}

Value no_item(Runtime& runtime, const Value& value, const Value& key) {
  TextBuilder shown(runtime);
  const bool has_text = key.is_none() || key.is<bool>() || key.is<int64_t>() || key.is<double>();
  if (has_text) print_quoted(shown, key);
  return Value::undefined(fmt::format("{} has no element {}", object_name(value),
                                      has_text ? shown.built().text() : "of this kind"));
}

Value whole(size_t number) { return Value(static_cast<int64_t>(number)); }

Value loop_attribute(const Value& value, const LoopState& loop, std::string_view name) {
  const size_t length = loop.items.size();
  if (name == "index") return whole(loop.index + 1);
  if (name == "index0") return whole(loop.index);
  if (name == "revindex") return whole(length - loop.index);
  if (name == "revindex0") return whole(length - loop.index - 1);
  if (name == "length") return whole(length);
  if (name == "first") return Value(loop.index == 0);
  if (name == "last") return Value(loop.index + 1 == length);
  if (name == "depth") return whole(1);
  if (name == "depth0") return whole(0);
  if (name == "previtem")
    return loop.index == 0 ? Value::undefined("there is no previous item")
                           : loop.items[loop.index - 1];
  if (name == "nextitem")
    return loop.index + 1 == length ? Value::undefined("there is no next item")
                                    : loop.items[loop.index + 1];
  if (auto method = find_method(value, name)) return *std::move(method);
  return no_attribute(value, name);
}

// A method or what an object holds by name; nothing when it has neither.
std::optional<Value> own_attribute(const Value& value, std::string_view name) {
  if (const LoopState* loop = value.loop()) return loop_attribute(value, *loop, name);
  if (const Namespace* space = value.name_space()) {
    for (const auto& [key, held] : space->entries)
      if (key == name) return held;
    return std::nullopt;
  }
  return find_method(value, name);
}

}  // namespace

Value attribute(Runtime& runtime, const Value& value, std::string_view name) {
  runtime.budget.step();
  if (value.is_undefined()) fail("{}", value.why());
  if (auto own = own_attribute(value, name)) return *std::move(own);
  if (const Dict* dict = value.dict()) {
    const Value* held = find_key(runtime, *dict, Value::text(name, Origin::kTemplate));
    if (held != nullptr) return *held;
  }
  return no_attribute(value, name);
}

Value item(Runtime& runtime, const Value& value, const Value& key) {
  runtime.budget.step();
  if (value.is_undefined()) fail("{}", value.why());
  if (const Dict* dict = value.dict(); dict != nullptr && is_hashable(key)) {
    const Value* held = find_key(runtime, *dict, key);
    if (held != nullptr) return *held;
  }
  if (const MarkedString* name = key.string()) {
    auto own = own_attribute(value, name->text());
    return own ? *std::move(own) : no_attribute(value, name->text());
  }
  Number number;
  if (as_number(key, number) == nullptr || number.is_float) return no_item(runtime, value, key);
  int64_t index = number.whole;
  if (const MarkedString* text = value.string()) {
    auto character = character_at(runtime, *text, index);
    return character ? *std::move(character) : no_item(runtime, value, key);
  }
  const Sequence* sequence = value.sequence();
  if (sequence == nullptr || (sequence->form != Form::kList && sequence->form != Form::kTuple &&
                              sequence->form != Form::kRange))
    return no_item(runtime, value, key);
  const auto length = static_cast<int64_t>(sequence->items.size());
  if (index < 0) index += length;
  if (index < 0 || index >= length) return no_item(runtime, value, key);
  return sequence->items[static_cast<size_t>(index)];
}

Value slice(Runtime& runtime, const Value& value, const Value* start, const Value* stop,
            const Value* step) {
  runtime.budget.step();
  if (value.is_undefined()) fail("{}", value.why());
  Slice bounds;
  for (const auto& [from, to] :
       {std::pair{start, &bounds.start}, {stop, &bounds.stop}, {step, &bounds.step}}) {
    if (from == nullptr || from->is_none()) continue;
    Number number;
    if (from->is_undefined()) fail("{}", from->why());
    if (as_number(*from, number) == nullptr || number.is_float)
      fail("a slice goes from int to int, not {}", from->type_name());
    *to = number.whole;
  }
  if (const MarkedString* text = value.string()) return slice_text(runtime, *text, bounds);
  const Sequence* sequence = value.sequence();
  if (sequence == nullptr || (sequence->form != Form::kList && sequence->form != Form::kTuple &&
                              sequence->form != Form::kRange))
    fail("a {} cannot be cut into slices", value.type_name());
  const SliceRange range = resolve_slice(bounds, static_cast<int64_t>(sequence->items.size()));
  runtime.budget.build(static_cast<size_t>(range.count) * sizeof(Value));
  std::vector<Value> items;
  for (int64_t i = 0; i < range.count; ++i)
    items.push_back(sequence->items[static_cast<size_t>(range.first + i * range.step)]);
  return runtime.sequence(std::move(items), sequence->form);
}

}  // namespace looseleaf::jinja
