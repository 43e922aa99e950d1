// Random text that is UTF-8, for properties that hold for all of it.
#pragma once

#include <random>
#include <string>

namespace looseleaf {

// Up to `max_parts` parts: words, runs of white space, digits, marks, any code points.
std::string random_text(std::mt19937& random, size_t max_parts);

}  // namespace looseleaf
