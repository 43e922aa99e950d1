#include "engine/generate.h"

#include <algorithm>

#include "base/stopwatch.h"
#include "engine/answer_text.h"
#include "engine/choose_method.h"
#include "engine/chunk_prefill.h"
#include "engine/flops.h"
#include "engine/repair.h"
#include "engine/sampler.h"
#include "engine/sequence.h"

namespace looseleaf {
namespace {

Status check_context(const EngineCore& core, const Prompt& prompt) {
  const int tokens = prompt.tokens(), documents = prompt.document_tokens();
  if (tokens < core.options.context) return {};
  return error(ErrorCode::kContextLength,
               "the prompt has {} tokens ({} in documents, {} of text) and must leave room for one "
               "more in a context of {}; leave out documents or raise --ctx",
               tokens, documents, tokens - documents, core.options.context);
}

// One request runs at a time, so what does not fit now never will.
tl::unexpected<Error> as_kv_budget(Error cause) {
  if (cause.code == ErrorCode::kUnavailable) cause.code = ErrorCode::kKvBudget;
  return tl::unexpected(std::move(cause));
}

// A chunk that is moved in place is rounded with each move: its bits depend on where it stood
// before.
Status check_deterministic(const EngineCore& core, const Method& method) {
  if (!core.options.deterministic || method.info->storage != DocumentStorage::kCopy ||
      !method.flag("inplace"))
    return {};
  return tl::unexpected(
      Error{ErrorCode::kUnsupported,
            fmt::format("method: {} leaves chunks with other bits after each move; "
                        "use block, or an engine without --deterministic",
                        method.canonical()),
            "method"});
}

// Fields that only some methods have a use for.
Status check_repair_fields(const Method& method, const Request& request) {
  const auto refuse = [&](const char* field, const char* what) -> Status {
    return tl::unexpected(
        Error{ErrorCode::kUnsupported,
              fmt::format("{}: method {} has no {}", field, method.info->name, what), field});
  };
  if (request.targets && method.info->name != "plan")
    return refuse("method", "targets of the caller's; use plan");
  if (request.targets && !request.targets->context.empty() && method.option("context") != "list")
    return field_error("method.context", "is a list, which takes context=list");
  if ((request.return_scores || request.return_targets) && !method.repairs())
    return refuse("return", "scores and targets: it repairs nothing");
  return {};
}

PromptContext prompt_context(const EngineCore& core) {
  return {core.tokenizer.get(), core.tokenizer_problem, core.model->config.vocab,
          &core.chat_template};
}

bool ends_answer(const EngineCore& core, int32_t token) {
  if (!core.tokenizer) return false;
  const auto& ends = core.tokenizer->spec().end_of_generation;
  return std::find(ends.begin(), ends.end(), token) != ends.end();
}

class Generation {
 public:
  // `needs_logits`: somebody reads them besides the sampler.
  Generation(EngineCore& core, const Request& request, Sampler sampler, bool needs_logits,
             AnswerText text, Sequence sequence)
      : core_(core),
        request_(request),
        sampler_(std::move(sampler)),
        only_largest_(!needs_logits && sampler_.takes_largest()),
        text_(std::move(text)),
        sequence_(std::move(sequence)),
        logits_(static_cast<size_t>(core.model->config.vocab)) {}

  // Repairs where the method does, and computes the question.
  Status prefill(const Method& method, Answer& answer) {
    const double before = core_.forward.operations();
    if (method.repairs()) LL_RETURN_IF_ERROR(repair_documents(method, answer));
    const Stopwatch watch;
    LL_RETURN_IF_ERROR(compute_next());
    const double all = core_.forward.operations() - before;
    answer.flops.question = all - answer.flops.score - answer.flops.repair;
    answer.flops.share_of_full =
        all / full_prefill_flops(core_.model->config, sequence_.prompt_tokens);
    answer.timings.question_prefill_ms = watch.ms();
    return {};
  }

  // Samples and decodes until something ends the answer. `started` runs since the request came.
  Status decode(const Stopwatch& started, Answer& answer) {
    const int room = core_.options.context - sequence_.prompt_tokens;
    const int most = std::min(request_.max_tokens, room);
    answer.finish_reason = "length";
    double first_token_ms = started.ms();
    for (int n = 0; n < most; ++n) {
      if (n > 0) {
        // The byte limit bounds an answer as the context does: what is generated so far stands.
        if (!append_token(core_, sequence_, answer.tokens.back())) break;
        LL_RETURN_IF_ERROR(compute_next());
      }
      const int32_t token = only_largest_ ? largest_ : sampler_.sample(logits_);
      answer.tokens.push_back(token);
      if (request_.logprobs >= 0)
        answer.logprobs.push_back(log_probability(logits_, token, request_.logprobs));
      if (n == 0) first_token_ms = started.ms();
      const bool end = !request_.ignore_eos && ends_answer(core_, token);
      if (end || !text_.push(token)) {
        answer.finish_reason = "stop";
        break;
      }
    }
    answer.text = text_.finish();
    if (text_.stopped()) answer.finish_reason = "stop";
    answer.timings.decode_ms = started.ms() - first_token_ms;
    answer.ttft_ms = first_token_ms;
    if (answer.tokens.size() > 1)
      answer.tpot_ms = answer.timings.decode_ms / static_cast<double>(answer.tokens.size() - 1);
    return {};
  }

