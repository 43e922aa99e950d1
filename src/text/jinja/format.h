// Python's two ways of formatting strings.
#pragma once

#include "text/jinja/runtime.h"

namespace looseleaf::jinja {

// pattern % value, with %s %r %d %i %u %f %F %e %E %g %G %x %X %o %c %%, flags, width, precision
// and names. Faults like Python.
Value format_percent(Runtime& runtime, const MarkedString& pattern, const Value& value);

// pattern.format(...), with {}, {0}, {name} and doubled braces; attributes, conversions and format
// specifications are refused.
Value format_braces(Runtime& runtime, const MarkedString& pattern, const Arguments& arguments);

}  // namespace looseleaf::jinja
