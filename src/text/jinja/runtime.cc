#include "text/jinja/runtime.h"

#include <algorithm>

#include "text/quote.h"

namespace looseleaf::jinja {

Value Runtime::text(MarkedString text) {
  budget.build(kTextOverhead + text.text().size());
  return Value::text(std::move(text));
}

Value Runtime::text(std::string_view text, Origin origin) {
  budget.build(kTextOverhead + text.size());
  return Value::text(text, origin);
}

int Runtime::storable(const Value& value) const {
  if (value.name_space() != nullptr || value.loop() != nullptr)
    fail("a {} inside another value is not supported", value.type_name());
  return value.depth();
}

Value Runtime::sequence(std::vector<Value> items, Form form) {
  budget.build(items.size() * sizeof(Value));
  int depth = 0;
  for (const Value& item : items) depth = std::max(depth, storable(item));
  if (depth >= budget.limits().value_depth)
    fail("values nest more than {} deep", budget.limits().value_depth);
  return Value(std::make_shared<Sequence>(Sequence{form, depth + 1, std::move(items), 0}));
}

Value Runtime::dict(std::vector<std::pair<Value, Value>> entries) {
  budget.build(entries.size() * sizeof(entries[0]));
  int depth = 0;
  for (const auto& [key, value] : entries)
    depth = std::max({depth, storable(key), storable(value)});
  if (depth >= budget.limits().value_depth)
    fail("values nest more than {} deep", budget.limits().value_depth);
  return Value(
      std::shared_ptr<const Dict>(std::make_shared<Dict>(Dict{depth + 1, std::move(entries)})));
}

void TextBuilder::repeat(const MarkedString& text, int64_t times) {
  if (times <= 0 || text.text().empty()) return;
  const auto limit = runtime_.budget.limits().built_bytes;
  const auto size = static_cast<int64_t>(text.text().size());
  // A product that would overflow is beyond any limit.
  runtime_.budget.build(times > limit / size ? static_cast<size_t>(limit) + 1
                                             : static_cast<size_t>(times * size));
  runtime_.budget.step(times);
  for (int64_t i = 0; i < times; ++i) text_.append(text);
}

Bound bind(std::string_view callee, std::string_view signature, const Arguments& arguments) {
  const bool by_name = !signature.starts_with("/");
  if (!by_name) signature.remove_prefix(signature.size() > 1 ? 2 : 1);
  Bound bound;
  std::vector<bool> given(arguments.keywords.size());
  while (!signature.empty()) {
    const size_t end = std::min(signature.find(' '), signature.size());
    std::string_view name = signature.substr(0, end);
    signature.remove_prefix(std::min(end + 1, signature.size()));
    const bool optional = name.ends_with('=');
    if (optional) name.remove_suffix(1);
    const size_t index = bound.size();
    bool found = index < arguments.positional.size();
    Value value = found ? arguments.positional[index] : Value();
    for (size_t i = 0; by_name && i < arguments.keywords.size(); ++i) {
      if (arguments.keywords[i].first != name) continue;
      if (found) fail("{}: the argument '{}' is given twice", callee, name);
      found = given[i] = true;
      value = arguments.keywords[i].second;
    }
    bound.add(std::move(value), found);
    if (!found && !optional) fail("{}: the argument '{}' is missing", callee, name);
  }
  if (arguments.positional.size() > bound.size())
    fail("{}: {} arguments where at most {} are taken", callee, arguments.positional.size(),
         bound.size());
  for (size_t i = 0; i < given.size(); ++i)
    if (!given[i]) fail("{}: no argument is named {}", callee, quote(arguments.keywords[i].first));
  return bound;
}

}  // namespace looseleaf::jinja