  // What comes after the prompt, for force(). Called before decode().
  void keep_first_logits() { first_logits_ = logits_; }

  // Teacher forcing: goes back to the prompt's end and decodes `tokens`, whatever is likely.
  Status force(std::span<const int32_t> tokens, const OnLogits& on_logits,
               std::vector<double>& logprobs) {
    TextRun& tail = sequence_.tail();
    const int prompt = sequence_.prompt_tokens - tail.position;  // the tail's share of it
    tail.tokens.resize(static_cast<size_t>(prompt));
    tail.computed = prompt;
    tail.kv.truncate(prompt);
    logits_ = first_logits_;
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (i > 0) {
        LL_RETURN_IF_ERROR(append_token(core_, sequence_, tokens[i - 1]));
        LL_RETURN_IF_ERROR(compute_text(core_, sequence_, logits_));
      }
      if (on_logits) on_logits(i, logits_);
      logprobs.push_back(log_probability(logits_, tokens[i], 0).logprob);
    }
    return {};
  }

  const Sequence& sequence() const { return sequence_; }

 private:
  Status compute_next() {
    if (only_largest_) return compute_text(core_, sequence_, {}, &largest_);
    return compute_text(core_, sequence_, logits_);
  }

  Status repair_documents(const Method& method, Answer& answer) {
    const Stopwatch watch;
    std::optional<GivenTargets> given;
    if (method.info->name == "plan")
      given = request_.targets ? GivenTargets{request_.targets->layers, request_.targets->context}
                               : GivenTargets{};
    LL_ASSIGN(const RepairResult result,
              repair(core_, sequence_, {method, given ? &*given : nullptr, request_.return_scores},
                     logits_));
    answer.flops.score = result.score_flops;
    answer.flops.repair = result.repair_flops;
    answer.timings.repair_ms = watch.ms();
    if (request_.return_scores) answer.scores = result.scores;
    if (request_.return_targets) answer.targets = targets_by_layer(result);
    if (request_.return_scores || request_.return_targets)
      answer.token_chunks = result.shape.chunks;
    if (!sequence_.overlay) return {};
    answer.repaired_tokens = sequence_.overlay->count();
    // A token in an overlay counts as repaired, not as cached.
    for (const int32_t token : sequence_.overlay->tokens()) {
      const auto chunk = static_cast<size_t>(result.shape.chunks[static_cast<size_t>(token)]);
      if (answer.chunks[chunk].source != "computed") --answer.cached_tokens;
    }
    return {};
  }

  static std::vector<std::vector<int32_t>> targets_by_layer(const RepairResult& result) {
    std::vector<std::vector<int32_t>> targets(static_cast<size_t>(result.shape.layers));
    for (int32_t token = 0; token < result.shape.tokens(); ++token)
      for (int32_t layer = 0; layer <= result.depths[static_cast<size_t>(token)]; ++layer)
        targets[static_cast<size_t>(layer)].push_back(token);
    return targets;
  }

