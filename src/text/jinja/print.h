// Values as text: str(), repr() and JSON.
#pragma once

#include <string>

#include "text/jinja/runtime.h"

namespace looseleaf::jinja {

// Appends str(value). Faults for what has no text that is worth writing (a generator, a function).
void print(TextBuilder& out, const Value& value);
// Appends repr(value).
void print_quoted(TextBuilder& out, const Value& value);
// str(value) as a value; a string is itself.
Value to_text(Runtime& runtime, const Value& value);

// repr(float): the shortest digits that read back as the same number.
std::string float_text(double value);

}  // namespace looseleaf::jinja
