#include <cmath>

#include "text/jinja/format.h"
#include "text/jinja/operators.h"

namespace looseleaf::jinja {
namespace {

[[noreturn]] void too_large() { fail("a number goes beyond 64 bits"); }

int64_t power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  while (exponent > 0) {
    if ((exponent & 1) != 0 && __builtin_mul_overflow(result, base, &result)) too_large();
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) too_large();
  }
  return result;
}

Value whole_arithmetic(char symbol, bool twice, int64_t a, int64_t b) {
  int64_t result = 0;
  const auto checked = [&](bool overflow) {
    if (overflow) too_large();
    return Value(result);
  };
  switch (symbol) {
    case '+':
      return checked(__builtin_add_overflow(a, b, &result));
    case '-':
      return checked(__builtin_sub_overflow(a, b, &result));
    case '*':
      if (!twice) return checked(__builtin_mul_overflow(a, b, &result));
      if (b < 0) {
        if (a == 0) fail("0 cannot be raised to a negative power");
        return Value(std::pow(static_cast<double>(a), static_cast<double>(b)));
      }
      return Value(power(a, b));
    default:
      break;
  }
  if (b == 0) fail("division by zero");
  if (symbol == '/' && !twice) return Value(static_cast<double>(a) / static_cast<double>(b));
  if (b == -1) {  // the one quotient that may overflow
    if (symbol == '%') return Value(int64_t{0});
    return checked(__builtin_sub_overflow(int64_t{0}, a, &result));
  }
  // Rounded down, and the remainder has the divisor's sign.
  const int64_t rest = a % b;
  const bool differs = rest != 0 && (rest < 0) != (b < 0);
  if (symbol == '%') return Value(differs ? rest + b : rest);
  return Value(a / b - (differs ? 1 : 0));
}

Value real_arithmetic(char symbol, bool twice, double a, double b) {
  switch (symbol) {
    case '+':
      return Value(a + b);
    case '-':
      return Value(a - b);
    case '*':
      if (!twice) return Value(a * b);
      if (a == 0 && b < 0) fail("0.0 cannot be raised to a negative power");
      if (a < 0 && b != std::floor(b)) fail("complex numbers are not supported");
      if (const double result = std::pow(a, b); std::isfinite(result) || !std::isfinite(a + b))
        return Value(result);
      fail("a power is out of range");
    default:
      break;
  }
  if (b == 0) fail("division by zero");
  if (symbol == '/' && !twice) return Value(a / b);
  double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0) {
    if ((rest < 0) != (b < 0)) {
      rest += b;
      quotient -= 1;
    }
  } else {
    rest = std::copysign(0.0, b);
  }
  if (symbol == '%') return Value(rest);
  if (quotient == 0) return Value(std::copysign(0.0, a / b));
  const double floored = std::floor(quotient);
  return Value(quotient - floored > 0.5 ? floored + 1 : floored);
}

bool is_list_or_tuple(const Value& value) {
  const Sequence* sequence = value.sequence();
  return sequence != nullptr && (sequence->form == Form::kList || sequence->form == Form::kTuple);
}

Value repeat(Runtime& runtime, const Value& value, int64_t times) {
  if (const MarkedString* text = value.string()) {
    TextBuilder builder(runtime);
    builder.repeat(*text, times);
    return builder.take();
  }
  const Sequence& sequence = *value.sequence();
  const auto size = static_cast<int64_t>(sequence.items.size());
  if (size == 0 || times <= 0) return runtime.sequence({}, sequence.form);
  if (times > runtime.budget.limits().built_bytes / size)
    fail("a {} repeated {} times is too long", value.type_name(), times);
  runtime.budget.build(static_cast<size_t>(times * size) * sizeof(Value));
  std::vector<Value> items;
  for (int64_t i = 0; i < times; ++i)
    items.insert(items.end(), sequence.items.begin(), sequence.items.end());
  return runtime.sequence(std::move(items), sequence.form);
}

Value joined(Runtime& runtime, const Sequence& a, const Sequence& b) {
  runtime.budget.build((a.items.size() + b.items.size()) * sizeof(Value));
  std::vector<Value> items = a.items;
  items.insert(items.end(), b.items.begin(), b.items.end());
  return runtime.sequence(std::move(items), a.form);
}

}  // namespace

Value arithmetic(Runtime& runtime, std::string_view symbol, Value a, Value b) {
  const char sign = symbol[0];
  const bool twice = symbol.size() == 2;
  if (a.is_undefined()) fail("{}", a.why());
  if (sign == '%' && a.string() != nullptr) return format_percent(runtime, *a.string(), b);
  if (b.is_undefined()) fail("{}", b.why());
  Number x, y;
  const bool left = as_number(a, x) != nullptr, right = as_number(b, y) != nullptr;
  if (left && right) {
    if (x.is_float || y.is_float) return real_arithmetic(sign, twice, x.real, y.real);
    return whole_arithmetic(sign, twice, x.whole, y.whole);
  }
  if (sign == '+' && a.string() != nullptr && b.string() != nullptr) {
    if (MarkedString* grown = a.unshared_string()) {
      runtime.budget.build(b.string()->text().size());
      grown->append(*b.string());
      return a;
    }
    TextBuilder builder(runtime);
    builder.append(*a.string());
    builder.append(*b.string());
    return builder.take();
  }
  if (sign == '+' && is_list_or_tuple(a) && is_list_or_tuple(b) &&
      a.sequence()->form == b.sequence()->form)
    return joined(runtime, *a.sequence(), *b.sequence());
  if (sign == '*' && !twice) {
    if ((a.string() != nullptr || is_list_or_tuple(a)) && right && !y.is_float)
      return repeat(runtime, a, y.whole);
    if ((b.string() != nullptr || is_list_or_tuple(b)) && left && !x.is_float)
      return repeat(runtime, b, x.whole);
  }
  fail("{} {} {} is not supported", a.type_name(), symbol, b.type_name());
}

Value negate(const Value& value) {
  Number number;
  if (value.is_undefined()) fail("{}", value.why());
  if (as_number(value, number) == nullptr) fail("-{} is not supported", value.type_name());
  if (number.is_float) return Value(-number.real);
  int64_t result = 0;
  if (__builtin_sub_overflow(int64_t{0}, number.whole, &result)) too_large();
  return Value(result);
}

Value unary_plus(const Value& value) {
  Number number;
  if (value.is_undefined()) fail("{}", value.why());
  if (as_number(value, number) == nullptr) fail("+{} is not supported", value.type_name());
  if (number.is_float) return Value(number.real);
  return Value(number.whole);
}

}  // namespace looseleaf::jinja
