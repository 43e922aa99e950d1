// What is evaluated: samples, each a prompt with what a right answer to it is.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "looseleaf/looseleaf.h"

namespace looseleaf {

// How an answer's text is scored against the references; all give 0 to 1.
enum class TextMetric {
  kF1,         // tokens in common, SQuAD's normalization; the best reference
  kEm,         // equal after SQuAD's normalization; any reference
  kEmGold,     // the same, to the gold answer as a whole
  kRougeL,     // ROUGE-L F; the best reference
  kRecallAll,  // share of the references that the answer contains (RULER's string_match_all)
  kRecallAny,  // whether it contains any of them (RULER's string_match_part)
};

struct EvalSample {
  std::string id;
  Request request;                   // all but the method; greedy
  std::vector<std::string> answers;  // references, at least one
  std::string gold;                  // what teacher forcing goes over
};

struct EvalTask {
  std::string name;
  std::string data_hash;  // hex; of the bytes or parameters that the samples come from
  std::vector<TextMetric> metrics;
  bool first_line_only = false;  // only the answer's first line counts (LongBench, few-shot tasks)
  std::vector<EvalSample> samples;
};

// "f1", "em", "rouge_l", "recall".
std::string metric_name(TextMetric metric);

// `text`: the answer. Source: see text_metrics.h and rouge.h.
double text_score(const EvalTask& task, const EvalSample& sample, TextMetric metric,
                  const std::string& text);

}  // namespace looseleaf
