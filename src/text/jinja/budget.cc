#include "text/jinja/budget.h"

#include "text/jinja/fault.h"

namespace looseleaf::jinja {

Limits limits_for(size_t input_bytes) {
  constexpr int64_t kCopies = 32;  // Qwen3's template makes about ten of each message
  const auto bytes = static_cast<int64_t>(input_bytes);
  Limits limits;
  limits.steps += bytes * kCopies;
  limits.built_bytes += bytes * kCopies;
  limits.output_bytes += bytes * 2;
  return limits;
}

void Budget::out_of_steps() const { fail("it takes more than {} steps", limits_.steps); }
void Budget::out_of_bytes() const {
  fail("it builds more than {} bytes of values", limits_.built_bytes);
}
void Budget::too_deep() {
  --frames_;  // no Frame was made, so none will leave
  fail("it nests and recurses more than {} deep", limits_.frames);
}

}  // namespace looseleaf::jinja
