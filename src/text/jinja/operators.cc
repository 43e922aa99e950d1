#include "text/jinja/operators.h"

#include <algorithm>

#include "text/jinja/format.h"
#include "text/jinja/scope.h"
#include "text/jinja/strings.h"
#include "text/jinja/unicode.h"

namespace looseleaf::jinja {
namespace {

constexpr bool is_plain_list(Form form) { return form == Form::kList || form == Form::kTuple; }

bool equal_items(Runtime& runtime, const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (!equal(runtime, a[i], b[i])) return false;
  return true;
}

bool equal_sequences(Runtime& runtime, const Sequence& a, const Sequence& b) {
  if (&a == &b) return true;
  const bool by_items = is_plain_list(a.form) || a.form == Form::kRange;
  if (a.form != b.form) return false;
  if (by_items) return equal_items(runtime, a.items, b.items);
  if (a.form == Form::kValues || a.form == Form::kGenerator) return false;  // by identity
  if (a.items.size() != b.items.size()) return false;
  // Keys and items are sets.
  return std::all_of(a.items.begin(), a.items.end(), [&](const Value& item) {
    return std::any_of(b.items.begin(), b.items.end(),
                       [&](const Value& other) { return equal(runtime, item, other); });
  });
}

bool equal_dicts(Runtime& runtime, const Dict& a, const Dict& b) {
  if (a.entries.size() != b.entries.size()) return false;
  for (const auto& [key, value] : a.entries) {
    const Value* other = find_key(runtime, b, key);
    if (other == nullptr || !equal(runtime, value, *other)) return false;
  }
  return true;
}

// Exact, as Python compares ints with floats. Below 0: a is less.
int order(const Number& a, const Number& b, bool& comparable) {
  comparable = true;
  if (!a.is_float && !b.is_float) return a.whole < b.whole ? -1 : a.whole > b.whole;
  const long double x = a.is_float ? a.real : static_cast<long double>(a.whole);
  const long double y = b.is_float ? b.real : static_cast<long double>(b.whole);
  comparable = x == x && y == y;
  return x < y ? -1 : x > y;
}

bool by_order(std::string_view symbol, int order) {
  if (symbol == "<") return order < 0;
  if (symbol == "<=") return order <= 0;
  if (symbol == ">") return order > 0;
  return order >= 0;
}

bool ordered(Runtime& runtime, std::string_view symbol, const Value& a, const Value& b) {
  runtime.budget.step();
  for (const Value* side : {&a, &b})
    if (side->is_undefined()) fail("{}", side->why());
  Number x, y;
  if (as_number(a, x) != nullptr && as_number(b, y) != nullptr) {
    bool comparable = false;
    const int sign = order(x, y, comparable);
    return comparable && by_order(symbol, sign);
  }
  if (a.string() != nullptr && b.string() != nullptr) {
    runtime.budget.work(std::min(a.string()->text().size(), b.string()->text().size()));
    return by_order(symbol, a.string()->text().compare(b.string()->text()));
  }
  const Sequence *p = a.sequence(), *q = b.sequence();
  if (p != nullptr && q != nullptr && p->form == q->form && is_plain_list(p->form)) {
    const size_t shared = std::min(p->items.size(), q->items.size());
    for (size_t i = 0; i < shared; ++i)
      if (!equal(runtime, p->items[i], q->items[i]))
        return ordered(runtime, symbol, p->items[i], q->items[i]);
    return by_order(symbol, p->items.size() < q->items.size()   ? -1
                            : p->items.size() > q->items.size() ? 1
                                                                : 0);
  }
  fail("'{}' is not supported between {} and {}", symbol, a.type_name(), b.type_name());
}

bool contains(Runtime& runtime, const Value& item, const Value& container) {
  if (const MarkedString* text = container.string()) {
    if (item.string() == nullptr)
      fail("'in' a str needs a str on its left, not {}", item.type_name());
    runtime.budget.work(text->text().size());
    return find_text(text->text(), item.string()->text(), 0) != std::string::npos;
  }
  if (const Dict* dict = container.dict()) return find_key(runtime, *dict, item) != nullptr;
  if (container.sequence() == nullptr && !container.is_undefined())
    fail("a {} has nothing to look for with 'in'", container.type_name());
  const Sequence* sequence = container.sequence();
  if (sequence != nullptr && sequence->form == Form::kKeys && !is_hashable(item))
    fail("a {} cannot be a key", item.type_name());
  for (const Value& other : items_of(runtime, container))
    if (equal(runtime, item, other)) return true;
  return false;
}

}  // namespace

bool is_true(const Value& value) {
  if (value.is_undefined() || value.is_none()) return false;
  if (const bool* flag = value.get<bool>()) return *flag;
  if (const int64_t* number = value.get<int64_t>()) return *number != 0;
  if (const double* number = value.get<double>()) return *number != 0;
  if (const MarkedString* text = value.string()) return !text->text().empty();
  if (const Dict* dict = value.dict()) return !dict->entries.empty();
  if (const Sequence* sequence = value.sequence())
    return sequence->form == Form::kGenerator || !sequence->items.empty();
  return true;
}

const Number* as_number(const Value& value, Number& storage) {
  if (const double* real = value.get<double>()) {
    storage = {true, 0, *real};
    return &storage;
  }
  if (const bool* flag = value.get<bool>())
    storage = {false, *flag ? 1 : 0, 0};
  else if (const int64_t* whole = value.get<int64_t>())
    storage = {false, *whole, 0};
  else
    return nullptr;
  storage.real = static_cast<double>(storage.whole);
  return &storage;
}

int64_t to_index(const Value& value, std::string_view what) {
  Number number;
  if (value.is_undefined()) fail("{}", value.why());
  if (as_number(value, number) == nullptr || number.is_float)
    fail("{} is a {}, not an int", what, value.type_name());
  return number.whole;
}

bool equal(Runtime& runtime, const Value& a, const Value& b) {
  runtime.budget.step();
  Number x, y;
  if (as_number(a, x) != nullptr && as_number(b, y) != nullptr) {
    bool comparable = false;
    return order(x, y, comparable) == 0 && comparable;
  }
  if (a.is_undefined() || a.is_none()) return a.is_undefined() ? b.is_undefined() : b.is_none();
  if (a.string() != nullptr && b.string() != nullptr) {
    if (a.string()->text().size() != b.string()->text().size()) return false;
    runtime.budget.work(a.string()->text().size());
    return a.string()->text() == b.string()->text();
  }
  if (a.sequence() != nullptr && b.sequence() != nullptr)
    return equal_sequences(runtime, *a.sequence(), *b.sequence());
  if (a.dict() != nullptr && b.dict() != nullptr) return equal_dicts(runtime, *a.dict(), *b.dict());
  if (a.name_space() != nullptr) return a.name_space() == b.name_space();
  if (a.loop() != nullptr) return a.loop() == b.loop();
  return a.function() != nullptr && a.function() == b.function();
}

bool compare(Runtime& runtime, std::string_view symbol, const Value& a, const Value& b) {
  if (symbol == "==") return equal(runtime, a, b);
  if (symbol == "!=") return !equal(runtime, a, b);
  if (symbol == "in") return contains(runtime, a, b);
  if (symbol == "not in") return !contains(runtime, a, b);
  return ordered(runtime, symbol, a, b);
}

std::vector<Value> items_of(Runtime& runtime, const Value& value) {
  if (value.is_undefined()) return {};
  if (const MarkedString* text = value.string()) return characters(runtime, *text);
  if (const Dict* dict = value.dict()) {
    runtime.budget.build(dict->entries.size() * sizeof(Value));
    std::vector<Value> keys;
    for (const auto& [key, held] : dict->entries) keys.push_back(key);
    return keys;
  }
  Sequence* sequence = value.sequence();
  if (sequence == nullptr) fail("a {} cannot be iterated over", value.type_name());
  const size_t from = sequence->form == Form::kGenerator ? sequence->next : 0;
  if (sequence->form == Form::kGenerator) sequence->next = sequence->items.size();
  runtime.budget.build((sequence->items.size() - from) * sizeof(Value));
  return {sequence->items.begin() + static_cast<std::ptrdiff_t>(from), sequence->items.end()};
}

int64_t length_of(const Value& value) {
  if (value.is_undefined()) return 0;
  if (const MarkedString* text = value.string())
    return static_cast<int64_t>(count_code_points(text->text()));
  if (const Dict* dict = value.dict()) return static_cast<int64_t>(dict->entries.size());
  if (const LoopState* loop = value.loop()) return static_cast<int64_t>(loop->items.size());
  const Sequence* sequence = value.sequence();
  if (sequence == nullptr || sequence->form == Form::kGenerator)
    fail("a {} has no length", value.type_name());
  return static_cast<int64_t>(sequence->items.size());
}

bool is_hashable(const Value& value) {
  if (value.dict() != nullptr) return false;
  const Sequence* sequence = value.sequence();
  if (sequence == nullptr) return true;
  if (sequence->form == Form::kRange || sequence->form == Form::kGenerator) return true;
  return sequence->form == Form::kTuple &&
         std::all_of(sequence->items.begin(), sequence->items.end(), is_hashable);
}

const Value* find_key(Runtime& runtime, const Dict& dict, const Value& key) {
  if (!is_hashable(key)) fail("a {} cannot be a key", key.type_name());
  runtime.budget.step(1 + static_cast<int64_t>(dict.entries.size() / 8));
  for (const auto& [held, value] : dict.entries) {
    if (held.string() != nullptr && key.string() != nullptr
            ? held.string()->text() == key.string()->text()
            : equal(runtime, held, key))
      return &value;
  }
  return nullptr;
}

Value make_dict(Runtime& runtime, std::vector<std::pair<Value, Value>> entries) {
  Dict kept;
  for (auto& [key, value] : entries) {
    if (const Value* held = find_key(runtime, kept, key))
      *const_cast<Value*>(held) = std::move(value);  // `kept` is this function's own
    else
      kept.entries.emplace_back(std::move(key), std::move(value));
  }
  return runtime.dict(std::move(kept.entries));
}

}  // namespace looseleaf::jinja
