// Lists of methods with sweeps.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace looseleaf {

// A method of a list. `curve` is what it shares with the others of its sweep: its text without the
// number; empty for one that stands alone.
struct SweptMethod {
  std::string method;  // canonical
  std::string curve;
};

// "0.05..0.30/6": that many numbers at equal distances, both ends included, with at most 6
// digits. Errors: kUsage.
Expected<std::vector<std::string>> sweep_numbers(const std::string& sweep);

// "full,reuse,NAME:0.05..0.30/6:key=value": names separated by commas; a sweep stands for a method
// each of its numbers. Each method once. Errors: kUsage (an empty item, a sweep that is not one,
// and what parse_method refuses).
Expected<std::vector<SweptMethod>> expand_methods(const std::string& list);

}  // namespace looseleaf
