#include "eval/runner.h"

#include <algorithm>
#include <numeric>

#include "base/hash.h"
#include "eval/distribution.h"
#include "eval/random.h"

namespace looseleaf {
namespace {

using Distributions = std::vector<std::vector<double>>;  // [gold tokens][vocab] log-probabilities

// The request's documents, wherever they stand.
std::vector<Document*> documents_of(Request& request) {
  std::vector<Document*> documents;
  for (Document& document : request.documents) documents.push_back(&document);
  for (Message& message : request.messages)
    for (ContentPart& part : message.content)
      if (auto* document = std::get_if<Document>(&part)) documents.push_back(document);
  return documents;
}

std::string hash_of(const std::vector<int32_t>& tokens) {
  return to_hex(Sha256().field(tokens).finish()).substr(0, 16);
}

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

class SampleRunner {
 public:
  SampleRunner(Engine& engine, const EvalTask& task, const EvalSample& sample,
               const RunOptions& options, SampleFile& samples)
      : engine_(engine), task_(task), sample_(sample), options_(options), samples_(samples) {}

  Status run(int order) {
    request_ = in_order(sample_, order, options_.seed);
    order_ = order;
    prompt_hash_.clear();
    reference_.clear();
    const bool missing = std::ranges::any_of(
        options_.methods, [&](const std::string& method) { return find(method) == nullptr; });
    if (missing) {
      engine_.clear_cache();
      LL_RETURN_IF_ERROR(warm_up());
      LL_RETURN_IF_ERROR(compute_reference());
    }
    for (const std::string& method : options_.methods) {
      if (find(method) == nullptr) LL_RETURN_IF_ERROR(compute(method));
      const SampleRecord& record = *find(method);
      LL_RETURN_IF_ERROR(check_prompt(record.prompt_hash, method));
      if (options_.progress) options_.progress(record);
    }
    return {};
  }

 private:
  const SampleRecord* find(const std::string& method) const {
    return samples_.find(task_.name, sample_.id, order_, method);
  }

  // What stands before the documents is computed here, so that no method pays for it.
  Status warm_up() {
    Request request = request_;
    request.method = "full";
    request.max_tokens = 1;
    for (Document* document : documents_of(request)) {
      document->title.clear();
      document->text = ".";
    }
    request.documents.resize(std::min<size_t>(request.documents.size(), 1));
    if (auto answer = engine_.ask(request); !answer) return in_place(answer.error(), "full");
    return {};
  }

  // `full` comes first where it is wanted: the others are compared with it.
  Status compute_reference() {
    if (std::ranges::find(options_.methods, "full") == options_.methods.end()) return {};
    if (find("full") == nullptr) return compute("full");
    Request request = request_;
    request.method = "full";
    request.max_tokens = 0;
    auto score = engine_.score(request, sample_.gold, keep_reference());
    if (!score) return in_place(score.error(), "full");
    return check_prompt(hash_of(score->answer.prompt_tokens), "full");
  }

  OnLogits keep_reference() {
    return [this](size_t, std::span<const float> logits) {
      reference_.push_back(log_softmax(logits));
    };
  }

  Status compute(const std::string& method) {
    Request request = request_;
    request.method = method;
    std::vector<double> kl;
    const bool is_reference = method == "full";
    const OnLogits compare = [&](size_t index, std::span<const float> logits) {
      if (!reference_.empty()) kl.push_back(kl_divergence(reference_[index], log_softmax(logits)));
    };
    auto score = engine_.score(request, sample_.gold, is_reference ? keep_reference() : compare);
    if (!score) return in_place(score.error(), method);
    if (is_reference) kl.assign(score->tokens.size(), 0);
    return samples_.add(record_of(method, *score, kl));
  }

  SampleRecord record_of(const std::string& method, const Score& score,
                         const std::vector<double>& kl) const {
    const Answer& answer = score.answer;
    SampleRecord record;
    record.task = task_.name;
    record.sample = sample_.id;
    record.method = method;
    record.order = order_;
    for (const TextMetric metric : task_.metrics)
      record.metrics[metric_name(metric)] = text_score(task_, sample_, metric, answer.text);
    record.metrics["nll"] = std::max(0.0, -mean(score.logprobs));
    if (!kl.empty()) {
      record.metrics["kl_first"] = kl[0];
      record.metrics["kl_answer"] = mean(kl);
    }
    record.flops = answer.flops.share_of_full;
    record.ttft_ms =
        std::max(0.0, answer.ttft_ms - answer.timings.queue_ms - answer.timings.chunk_prefill_ms);
    record.context_tokens = static_cast<int>(answer.prompt_tokens.size());
    Request request = request_;
    record.documents = static_cast<int>(documents_of(request).size());
    record.repaired_tokens = answer.repaired_tokens;
    record.prompt_hash = hash_of(answer.prompt_tokens);
    record.text = answer.text;
    record.commit = options_.commit;
    return record;
  }

  Status check_prompt(const std::string& hash, const std::string& method) {
    if (prompt_hash_.empty()) prompt_hash_ = hash;
    if (prompt_hash_ == hash) return {};
    return error(ErrorCode::kInternal,
                 "{}: sample {}: method {} sees other token ids than the methods before it",
                 task_.name, sample_.id, method);
  }

  tl::unexpected<Error> in_place(Error error, const std::string& method) const {
    error.message =
        fmt::format("{}: sample {}: {}: {}", task_.name, sample_.id, method, error.message);
    return tl::unexpected(std::move(error));
  }

  Engine& engine_;
  const EvalTask& task_;
  const EvalSample& sample_;
  const RunOptions& options_;
  SampleFile& samples_;
  Request request_;
  int order_ = 0;
  std::string prompt_hash_;
  Distributions reference_;
};

}  // namespace

std::vector<int> orders_of(const RunOptions& options) {
  if (options.shuffles == 0) return {0};
  std::vector<int> orders(static_cast<size_t>(options.shuffles));
  std::iota(orders.begin(), orders.end(), 1);
  return orders;
}

Request in_order(const EvalSample& sample, int order, uint64_t seed) {
  Request request = sample.request;
  if (order == 0) return request;
  const auto bytes = std::as_bytes(std::span(sample.id));
  EvalRandom random(xxh3(bytes, seed), static_cast<uint64_t>(order));
  const std::vector<Document*> places = documents_of(request);
  std::vector<Document> documents;
  for (Document* place : places) documents.push_back(*place);
  random.shuffle(documents);
  for (size_t i = 0; i < places.size(); ++i) *places[i] = std::move(documents[i]);
  return request;
}

Status run_task(Engine& engine, const EvalTask& task, const RunOptions& options,
                SampleFile& samples) {
  for (const EvalSample& sample : task.samples) {
    SampleRunner runner(engine, task, sample, options, samples);
    for (const int order : orders_of(options)) LL_RETURN_IF_ERROR(runner.run(order));
  }
  return {};
}

}  // namespace looseleaf
