#include "cli/options.h"

#include <limits>

#include "cli/flag.h"
#include "cli/output.h"
#include "cli/size.h"
#include "repair/method.h"
#include "server/layout_json.h"
#include "server/method_json.h"
#include "server/openai_request.h"

namespace looseleaf {
namespace {

constexpr int kMaxInt = std::numeric_limits<int>::max();

// Drops the flag's own name from a field's error: CLI11 puts it there.
Status without_field(Status status) {
  if (!status && !status.error().param.empty()) {
    status.error().message.erase(0, status.error().param.size() + 2);
  }
  return status;
}

void add_sampling_flags(CLI::App& app, RequestFlags& flags) {
  Sampling& sampling = flags.request.sampling;
  add_number(
      app, "--temperature", [&](float x) { sampling.temperature = x; }, kTemperature,
      "0 takes the likeliest token. Default: 0 for -q, in a body the model's own");
  add_integer(
      app, "--top-k", [&](int64_t n) { sampling.top_k = static_cast<int>(n); }, 0, kMaxInt,
      "Draw from the K likeliest tokens only; 0: from all");
  add_number(
      app, "--top-p", [&](float x) { sampling.top_p = x; }, kTopP,
      "Draw from the likeliest tokens that together have this probability");
  add_number(
      app, "--min-p", [&](float x) { sampling.min_p = x; }, kMinP,
      "Leave out tokens less likely than this share of the likeliest");
  add_number(
      app, "--repetition-penalty", [&](float x) { sampling.repetition_penalty = x; },
      kRepetitionPenalty, "Above 1 makes tokens that were there before less likely");
  add_number(
      app, "--presence-penalty", [&](float x) { sampling.presence_penalty = x; }, kPresencePenalty,
      "Taken from the logit of each token that was generated before");
  add_number(
      app, "--frequency-penalty", [&](float x) { sampling.frequency_penalty = x; },
      kFrequencyPenalty, "The same, times how often it was generated");
  add_repeated(app, "--logit-bias", "ID=X", flags.logit_bias,
               "Add X to the logit of token ID; may be repeated");
  add_integer(
      app, "--seed", [&](int64_t n) { sampling.seed = static_cast<uint64_t>(n); }, 0,
      std::numeric_limits<int64_t>::max(), "The same seed draws the same tokens. Default: 0");
}

Status add_logit_bias(const std::string& text, std::map<int32_t, float>& biases) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) {
    return error(ErrorCode::kUsage, "--logit-bias: must be ID=X, e.g. 42=-100");
  }
  const auto token = parse_integer(text.substr(0, equals), 0, kMaxInt);
  if (!token) return error(ErrorCode::kUsage, "--logit-bias: ID {}", token.error().message);
  const auto bias = parse_number(text.substr(equals + 1), kLogitBias);
  if (!bias) return error(ErrorCode::kUsage, "--logit-bias: X {}", bias.error().message);
  biases[static_cast<int32_t>(*token)] = *bias;
  return {};
}

}  // namespace

void add_model_flag(CLI::App& app, ModelFlags& flags) {
  app.add_option(
         "-m,--model,MODEL", flags.model,
         "A .gguf file, a folder in Hugging Face form, hf:ORG/NAME[@REVISION] out of the local "
         "Hugging Face cache, or random:NAME[/LAYERS], a known shape with random weights for "
         "benches; -m may be left out")
      ->type_name("PATH");
}

