// Scores of texts against those that the benchmarks' own formulas give
// (tests/golden/make_metric_cases.py).
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "eval/distribution.h"
#include "eval/rouge.h"
#include "eval/task.h"
#include "eval/text_metrics.h"

namespace looseleaf {
namespace {

namespace json = boost::json;

TEST(Metrics, AgreeWithTheOfficialFormulas) {
  std::ifstream file(std::filesystem::path(LOOSELEAF_GOLDEN_DIR) / "metrics.json");
  std::stringstream text;
  text << file.rdbuf();
  const json::array cases = json::parse(text.str()).as_array();
  ASSERT_GT(cases.size(), 300u);
  for (const json::value& row : cases) {
    const auto string = [&](const char* name) {
      return std::string(row.as_object().at(name).as_string());
    };
    const auto number = [&](const char* name) {
      return row.as_object().at(name).to_number<double>();
    };
    const std::string prediction = string("prediction"), reference = string("reference");
    SCOPED_TRACE("'" + prediction + "' against '" + reference + "'");
    EXPECT_EQ(normalize_answer(prediction), string("normalized"));
    EXPECT_NEAR(token_f1(prediction, reference), number("f1"), 1e-12);
    EXPECT_EQ(exact_match(prediction, reference), number("em"));
    EXPECT_EQ(contains(prediction, reference), number("contains"));
    EXPECT_NEAR(rouge_l(prediction, reference), number("rouge_l"), 1e-12);
  }
}

TEST(Metrics, TakeTheBestReferenceAndRulersShareOfAll) {
  EvalTask task;
  EvalSample sample;
  sample.answers = {"red", "dark blue"};
  EXPECT_EQ(text_score(task, sample, TextMetric::kEm, "Dark blue."), 1);
  EXPECT_NEAR(text_score(task, sample, TextMetric::kF1, "blue"), 2.0 / 3, 1e-12);
  EXPECT_EQ(text_score(task, sample, TextMetric::kRecallAny, "it is red"), 1);
  EXPECT_EQ(text_score(task, sample, TextMetric::kRecallAll, "it is red"), 0.5);
  EXPECT_EQ(text_score(task, sample, TextMetric::kRecallAll, "RED, dark blue"), 1);
}

TEST(Metrics, FewShotTasksCountTheFirstLine) {
  EvalTask task;
  task.first_line_only = true;
  EvalSample sample;
  sample.answers = {"red"};
  EXPECT_EQ(text_score(task, sample, TextMetric::kEm, "\n\nred\nQuestion: more"), 1);
  EXPECT_EQ(text_score(task, sample, TextMetric::kEm, "\n\n"), 0);
}

TEST(Distribution, KlByItsDefinition) {
  const std::vector<float> p = {0, std::log(3.f)}, q = {std::log(9.f), 0};
  // p = 1/4, 3/4; q = 9/10, 1/10.
  const double expected = 0.25 * std::log(0.25 / 0.9) + 0.75 * std::log(0.75 / 0.1);
  EXPECT_NEAR(kl_divergence(log_softmax(p), log_softmax(q)), expected, 1e-6);
  EXPECT_EQ(kl_divergence(log_softmax(p), log_softmax(p)), 0);
}

TEST(Distribution, SurvivesLargeLogits) {
  const std::vector<float> logits = {3e4f, -3e4f};
  const auto logs = log_softmax(logits);
  EXPECT_EQ(logs[0], 0);
  EXPECT_EQ(logs[1], -6e4);
}

}  // namespace
}  // namespace looseleaf
