// What stands behind `is`.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/quote.h"

namespace looseleaf::jinja {
namespace {

struct Test {
  std::string_view name;
  std::string_view signature;  // as bind() takes it
  bool (*holds)(Runtime& runtime, const Value& value, const Bound& arguments);
};

bool defined(Runtime&, const Value& v, const Bound&) { return !v.is_undefined(); }
bool undefined(Runtime&, const Value& v, const Bound&) { return v.is_undefined(); }
bool none(Runtime&, const Value& v, const Bound&) { return v.is_none(); }
bool boolean(Runtime&, const Value& v, const Bound&) { return v.is<bool>(); }
template <bool kWhich>
bool is_flag(Runtime&, const Value& v, const Bound&) {
  return v.get<bool>() != nullptr && *v.get<bool>() == kWhich;
}
bool integer(Runtime&, const Value& v, const Bound&) { return v.is<int64_t>(); }
bool is_float(Runtime&, const Value& v, const Bound&) { return v.is<double>(); }
bool number(Runtime&, const Value& v, const Bound&) {
  Number storage;
  return as_number(v, storage) != nullptr;
}
bool string(Runtime&, const Value& v, const Bound&) { return v.string() != nullptr; }
bool mapping(Runtime&, const Value& v, const Bound&) { return v.dict() != nullptr; }
bool iterable(Runtime&, const Value& v, const Bound&) {
  return v.is_undefined() || v.string() != nullptr || v.dict() != nullptr ||
         v.sequence() != nullptr || v.loop() != nullptr;
}
// What has a length and takes an index.
bool sequence(Runtime&, const Value& v, const Bound&) {
  if (v.is_undefined() || v.string() != nullptr || v.dict() != nullptr) return true;
  return v.sequence() != nullptr &&
         (v.sequence()->form == Form::kList || v.sequence()->form == Form::kTuple ||
          v.sequence()->form == Form::kRange);
}
bool callable(Runtime&, const Value& v, const Bound&) {
  return v.is_undefined() || v.function() != nullptr || v.loop() != nullptr;
}

Value remainder(Runtime& runtime, const Value& v, const Value& by) {
  return arithmetic(runtime, "%", v, by);
}
bool odd(Runtime& runtime, const Value& v, const Bound&) {
  return equal(runtime, remainder(runtime, v, Value(int64_t{2})), Value(int64_t{1}));
}
bool even(Runtime& runtime, const Value& v, const Bound&) {
  return equal(runtime, remainder(runtime, v, Value(int64_t{2})), Value(int64_t{0}));
}
bool divisible(Runtime& runtime, const Value& v, const Bound& arguments) {
  return equal(runtime, remainder(runtime, v, arguments[0]), Value(int64_t{0}));
}

bool lower_case(Runtime& runtime, const Value& v, const Bound&) {
  return all_lower(to_text(runtime, v).string()->text());
}
bool upper_case(Runtime& runtime, const Value& v, const Bound&) {
  return all_upper(to_text(runtime, v).string()->text());
}
bool filter(Runtime&, const Value& v, const Bound&) {
  return v.string() != nullptr && has_filter(v.string()->text());
}
bool test(Runtime&, const Value& v, const Bound&) {
  return v.string() != nullptr && has_test(v.string()->text());
}

// The same object: of numbers, strings and None, what has the same type and value.
bool same(Runtime& runtime, const Value& v, const Bound& arguments) {
  const Value& other = arguments[0];
  if (v.type_name() != other.type_name()) return false;
  if (v.sequence() != nullptr) return v.sequence() == other.sequence();
  if (v.dict() != nullptr) return v.dict() == other.dict();
  return equal(runtime, v, other);
}

constexpr std::string_view kEq = "==", kNe = "!=", kLt = "<", kLe = "<=", kGt = ">",
                           kGe = ">=", kIn = "in";
template <const std::string_view& kSymbol>
bool compared(Runtime& runtime, const Value& v, const Bound& arguments) {
  return compare(runtime, kSymbol, v, arguments[0]);
}

constexpr Test kTests[] = {
    {"defined", "", defined},
    {"undefined", "", undefined},
    {"none", "", none},
    {"boolean", "", boolean},
    {"true", "", is_flag<true>},
    {"false", "", is_flag<false>},
    {"integer", "", integer},
    {"float", "", is_float},
    {"number", "", number},
    {"string", "", string},
    {"mapping", "", mapping},
    {"iterable", "", iterable},
    {"sequence", "", sequence},
    {"callable", "", callable},
    {"odd", "", odd},
    {"even", "", even},
    {"divisibleby", "num", divisible},
    {"lower", "", lower_case},
    {"upper", "", upper_case},
    {"filter", "", filter},
    {"test", "", test},
    {"sameas", "other", same},
    {"==", "/ other", compared<kEq>},
    {"eq", "/ other", compared<kEq>},
    {"equalto", "/ other", compared<kEq>},
    {"!=", "/ other", compared<kNe>},
    {"ne", "/ other", compared<kNe>},
    {"<", "/ other", compared<kLt>},
    {"lt", "/ other", compared<kLt>},
    {"lessthan", "/ other", compared<kLt>},
    {"<=", "/ other", compared<kLe>},
    {"le", "/ other", compared<kLe>},
    {">", "/ other", compared<kGt>},
    {"gt", "/ other", compared<kGt>},
    {"greaterthan", "/ other", compared<kGt>},
    {">=", "/ other", compared<kGe>},
    {"ge", "/ other", compared<kGe>},
    {"in", "seq", compared<kIn>},
};

const Test* find_test(std::string_view name) {
  const auto* found = std::find_if(std::begin(kTests), std::end(kTests),
                                   [&](const Test& test) { return test.name == name; });
  return found == std::end(kTests) ? nullptr : found;
}

}  // namespace

bool has_test(std::string_view name) { return find_test(name) != nullptr; }

bool call_test(Runtime& runtime, std::string_view name, const Value& value,
               const Arguments& arguments) {
  runtime.budget.step();
  const Test* test = find_test(name);
  if (test == nullptr) fail("no test is named {}", quote(name));
  return test->holds(runtime, value, bind(name, test->signature, arguments));
}

}  // namespace looseleaf::jinja