  EngineCore& core_;
  const Request& request_;
  Sampler sampler_;
  bool only_largest_;     // logits stay on the device
  int32_t largest_ = -1;  // then: the next token
  AnswerText text_;
  Sequence sequence_;
  std::vector<float> logits_;        // [vocab]
  std::vector<float> first_logits_;  // [vocab] after the prompt
};

// What is to be scored after the prompt, and where the result goes.
struct Forced {
  const TextOrTokens& continuation;
  const OnLogits& on_logits;
  std::vector<int32_t> tokens{};
  std::vector<double> logprobs{};
};

Expected<std::vector<int32_t>> continuation_tokens(const EngineCore& core,
                                                   const TextOrTokens& continuation) {
  std::vector<int32_t> tokens;
  if (const auto* ids = std::get_if<std::vector<int32_t>>(&continuation)) {
    tokens = *ids;
  } else {
    if (!core.tokenizer)
      return error(ErrorCode::kUnsupported,
                   "a continuation as text needs a tokenizer; give token ids");
    auto encoded = core.tokenizer->encode(std::get<std::string>(continuation));
    if (!encoded) return field_error("continuation", "{}", encoded.error().message);
    tokens = std::move(*encoded);
  }
  if (tokens.empty()) return field_error("continuation", "is empty");
  for (const int32_t token : tokens)
    if (token < 0 || token >= core.model->config.vocab)
      return field_error("continuation", "token id {} is outside the vocabulary of {}", token,
                         core.model->config.vocab);
  return tokens;
}

Status check_continuation(const EngineCore& core, const Prompt& prompt,
                          const std::vector<int32_t>& tokens) {
  const size_t sum = static_cast<size_t>(prompt.tokens()) + tokens.size();
  if (sum <= static_cast<size_t>(core.options.context)) return {};
  return error(ErrorCode::kContextLength,
               "prompt and continuation have {} tokens, more than the context of {}; leave out "
               "documents or raise --ctx",
               sum, core.options.context);
}

std::vector<int32_t> all_tokens(const Prompt& prompt) {
  std::vector<int32_t> tokens;
  for (const PromptPiece& piece : prompt.pieces)
    tokens.insert(tokens.end(), piece.tokens.begin(), piece.tokens.end());
  return tokens;
}

Expected<Answer> answer_request(EngineCore& core, const Request& request, const OnText& on_text,
                                double queue_ms, Forced* forced) {
  const Stopwatch started;
  const int least = forced != nullptr ? 0 : 1;
  if (request.max_tokens < least)
    return field_error("max_tokens", "{} is below {}", request.max_tokens, least);
  if (request.logprobs > core.model->config.vocab)
    return field_error("logprobs", "{} is more than the vocabulary", request.logprobs);
  LL_ASSIGN(const Prompt prompt, build_prompt(prompt_context(core), request));
  LL_ASSIGN(const ChosenMethod chosen, choose_method(core, request.method, prompt));
  const Method& method = chosen.method;
  LL_RETURN_IF_ERROR(check_deterministic(core, method));
  LL_RETURN_IF_ERROR(check_repair_fields(method, request));
  LL_ASSIGN(SamplingParams params,
            resolve_sampling(request.sampling, core.model->generation, core.model->config.vocab));
  LL_ASSIGN(AnswerText text, AnswerText::create(core.tokenizer.get(), request, on_text));
  LL_RETURN_IF_ERROR(check_context(core, prompt));
  if (forced != nullptr) {
    LL_ASSIGN(forced->tokens, continuation_tokens(core, forced->continuation));
    LL_RETURN_IF_ERROR(check_continuation(core, prompt, forced->tokens));
  }

  Answer answer;
  answer.prompt_tokens = all_tokens(prompt);
  auto sequence = bind_prompt(core, prompt, method, request.cache_salt);
  if (!sequence) return as_kv_budget(std::move(sequence).error());
  answer.method = sequence->method;
  answer.method_reason = chosen.reason;
  answer.exact = core.options.exact;
  answer.device = core.device->name();
  answer.chunks = sequence->chunks;
  answer.cached_tokens = sequence->cached_tokens;
  answer.timings.queue_ms = queue_ms;
  answer.timings.chunk_prefill_ms = sequence->chunk_prefill_ms;

  Generation generation(core, request, Sampler(std::move(params), answer.prompt_tokens),
                        request.logprobs >= 0 || forced != nullptr, std::move(text),
                        std::move(*sequence));
  Status status = generation.prefill(method, answer);
  if (status && forced != nullptr) generation.keep_first_logits();
  if (status) status = generation.decode(started, answer);
  if (!status) return as_kv_budget(std::move(status).error());
  answer.ttft_ms += queue_ms;
  answer.kv_bytes = generation.sequence().kv_bytes();
  if (forced != nullptr) {
    status = generation.force(forced->tokens, forced->on_logits, forced->logprobs);
    if (!status) return as_kv_budget(std::move(status).error());
  }
  // Last: published pages are others' to read, and going back would write them again.
  publish(core, generation.sequence());
  return answer;
}

}  // namespace

Expected<Answer> generate(EngineCore& core, const Request& request, const OnText& on_text,
                          double queue_ms) {
  return answer_request(core, request, on_text, queue_ms, nullptr);
}

Expected<Score> generate_and_score(EngineCore& core, const Request& request,
                                   const TextOrTokens& continuation, const OnLogits& on_logits,
                                   double queue_ms) {
  Forced forced{.continuation = continuation, .on_logits = on_logits};
  LL_ASSIGN(Answer answer, answer_request(core, request, {}, queue_ms, &forced));
  return Score{std::move(answer), std::move(forced.tokens), std::move(forced.logprobs)};
}

Expected<std::string> prefill_document(EngineCore& core, const Document& document,
                                       const Request& request) {
  LL_ASSIGN(const Prompt prompt, build_document(prompt_context(core), document, request));
  LL_RETURN_IF_ERROR(check_context(core, prompt));
  // The regime of the shortest prompt that can hold it.
  const auto rope = core.rope_for(prompt.tokens());
  auto acquired = acquire_chunk(core, prompt.pieces[0].tokens, prompt.encoding_prefix,
                                request.cache_salt, "", *rope);
  if (!acquired) return as_kv_budget(std::move(acquired).error());
  return acquired->chunk->id();
}

}  // namespace looseleaf
