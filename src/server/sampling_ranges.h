// The ranges of the sampling fields, the same in a body and on the command line.
#pragma once

namespace looseleaf {

struct NumberRange {
  const char* field;
  double low, high;
  bool open_low = false;  // `low` itself is refused
};

inline constexpr NumberRange kTemperature{"temperature", 0, 2};
inline constexpr NumberRange kTopP{"top_p", 0, 1, true};
inline constexpr NumberRange kMinP{"min_p", 0, 1};
// Beyond these a logit is scaled past everything else, and far beyond they leave float's range.
inline constexpr NumberRange kRepetitionPenalty{"repetition_penalty", 0.01, 100};
inline constexpr NumberRange kPresencePenalty{"presence_penalty", -2, 2};
inline constexpr NumberRange kFrequencyPenalty{"frequency_penalty", -2, 2};
inline constexpr NumberRange kLogitBias{"logit_bias", -100, 100};

}  // namespace looseleaf
