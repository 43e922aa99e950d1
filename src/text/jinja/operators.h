// Python's operators on values, faulting where Python raises.
#pragma once

#include <string_view>

#include "text/jinja/runtime.h"

namespace looseleaf::jinja {

bool is_true(const Value& value);
bool equal(Runtime& runtime, const Value& a, const Value& b);
// `symbol`: < <= > >= == != in, "not in".
bool compare(Runtime& runtime, std::string_view symbol, const Value& a, const Value& b);
// `symbol`: + - * / // % **. Consumes the operands: a string that nobody else holds grows in place.
Value arithmetic(Runtime& runtime, std::string_view symbol, Value a, Value b);
Value negate(const Value& value);
Value unary_plus(const Value& value);

// The number that a bool, int or float is; nothing for what is none.
struct Number {
  bool is_float = false;
  int64_t whole = 0;
  double real = 0;  // set for both
};
const Number* as_number(const Value& value, Number& storage);

// An int argument: `what` names it in the fault.
int64_t to_index(const Value& value, std::string_view what);

// What a for runs over; a generator is used up by it. Faults for what cannot be iterated.
std::vector<Value> items_of(Runtime& runtime, const Value& value);
// len(). Faults for what has none.
int64_t length_of(const Value& value);
// Null: not there. Faults for a key that cannot be one.
const Value* find_key(Runtime& runtime, const Dict& dict, const Value& key);
bool is_hashable(const Value& value);
// Entries in order, of equal keys the last value at the first one's place.
Value make_dict(Runtime& runtime, std::vector<std::pair<Value, Value>> entries);

}  // namespace looseleaf::jinja
