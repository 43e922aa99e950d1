#include "text/jinja/functions.h"

#include <algorithm>

#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/quote.h"

namespace looseleaf::jinja {
namespace {

Value range(Runtime& runtime, const Arguments& arguments) {
  const Bound bound = bind("range", "/ start stop= step=", arguments);
  int64_t start = to_index(bound[0], "range: an argument"), stop = start;
  if (!bound.has(1))
    start = 0;
  else
    stop = to_index(bound[1], "range: an argument");
  const int64_t step = !bound.has(2) ? 1 : to_index(bound[2], "range: an argument");
  if (step == 0) fail("range: the step is 0");
  const bool up = step > 0;
  uint64_t count = 0;
  if (up ? start < stop : start > stop) {
    // Unsigned: the difference of two ints may take a bit more.
    const uint64_t span = up ? static_cast<uint64_t>(stop) - static_cast<uint64_t>(start)
                             : static_cast<uint64_t>(start) - static_cast<uint64_t>(stop);
    const uint64_t size = up ? static_cast<uint64_t>(step) : ~static_cast<uint64_t>(step) + 1;
    count = (span - 1) / size + 1;
  }
  const auto most = static_cast<uint64_t>(runtime.budget.limits().range_items);
  if (count > most) fail("range: more than {} numbers", most);
  runtime.budget.build(count * sizeof(Value));
  std::vector<Value> items;
  for (uint64_t i = 0; i < count; ++i)
    items.emplace_back(
        static_cast<int64_t>(static_cast<uint64_t>(start) + i * static_cast<uint64_t>(step)));
  const Value made = runtime.sequence(std::move(items), Form::kRange);
  made.sequence()->shown = step == 1 ? fmt::format("range({}, {})", start, stop)
                                     : fmt::format("range({}, {}, {})", start, stop, step);
  return made;
}

// dict(...) and what namespace(...) begins with.
std::vector<std::pair<Value, Value>> entries_of(Runtime& runtime, std::string_view callee,
                                                const Arguments& arguments) {
  if (arguments.positional.size() > 1) fail("{}: more than one argument without a name", callee);
  std::vector<std::pair<Value, Value>> entries;
  for (const Value& given : arguments.positional) {
    if (const Dict* dict = given.dict()) {
      entries = dict->entries;
      continue;
    }
    for (const Value& pair : items_of(runtime, given)) {
      const std::vector<Value> two = items_of(runtime, pair);
      if (two.size() != 2) fail("{}: an item is no pair", callee);
      entries.emplace_back(two[0], two[1]);
    }
  }
  for (const auto& [name, value] : arguments.keywords)
    entries.emplace_back(runtime.text(name), value);
  return entries;
}

Value name_space(Runtime& runtime, const Arguments& arguments) {
  const Value made = make_dict(runtime, entries_of(runtime, "namespace", arguments));
  auto space = std::make_shared<Namespace>();
  for (const auto& [key, value] : made.dict()->entries) {
    if (key.string() == nullptr) fail("namespace: a name is a {}", key.type_name());
    space->entries.emplace_back(key.string()->text(), value);
  }
  return Value(std::move(space));
}

// One conversion at a time, so that no width in a format can ask for much.
Value strftime_now(Runtime& runtime, const Arguments& arguments) {
  const Bound bound = bind("strftime_now", "format", arguments);
  if (bound[0].string() == nullptr) fail("strftime_now: the format is a {}", bound[0].type_name());
  constexpr std::string_view kConversions = "aAbBcdeDFgGhHIjklmMnpPrRsStTuUVwWxXyYzZ%";
  const std::string_view format = bound[0].string()->text();
  const std::tm now = runtime.clock();
  TextBuilder out(runtime);
  for (size_t at = 0; at < format.size();) {
    const size_t percent = std::min(format.find('%', at), format.size());
    out.append(format.substr(at, percent - at));
    if (percent == format.size()) break;
    size_t letter = percent + 1;
    if (letter < format.size() && format[letter] == '-') ++letter;  // without leading zeros
    if (letter >= format.size() || kConversions.find(format[letter]) == std::string_view::npos)
      fail("strftime_now: no conversion is called {}",
           quote(format.substr(percent, letter + 1 - percent)));
    const std::string one(format.substr(percent, letter + 1 - percent));
    char buffer[128];
    out.append(std::string_view(buffer, std::strftime(buffer, sizeof(buffer), one.c_str(), &now)));
    at = letter + 1;
  }
  return out.take();
}

[[noreturn]] void raise_exception(Runtime& runtime, const Arguments& arguments) {
  const Bound bound = bind("raise_exception", "message", arguments);
  std::string message = to_text(runtime, bound[0]).string()->text();
  std::replace(message.begin(), message.end(), '\n', ' ');
  constexpr size_t kShown = 500;
  if (message.size() > kShown) {
    message.resize(kShown);
    while (!message.empty() && (static_cast<uint8_t>(message.back()) & 0x80) != 0)
      message.pop_back();
    message += "...";
  }
  std::erase_if(message, [](char c) { return static_cast<uint8_t>(c) < 0x20; });
  fail("the template refuses this: {}", message);
}

}  // namespace

std::shared_ptr<const Scope> builtin_scope(const Runtime& runtime) {
  auto scope = std::make_shared<Scope>();
  for (const std::string_view name :
       {"range", "namespace", "dict", "raise_exception", "strftime_now"}) {
    if (name == "strftime_now" && !runtime.clock) continue;
    auto function = std::make_shared<Function>();
    function->name = name;
    scope->set(name, Value(std::shared_ptr<const Function>(std::move(function))));
  }
  return scope;
}

Value call_builtin(Runtime& runtime, std::string_view name, const Arguments& arguments) {
  if (name == "range") return range(runtime, arguments);
  if (name == "namespace") return name_space(runtime, arguments);
  if (name == "dict") return make_dict(runtime, entries_of(runtime, "dict", arguments));
  if (name == "strftime_now") return strftime_now(runtime, arguments);
  raise_exception(runtime, arguments);
}

}  // namespace looseleaf::jinja
