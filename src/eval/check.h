// What every method must satisfy, tried on a model: looseleaf eval --check NAME.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

struct CheckResult {
  enum class Outcome { kPassed, kFailed, kDoesNotApply };
  std::string what;
  Outcome outcome = Outcome::kPassed;
  std::string detail;  // the numbers
};

// Largest difference of a log-probability at ratio 1 from full prefill's.
inline constexpr double kFullTolerance = 2e-3;

// On prompts of a few hundred tokens with hidden facts. `name`: of a method, with options if
// wanted, but without a number. `engine`: exact and deterministic, or equal bits are not to be
// expected. Errors: kUsage (no such method), those of Engine::score.
Expected<std::vector<CheckResult>> check_method(Engine& engine, const std::string& name);

}  // namespace looseleaf
