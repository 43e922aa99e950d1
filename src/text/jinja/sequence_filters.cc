// Filters of lists and dicts.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/strings.h"

namespace looseleaf::jinja {
namespace {

// The flag `reverse`, which Python takes as an int.
bool reversed(const Bound& arguments, size_t i) {
  return arguments.has(i) && to_index(arguments[i], "reverse") != 0;
}

// What items are ordered and told apart by: strings without regard to case unless asked.
Value key_of(Runtime& runtime, const Value& value, bool case_sensitive) {
  if (case_sensitive || value.string() == nullptr) return value;
  return lower(runtime, *value.string());
}

// Merge sort: stable, and a fault or an odd order of the comparison does no harm.
template <typename Item, typename Less>
void sort_stably(std::vector<Item>& items, const Less& less) {
  if (items.size() < 2) return;
  const auto middle = items.begin() + static_cast<std::ptrdiff_t>(items.size() / 2);
  std::vector<Item> left(items.begin(), middle), right(middle, items.end());
  sort_stably(left, less);
  sort_stably(right, less);
  size_t l = 0, r = 0;
  for (Item& item : items) {
    const bool from_right = l == left.size() || (r < right.size() && less(right[r], left[l]));
    item = std::move(from_right ? right[r++] : left[l++]);
  }
}

struct Keyed {
  Value item;
  std::vector<Value> keys;
};

// `strict`: keys that are equal must have an order too, as Python's lone keys and unlike its lists.
std::vector<Value> sorted(Runtime& runtime, std::vector<Keyed> items, bool reverse, bool strict) {
  runtime.budget.build(items.size() * sizeof(Keyed));
  sort_stably(items, [&](const Keyed& a, const Keyed& b) {
    const Keyed& first = reverse ? b : a;
    const Keyed& second = reverse ? a : b;
    for (size_t i = 0; i < first.keys.size(); ++i) {
      if (equal(runtime, first.keys[i], second.keys[i])) continue;
      return compare(runtime, "<", first.keys[i], second.keys[i]);
    }
    return strict && compare(runtime, "<", first.keys[0], second.keys[0]);
  });
  std::vector<Value> result;
  for (Keyed& keyed : items) result.push_back(std::move(keyed.item));
  return result;
}

Value sort(Runtime& runtime, const Value& input, const Bound& arguments) {
  const bool case_sensitive = is_true(arguments[1]);
  std::vector<Value> paths = {arguments[2]};
  if (const MarkedString* several = arguments[2].string()) {
    const MarkedString comma(",", Origin::kTemplate);
    paths = split(runtime, *several, &comma, -1);
  }
  std::vector<Keyed> items;
  for (Value& item : items_of(runtime, input)) {
    Keyed keyed;
    for (const Value& path : paths)
      keyed.keys.push_back(key_of(runtime, attribute_path(runtime, item, path), case_sensitive));
    keyed.item = std::move(item);
    items.push_back(std::move(keyed));
  }
  return runtime.sequence(sorted(runtime, std::move(items), reversed(arguments, 0), false));
}

Value dictsort(Runtime& runtime, const Value& input, const Bound& arguments) {
  const Dict* dict = input.dict();
  if (dict == nullptr)
    fail("dictsort: {}", input.is_undefined() ? input.why() : "only a dict has items to sort");
  const std::string by =
      !arguments.has(1) ? "key" : to_text(runtime, arguments[1]).string()->text();
  if (by != "key" && by != "value") fail("dictsort: by is key or value");
  std::vector<Keyed> items;
  for (const auto& [key, value] : dict->entries)
    items.push_back({runtime.sequence({key, value}, Form::kTuple),
                     {key_of(runtime, by == "key" ? key : value, is_true(arguments[0]))}});
  return runtime.sequence(sorted(runtime, std::move(items), reversed(arguments, 2), true));
}

Value unique(Runtime& runtime, const Value& input, const Bound& arguments) {
  std::vector<Value> kept, keys;
  for (Value& item : items_of(runtime, input)) {
    Value key = key_of(runtime, attribute_path(runtime, item, arguments[1]), is_true(arguments[0]));
    if (!is_hashable(key)) fail("unique: a {} cannot be told apart", key.type_name());
    const bool seen = std::any_of(keys.begin(), keys.end(),
                                  [&](const Value& other) { return equal(runtime, key, other); });
    if (seen) continue;
    keys.push_back(std::move(key));
    kept.push_back(std::move(item));
  }
  return runtime.sequence(std::move(kept), Form::kGenerator);
}

template <bool kMost>
Value extreme(Runtime& runtime, const Value& input, const Bound& arguments) {
  Value best = Value::undefined("no item is the least or greatest of none"), best_key;
  bool any = false;
  for (Value& item : items_of(runtime, input)) {
    Value key = key_of(runtime, attribute_path(runtime, item, arguments[1]), is_true(arguments[0]));
    if (any && !compare(runtime, kMost ? ">" : "<", key, best_key)) continue;
    any = true;
    best = std::move(item);
    best_key = std::move(key);
  }
  return best;
}

Value sum(Runtime& runtime, const Value& input, const Bound& arguments) {
  Value total = !arguments.has(1) ? Value(int64_t{0}) : arguments[1];
  if (total.string() != nullptr) fail("sum: strings are joined by join");
  for (const Value& item : items_of(runtime, input)) {
    runtime.budget.step();
    total = arithmetic(runtime, "+", std::move(total), attribute_path(runtime, item, arguments[0]));
  }
  return total;
}

Value join_filter(Runtime& runtime, const Value& input, const Bound& arguments) {
  std::vector<Value> items = items_of(runtime, input);
  for (Value& item : items) item = attribute_path(runtime, item, arguments[1]);
  const Value separator =
      !arguments.has(0) ? Value::text("", Origin::kTemplate) : to_text(runtime, arguments[0]);
  return join(runtime, *separator.string(), items, false);
}

Value length(Runtime&, const Value& input, const Bound&) { return Value(length_of(input)); }

Value list(Runtime& runtime, const Value& input, const Bound&) {
  return runtime.sequence(items_of(runtime, input));
}

Value items(Runtime& runtime, const Value& input, const Bound&) {
  if (input.is_undefined()) return runtime.sequence({}, Form::kGenerator);
  if (input.dict() == nullptr) fail("items: a {} is no mapping", input.type_name());
  std::vector<Value> pairs;
  for (const auto& [key, value] : input.dict()->entries)
    pairs.push_back(runtime.sequence({key, value}, Form::kTuple));
  return runtime.sequence(std::move(pairs), Form::kGenerator);
}

Value first(Runtime& runtime, const Value& input, const Bound&) {
  Sequence* sequence = input.sequence();
  if (sequence != nullptr && sequence->form == Form::kGenerator) {
    if (sequence->next < sequence->items.size()) return sequence->items[sequence->next++];
    return Value::undefined("there is no first item: the sequence is empty");
  }
  if (input.string() != nullptr)
    if (auto character = character_at(runtime, *input.string(), 0)) return *std::move(character);
  const std::vector<Value> all = items_of(runtime, input);
  if (all.empty()) return Value::undefined("there is no first item: the sequence is empty");
  return all.front();
}

void check_reversible(const Value& input, std::string_view filter) {
  const Sequence* sequence = input.sequence();
  if (sequence != nullptr && sequence->form == Form::kGenerator)
    fail("{}: a generator cannot be read from its end: make it a list first", filter);
}

Value last(Runtime& runtime, const Value& input, const Bound&) {
  check_reversible(input, "last");
  if (input.string() != nullptr)
    if (auto character = character_at(runtime, *input.string(), -1)) return *std::move(character);
  const std::vector<Value> all = items_of(runtime, input);
  if (all.empty()) return Value::undefined("there is no last item: the sequence is empty");
  return all.back();
}

Value reverse(Runtime& runtime, const Value& input, const Bound&) {
  if (const MarkedString* text = input.string()) return slice_text(runtime, *text, {{}, {}, -1});
  std::vector<Value> all = items_of(runtime, input);
  std::reverse(all.begin(), all.end());
  const Sequence* sequence = input.sequence();
  // What Python cannot walk backwards becomes a list, the rest an iterator.
  const bool walked = sequence != nullptr && sequence->form == Form::kGenerator;
  return runtime.sequence(std::move(all), walked ? Form::kList : Form::kGenerator);
}

Value batch(Runtime& runtime, const Value& input, const Bound& arguments) {
  const int64_t size = to_index(arguments[0], "batch: linecount");
  std::vector<Value> batches, current;
  for (Value& item : items_of(runtime, input)) {
    if (static_cast<int64_t>(current.size()) == size)
      batches.push_back(runtime.sequence(std::exchange(current, {})));
    current.push_back(std::move(item));
  }
  if (!current.empty()) {
    const bool filled = arguments.has_some(1);
    const int64_t missing = filled ? size - static_cast<int64_t>(current.size()) : 0;
    if (missing > runtime.budget.limits().range_items) fail("batch: linecount is too large");
    for (int64_t i = 0; i < missing; ++i) current.push_back(arguments[1]);
    batches.push_back(runtime.sequence(std::move(current)));
  }
  return runtime.sequence(std::move(batches), Form::kGenerator);
}

Value slice(Runtime& runtime, const Value& input, const Bound& arguments) {
  const std::vector<Value> all = items_of(runtime, input);
  const int64_t wanted = to_index(arguments[0], "slice: slices");
  if (wanted == 0) fail("slice: division into no slices");
  if (wanted > runtime.budget.limits().range_items) fail("slice: slices is too large");
  const auto slices = static_cast<size_t>(std::max<int64_t>(wanted, 0));
  std::vector<Value> made;
  for (size_t i = 0, at = 0; i < slices; ++i) {
    const size_t longer = all.size() % slices, count = all.size() / slices + (i < longer ? 1 : 0);
    std::vector<Value> part(all.begin() + static_cast<std::ptrdiff_t>(at),
                            all.begin() + static_cast<std::ptrdiff_t>(at + count));
    at += count;
    const bool filled = arguments.has_some(1);
    if (filled && i >= longer) part.push_back(arguments[1]);
    made.push_back(runtime.sequence(std::move(part)));
  }
  return runtime.sequence(std::move(made), Form::kGenerator);
}

constexpr Filter kFilters[] = {
    {"length", "", length},
    {"count", "", length},
    {"list", "", list},
    {"items", "", items},
    {"first", "", first},
    {"last", "", last},
    {"join", "d= attribute=", join_filter},
    {"reverse", "", reverse},
    {"sort", "reverse= case_sensitive= attribute=", sort},
    {"dictsort", "case_sensitive= by= reverse=", dictsort},
    {"unique", "case_sensitive= attribute=", unique},
    {"min", "case_sensitive= attribute=", extreme<false>},
    {"max", "case_sensitive= attribute=", extreme<true>},
    {"sum", "attribute= start=", sum},
    {"batch", "linecount fill_with=", batch},
    {"slice", "slices fill_with=", slice},
};

}  // namespace

std::span<const Filter> sequence_filters() { return kFilters; }

}  // namespace looseleaf::jinja
