#include "eval/ruler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace looseleaf {
namespace {

// Words, for tests that need no model.
Expected<int> count_words(const std::string& text) {
  int count = 0;
  bool inside = false;
  for (const char c : text) {
    count += c != ' ' && !inside;
    inside = c != ' ';
  }
  return count;
}

constexpr const char* kKinds[] = {"single",      "multi-key",         "multi-value",
                                  "multi-query", "variable-tracking", "two-hop"};

EvalTask make(const std::string& kind, int limit = 5, uint64_t seed = 3, int length = 1000,
              const Haystack* haystack = nullptr) {
  static const Haystack built_in;
  RulerOptions ruler;
  ruler.length = length;
  ruler.documents = 8;
  ruler.seed = seed;
  ruler.haystack = haystack != nullptr ? haystack : &built_in;
  DataOptions options;
  options.limit = limit;
  const auto task = make_ruler(kind, ruler, options, count_words);
  EXPECT_TRUE(task) << task.error().message;
  return *task;
}

std::string text_of(const EvalSample& sample) {
  std::string text;
  for (const Document& document : sample.request.documents) text += document.text + "\n";
  return text;
}

int documents_with(const EvalSample& sample, const std::string& text) {
  return static_cast<int>(std::ranges::count_if(
      sample.request.documents,
      [&](const Document& document) { return document.text.find(text) != std::string::npos; }));
}

TEST(Ruler, SamplesHaveTheirAnswersAndTheirLength) {
  for (const char* kind : kKinds) {
    SCOPED_TRACE(kind);
    const EvalTask task = make(kind);
    ASSERT_EQ(task.samples.size(), 5u);
    for (const EvalSample& sample : task.samples) {
      EXPECT_EQ(sample.request.documents.size(), 8u);
      for (const std::string& answer : sample.answers) {
        EXPECT_EQ(documents_with(sample, answer) >= 1, true) << answer;
        EXPECT_NE(sample.gold.find(answer), std::string::npos);
        EXPECT_EQ(sample.request.question.find(answer), std::string::npos);
      }
      const int words = *count_words(text_of(sample));
      EXPECT_LE(words, 1000 - 64);
      EXPECT_GE(words, 1000 - 64 - 8 * 25 - 50);  // a sentence free in each document
      for (const TextMetric metric : task.metrics)
        EXPECT_EQ(text_score(task, sample, metric, sample.gold), 1);
    }
  }
}

TEST(Ruler, NeedlesOfAChainStandInDifferentDocuments) {
  for (const EvalSample& sample : make("multi-value").samples)
    EXPECT_EQ(documents_with(sample, "special magic numbers"), 4);
  for (const EvalSample& sample : make("two-hop").samples) {
    const std::string& town = sample.answers[0];
    const std::string text = text_of(sample);
    const size_t lives = text.find(" lives in " + town);
    ASSERT_NE(lives, std::string::npos);
    const size_t surname = text.find_last_of(' ', lives - 1) + 1;
    const std::string teacher = text.substr(surname, lives - surname);
    EXPECT_EQ(documents_with(sample, teacher), 2) << teacher;
  }
}

TEST(Ruler, GoldListsValuesAndVariablesAsTheyCome) {
  for (const char* kind : {"multi-value", "variable-tracking"})
    for (const EvalSample& sample : make(kind).samples) {
      const std::string text = text_of(sample);
      size_t at = 0;
      for (const std::string& answer : sample.answers) {
        const size_t next = text.find(answer, at);
        ASSERT_NE(next, std::string::npos) << answer;
        at = next;
      }
    }
}

TEST(Ruler, DistractorsAreNotAmongTheAnswers) {
  for (const EvalSample& sample : make("variable-tracking").samples) {
    const std::string text = text_of(sample);
    EXPECT_EQ(sample.answers.size(), 4u);
    EXPECT_EQ(std::ranges::count(text, '='), 8);  // two chains of a value and three hops
  }
  for (const EvalSample& sample : make("multi-key").samples) {
    EXPECT_EQ(sample.answers.size(), 1u);
    EXPECT_EQ(documents_with(sample, "special magic numbers") > 1, true);
  }
}

TEST(Ruler, ASampleDependsOnSeedAndNumberAlone) {
  const EvalTask five = make("multi-value", 5), three = make("multi-value", 3);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(text_of(five.samples[i]), text_of(three.samples[i]));
    EXPECT_EQ(five.samples[i].gold, three.samples[i].gold);
  }
  EXPECT_EQ(five.data_hash, three.data_hash);
  const EvalTask other = make("multi-value", 5, 4);
  EXPECT_NE(other.data_hash, five.data_hash);
  EXPECT_NE(other.samples[0].gold, five.samples[0].gold);
  std::set<std::string> golds;
  for (const EvalSample& sample : five.samples) golds.insert(sample.gold);
  EXPECT_EQ(golds.size(), 5u);
}

TEST(Ruler, AHaystackFromATextIsReadInItsOrder) {
  const Haystack haystack(
      "It was late.\nNobody came!  Who\nknows why?\n\nA heading\n\nThe 3.5 mile road was dark. "
      "End");
  EvalRandom random(1, 1);
  Haystack::Reader reader(haystack, random);
  std::string read;
  for (int i = 0; i < 12; ++i) read += reader.next() + "|";
  EXPECT_NE(read.find("It was late.|Nobody came!|Who knows why?|A heading|"
                      "The 3.5 mile road was dark.|End|It was late.|"),
            std::string::npos)
      << read;
  EXPECT_NE(text_of(make("single", 1, 3, 1000, &haystack).samples[0]).find("Who knows why?"),
            std::string::npos);
}

TEST(Ruler, RefusesWhatCannotBeMade) {
  EvalRandom random(0, 0);
  const auto unknown = make_puzzle("haystack", random);
  ASSERT_FALSE(unknown);
  EXPECT_NE(unknown.error().message.find("variable-tracking"), std::string::npos);
  const Haystack haystack;
  RulerOptions ruler;
  ruler.length = 200;
  ruler.documents = 20;
  ruler.haystack = &haystack;
  DataOptions options;
  options.limit = 1;
  const auto crowded = make_ruler("single", ruler, options, count_words);
  ASSERT_FALSE(crowded);
  EXPECT_EQ(crowded.error().code, ErrorCode::kUsage);
  EXPECT_NE(crowded.error().message.find("fewer documents"), std::string::npos);
}

}  // namespace
}  // namespace looseleaf
