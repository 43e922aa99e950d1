// ROUGE-L for summaries.
#pragma once

#include <string>

namespace looseleaf {

// F of ROUGE-L at the level of summaries (Lin 2004, section 3.2) as LongBench takes it from the
// Python package `rouge` 1.0.1: sentences end at full stops, words are separated by spaces, and
// words count once, in the union of the longest common subsequences as in both lengths. 0 where
// either side has no sentence.
double rouge_l(const std::string& prediction, const std::string& reference);

}  // namespace looseleaf
