// Samples through a real engine: the same token ids for every method, KL and NLL by their
// definition, resuming.
#include "eval/runner.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <set>

#include "engine/asking.h"
#include "eval/check.h"
#include "eval/distribution.h"
#include "eval/summary.h"
#include "repair/method.h"

namespace looseleaf {
namespace {

EvalTask small_task(int samples = 2) {
  EvalTask task;
  task.name = "small";
  task.metrics = {TextMetric::kF1, TextMetric::kEm};
  for (int i = 0; i < samples; ++i) {
    EvalSample sample;
    sample.id = std::to_string(i);
    sample.request = question("Who was it, and why? " + std::to_string(i));
    for (const char* text : {"The first text has some words.", "A second one.", "And a third."})
      sample.request.documents.emplace_back().text = text + std::to_string(i);
    sample.answers = {"it was me"};
    sample.gold = "it was me";
    task.samples.push_back(std::move(sample));
  }
  return task;
}

std::vector<std::string> all_methods() {
  std::vector<std::string> names;
  for (const MethodInfo* info : methods_table())
    if (const auto method = parse_method(info->name, true)) names.push_back(method->canonical());
  return names;
}

const SampleRecord& found(const SampleFile& samples, const std::string& sample, int order,
                          const std::string& method) {
  const SampleRecord* record = samples.find("small", sample, order, method);
  if (record == nullptr) throw std::runtime_error("no record of " + method);
  return *record;
}

TEST(Runner, EveryMethodSeesTheSameTokenIds) {
  Engine engine = load_engine();
  const EvalTask task = small_task();
  SampleFile samples;
  RunOptions options{.methods = all_methods(), .shuffles = 2};
  const Status status = run_task(engine, task, options, samples);
  ASSERT_TRUE(status) << status.error().message;
  for (const EvalSample& sample : task.samples)
    for (const int order : {1, 2}) {
      const Request request = in_order(sample, order, options.seed);
      std::set<std::vector<int32_t>> prompts;
      for (const std::string& method : options.methods) {
        Request asked = request;
        asked.method = method;
        prompts.insert(ask(engine, asked).prompt_tokens);
        EXPECT_EQ(found(samples, sample.id, order, method).prompt_hash,
                  found(samples, sample.id, order, "full").prompt_hash)
            << method;
      }
      EXPECT_EQ(prompts.size(), 1u);
    }
}

TEST(Runner, RefusesARecordWithOtherTokenIds) {
  Engine engine = load_engine();
  const EvalTask task = small_task(1);
  SampleFile samples;
  RunOptions options{.methods = {"full"}};
  ASSERT_TRUE(run_task(engine, task, options, samples));
  SampleRecord other = found(samples, "0", 0, "full");
  other.method = "reuse";
  other.prompt_hash = "other";
  ASSERT_TRUE(samples.add(other));
  options.methods = {"full", "reuse"};
  const Status status = run_task(engine, task, options, samples);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInternal);
  EXPECT_NE(status.error().message.find("other token ids"), std::string::npos);
}

TEST(Runner, MeasuresKlAndNllOverTheGoldAnswer) {
  Engine engine = load_engine({.deterministic = true});
  const EvalTask task = small_task(1);
  SampleFile samples;
  ASSERT_TRUE(run_task(engine, task, {.methods = {"reuse", "prefix", "full"}}, samples));

  const auto distributions = [&](const std::string& method, std::vector<double>& logprobs) {
    std::vector<std::vector<double>> all;
    Request request = task.samples[0].request;
    request.method = method;
    engine.clear_cache();
    logprobs = value_of(engine.score(request, task.samples[0].gold,
                                     [&](size_t, std::span<const float> logits) {
                                       all.push_back(log_softmax(logits));
                                     }))
                   .logprobs;
    return all;
  };
  std::vector<double> of_full, of_reuse;
  const auto full = distributions("full", of_full), reuse = distributions("reuse", of_reuse);
  double kl = 0, nll = 0;
  for (size_t i = 0; i < full.size(); ++i) {
    kl += kl_divergence(full[i], reuse[i]) / static_cast<double>(full.size());
    nll -= of_reuse[i] / static_cast<double>(full.size());
  }
  const SampleRecord& record = found(samples, "0", 0, "reuse");
  EXPECT_NEAR(record.metrics.at("kl_answer"), kl, 1e-12);
  EXPECT_NEAR(record.metrics.at("kl_first"), kl_divergence(full[0], reuse[0]), 1e-12);
  EXPECT_NEAR(record.metrics.at("nll"), nll, 1e-12);
  EXPECT_GT(record.metrics.at("kl_answer"), 1e-4);  // reuse is not full
  EXPECT_EQ(found(samples, "0", 0, "full").metrics.at("kl_answer"), 0);
  EXPECT_LT(found(samples, "0", 0, "prefix").metrics.at("kl_answer"), 1e-6);
  EXPECT_GT(record.ttft_ms, 0);
  EXPECT_LT(record.flops, found(samples, "0", 0, "full").flops);
  EXPECT_EQ(record.documents, 3);
}

TEST(Runner, WithoutFullThereIsNoKl) {
  Engine engine = load_engine();
  SampleFile samples;
  ASSERT_TRUE(run_task(engine, small_task(1), {.methods = {"reuse"}}, samples));
  EXPECT_FALSE(found(samples, "0", 0, "reuse").metrics.contains("kl_answer"));
  EXPECT_TRUE(found(samples, "0", 0, "reuse").metrics.contains("nll"));
}

TEST(Runner, OrdersArePermutationsThatRepeat) {
  const EvalTask task = small_task(1);
  const auto texts = [&](int order, uint64_t seed) {
    std::vector<std::string> texts;
    for (const Document& document : in_order(task.samples[0], order, seed).documents)
      texts.push_back(document.text);
    return texts;
  };
  const auto given = texts(0, 5);
  std::set<std::vector<std::string>> seen;
  for (int order = 1; order <= 12; ++order) {
    auto shuffled = texts(order, 5);
    EXPECT_EQ(shuffled, texts(order, 5));
    seen.insert(shuffled);
    EXPECT_TRUE(std::ranges::is_permutation(shuffled, given));
  }
  EXPECT_GE(seen.size(), 4u);  // of 6
}

// What a record says must come out of the file again, not out of the engine.
TEST(Runner, GoesOnFromTheFileWithoutComputingAgain) {
  const auto path =
      std::filesystem::temp_directory_path() / fmt::format("runner-{}.jsonl", getpid());
  std::filesystem::remove(path);
  const EvalTask task = small_task(3);
  const RunOptions options{.methods = {"full", "reuse"}};
  Engine engine = load_engine({.deterministic = true});
  SampleFile fresh;
  ASSERT_TRUE(run_task(engine, task, options, fresh));
  {
    SampleFile part = value_of(SampleFile::open(path.string(), {}));
    for (const char* method : {"full", "reuse"}) {
      SampleRecord marked = found(fresh, "0", 0, method);
      marked.text = "from the file";
      ASSERT_TRUE(part.add(marked));
    }
    ASSERT_TRUE(part.add(found(fresh, "1", 0, "full")));  // killed before reuse
  }
  SampleFile resumed = value_of(SampleFile::open(path.string(), {}));
  ASSERT_TRUE(run_task(engine, task, options, resumed));
  EXPECT_EQ(resumed.size(), 6u);
  EXPECT_EQ(found(resumed, "0", 0, "reuse").text, "from the file");
  for (const char* sample : {"1", "2"})
    for (const char* method : {"full", "reuse"})
      EXPECT_EQ(found(resumed, sample, 0, method).metrics, found(fresh, sample, 0, method).metrics);
  std::filesystem::remove(path);
}

TEST(Runner, ErrorsNameTaskSampleAndMethod) {
  Engine engine = load_engine({.context = 60});
  SampleFile samples;
  const Status status = run_task(engine, small_task(1), {.methods = {"full"}}, samples);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kContextLength);
  EXPECT_TRUE(status.error().message.starts_with("small: sample 0: full: "))
      << status.error().message;
}

// Every method of the table that can be named without more.
TEST(Check, EveryMethodPasses) {
  Engine engine = load_engine({.exact = true, .deterministic = true});
  for (const std::string& method : all_methods()) {
    SCOPED_TRACE(method);
    const std::string name = method.substr(0, method.find(':'));
    const auto results = check_method(engine, name);
    ASSERT_TRUE(results) << results.error().message;
    EXPECT_EQ(results->size(), 6u);
    for (const CheckResult& result : *results)
      EXPECT_NE(result.outcome, CheckResult::Outcome::kFailed)
          << result.what << ": " << result.detail;
  }
  EXPECT_FALSE(check_method(engine, "nonsense"));
}

}  // namespace
}  // namespace looseleaf