void add_engine_flags(CLI::App& app, ModelFlags& flags) {
  app.option_defaults()->group("Engine");
  EngineOptions& engine = flags.engine;
  add_integer(
      app, "--ctx", [&](int64_t n) { engine.context = static_cast<int>(n); }, 1, kMaxInt,
      "Tokens that prompt and answer may reach; a limit, not an allocation. Default: the model's");
  add_flag_value(
      app, "--cache-bytes", "SIZE",
      [&](const std::string& text) -> Status {
        LL_ASSIGN(engine.cache_bytes, parse_size(text));
        return {};
      },
      "Limit of all keys and values, e.g. 512M or 4G. Default: 40 % of the memory, on a GPU 90 % "
      "of "
      "what the weights leave");
  app.add_option("--kv-type", engine.kv_type,
                 "How chunks are kept: f32, bf16, f16, fp8 or q8_0. Default: auto")
      ->type_name("TYPE");
  app.add_option("--private-kv-type", engine.private_kv_type,
                 "The same for a request's own text and answer. Default: auto")
      ->type_name("TYPE");
  app.add_option("--device", engine.device,
                 "Where to compute: cpu, cuda or auto, which is cuda where it works. Default: auto")
      ->type_name("NAME");
  add_integer(
      app, "--threads", [&](int64_t n) { engine.threads = static_cast<int>(n); }, 1, 1024,
      "Threads that compute. Default: as many as the process may use");
  app.add_flag("--exact", engine.exact, "Compute and keep everything in f32");
  app.add_flag("--deterministic", engine.deterministic,
               "The same bits alone or after other requests, cold or warm");
}

Status check_model(const ModelFlags& flags) {
  if (!flags.model.empty()) return {};
  return error(ErrorCode::kUsage,
               "no MODEL given; name a .gguf file, a model folder or hf:ORG/NAME");
}

Expected<Engine> load_engine(const ModelFlags& flags) {
  auto engine = Engine::load(flags.model, flags.engine);
  if (engine && !engine->warning().empty()) print_warning(engine->warning());
  return engine;
}

void add_request_flags(CLI::App& app, RequestFlags& flags) {
  Request& request = flags.request;
  app.option_defaults()->group("Answer");
  add_integer(
      app, "-n,--max-tokens", [&](int64_t n) { flags.max_tokens = static_cast<int>(n); }, 1,
      kMaxInt, "Tokens of an answer at most. Default: 512 for -q");
  add_repeated(app, "--stop", "TEXT", flags.stop,
               "End the answer before this text; may be repeated");
  app.add_flag("--ignore-eos", request.ignore_eos, "Go on after the model's end token");
  add_integer(
      app, "--logprobs", [&](int64_t n) { request.logprobs = static_cast<int>(n); }, 0, kMaxInt,
      "With --json: log-probabilities of each new token and of the K best");
  app.add_flag("--echo-tokens", flags.echo_tokens, "With --json: the prompt's token ids too");
  app.option_defaults()->group("Sampling");
  add_sampling_flags(app, flags);
  app.option_defaults()->group("Prompt");
  add_flag_value(
      app, "--method", "M",
      [&](const std::string& text) -> Status {
        request.method = text;
        LL_RETURN_IF_ERROR(without_field(check_method(text, "method")));
        auto method = parse_method(text, true);
        if (!method) return without_field(tl::unexpected(std::move(method).error()));
        return {};
      },
      "How documents are reused; see `looseleaf methods`. Default: auto");
  add_flag_value(
      app, "--layout", "NAME",
      [&](const std::string& text) {
        request.layout = text;
        return without_field(check_layout_name(text));
      },
      "How documents and question are written: qa or plain. Default: auto, which is qa without a "
      "system message");
  add_flag_value(
      app, "--encoding-prefix", "P",
      [&](const std::string& text) {
        request.encoding_prefix = text;
        return without_field(check_encoding_prefix(text));
      },
      "What chunks are computed behind: none, bos or header. Default: bos");
}

Status finish_request_flags(RequestFlags& flags) {
  for (const std::string& text : flags.stop) {
    if (text.empty()) return error(ErrorCode::kUsage, "--stop: must not be empty");
    flags.request.stop.push_back(text);
  }
  for (const std::string& text : flags.logit_bias) {
    LL_RETURN_IF_ERROR(add_logit_bias(text, flags.request.sampling.logit_bias));
  }
  return {};
}

}  // namespace looseleaf
