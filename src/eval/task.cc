#include "eval/task.h"

#include <algorithm>

#include "eval/rouge.h"
#include "eval/text_metrics.h"

namespace looseleaf {
namespace {

// Without leading line ends, up to the first one.
std::string first_line(const std::string& text) {
  const size_t start = text.find_first_not_of('\n');
  if (start == std::string::npos) return "";
  return text.substr(start, text.find('\n', start) - start);
}

}  // namespace

std::string metric_name(TextMetric metric) {
  switch (metric) {
    case TextMetric::kF1:
      return "f1";
    case TextMetric::kEm:
    case TextMetric::kEmGold:
      return "em";
    case TextMetric::kRougeL:
      return "rouge_l";
    case TextMetric::kRecallAll:
    case TextMetric::kRecallAny:
      return "recall";
  }
  return "";
}

double text_score(const EvalTask& task, const EvalSample& sample, TextMetric metric,
                  const std::string& whole) {
  const std::string text = task.first_line_only ? first_line(whole) : whole;
  const auto best = [&](double (*score)(const std::string&, const std::string&)) {
    double best = 0;
    for (const std::string& answer : sample.answers) best = std::max(best, score(text, answer));
    return best;
  };
  switch (metric) {
    case TextMetric::kF1:
      return best(token_f1);
    case TextMetric::kEm:
      return best(exact_match);
    case TextMetric::kEmGold:
      return exact_match(text, sample.gold);
    case TextMetric::kRougeL:
      return best(rouge_l);
    case TextMetric::kRecallAny:
      return best(contains);
    case TextMetric::kRecallAll: {
      double found = 0;
      for (const std::string& answer : sample.answers) found += contains(text, answer);
      return found / static_cast<double>(sample.answers.size());
    }
  }
  return 0;
}

}  // namespace looseleaf
