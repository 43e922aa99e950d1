#include "eval/check.h"

#include <algorithm>
#include <cmath>

#include "eval/distribution.h"
#include "eval/ruler.h"
#include "eval/text_metrics.h"
#include "repair/method.h"

namespace looseleaf {
namespace {

using Outcome = CheckResult::Outcome;

struct Run {
  std::vector<std::vector<float>> logits;  // [gold tokens][vocab]
  std::vector<int32_t> prompt;
};

bool parses(const std::string& method) { return parse_method(method, true).has_value(); }

// NAME:NUMBER:options from NAME:options.
std::string with_number(const std::string& name, std::string_view number) {
  const size_t colon = std::min(name.find(':'), name.size());
  return fmt::format("{}:{}{}", name.substr(0, colon), number, name.substr(colon));
}

CheckResult outcome(std::string what, bool passed, std::string detail) {
  return {std::move(what), passed ? Outcome::kPassed : Outcome::kFailed, std::move(detail)};
}

// Of all log-probabilities.
double largest_difference(const Run& a, const Run& b) {
  double largest = 0;
  for (size_t i = 0; i < a.logits.size(); ++i) {
    const auto x = log_softmax(a.logits[i]), y = log_softmax(b.logits[i]);
    for (size_t k = 0; k < x.size(); ++k) largest = std::max(largest, std::abs(x[k] - y[k]));
  }
  return largest;
}

class Checker {
 public:
  Checker(Engine& engine, std::string name, const EvalSample& sample)
      : engine_(engine), name_(std::move(name)), sample_(sample) {}

  Expected<std::vector<CheckResult>> run() {
    engine_.clear_cache();
    LL_ASSIGN(const Run full, score("full"));
    LL_ASSIGN(const Run reuse, score("reuse"));
    LL_ASSIGN(const Run own, score(name_));
    results_.push_back(outcome("sees the token ids that full sees", own.prompt == full.prompt,
                               fmt::format("{} tokens", full.prompt.size())));
    LL_RETURN_IF_ERROR(check_ratio_0(reuse));
    LL_RETURN_IF_ERROR(check_ratio_1(full));
    LL_ASSIGN(const Run again, score(name_));
    results_.push_back(same_bits("gives the same bits a second time", again, own));
    LL_ASSIGN(const Run untouched, score("reuse"));
    results_.push_back(same_bits("leaves shared chunks as they were", untouched, reuse));
    check_nothing_held();
    return std::move(results_);
  }

 private:
  Expected<Run> score(const std::string& method) {
    Request request = sample_.request;
    request.method = method;
    request.max_tokens = 0;
    Run run;
    LL_ASSIGN(const Score score,
              engine_.score(request, sample_.gold, [&](size_t, std::span<const float> logits) {
                run.logits.emplace_back(logits.begin(), logits.end());
              }));
    run.prompt = score.answer.prompt_tokens;
    return run;
  }

  static CheckResult same_bits(std::string what, const Run& a, const Run& b) {
    const bool same = a.logits == b.logits;
    return outcome(
        std::move(what), same,
        same ? fmt::format("{} distributions", a.logits.size())
             : fmt::format("log-probabilities differ by up to {:.3g}", largest_difference(a, b)));
  }

  Status check_ratio_0(const Run& reuse) {
    const std::string what = "ratio 0 is reuse, bit for bit";
    const std::string method = with_number(name_, "0");
    if (!parses(method)) {
      results_.push_back({what, Outcome::kDoesNotApply, "takes no ratio"});
      return {};
    }
    LL_ASSIGN(const Run run, score(method));
    results_.push_back(same_bits(what, run, reuse));
    return {};
  }

  Status check_ratio_1(const Run& full) {
    const std::string what = "ratio 1 over the causal context is full";
    std::string method = with_number(name_, "1");
    if (!parses(with_number(name_, "0.5"))) {  // a number of tokens is no ratio
      results_.push_back({what, Outcome::kDoesNotApply, "takes no ratio"});
      return {};
    }
    if (name_.find("mask=released") != std::string::npos) {
      results_.push_back({what, Outcome::kDoesNotApply, "that mask shows rows later tokens"});
      return {};
    }
    if (name_.find("context=") == std::string::npos && parses(method + ":context=causal"))
      method += ":context=causal";
    LL_ASSIGN(const Run run, score(method));
    const double largest = largest_difference(run, full);
    results_.push_back(outcome(what, largest <= kFullTolerance,
                               fmt::format("log-probabilities differ by up to {:.2g}, {} allowed",
                                           largest, kFullTolerance)));
    return {};
  }

  void check_nothing_held() {
    const CacheStats stats = engine_.cache_stats();
    const int64_t kept = stats.used_bytes - stats.chunk_bytes - stats.prefix_bytes;
    results_.push_back(
        outcome("leaves nothing held", kept == 0 && stats.pinned_bytes == 0,
                fmt::format("{} bytes beyond the caches, {} pinned", kept, stats.pinned_bytes)));
  }

  Engine& engine_;
  const std::string name_;
  const EvalSample& sample_;
  std::vector<CheckResult> results_;
};

}  // namespace

Expected<std::vector<CheckResult>> check_method(Engine& engine, const std::string& name) {
  if (const auto method = parse_method(name, true); !method)
    return error(ErrorCode::kUsage, "--check: {}", method.error().message);
  const Haystack haystack;
  RulerOptions ruler;
  ruler.length = 300;  // words: any tokenizer is good enough
  ruler.documents = 4;
  ruler.haystack = &haystack;
  DataOptions data;
  data.limit = 1;
  LL_ASSIGN(const EvalTask task,
            make_ruler("multi-value", ruler, data, [](const std::string& text) -> Expected<int> {
              return static_cast<int>(split_words(text).size());
            }));
  return Checker(engine, name, task.samples[0]).run();
}

}  // namespace looseleaf
