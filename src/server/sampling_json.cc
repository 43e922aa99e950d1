#include "server/sampling_json.h"

#include <charconv>
#include <limits>

#include "server/sampling_ranges.h"

namespace looseleaf {
namespace {

constexpr int kMaxTopLogprobs = 20;  // OpenAI's

Expected<float> read_number(const JsonField& field, const NumberRange& range) {
  LL_ASSIGN(const double number, field.number(range.low, range.high));
  const float rounded = static_cast<float>(number);
  // After rounding, because a tiny double may become 0.
  if (range.open_low && rounded <= range.low) {
    return field.wrong(fmt::format("a number above {} and up to {}", range.low, range.high));
  }
  return rounded;
}

template <typename Target>  // float or optional<float>
Status read_number(ObjectReader& body, const NumberRange& range, Target& out) {
  if (const auto field = body.take(range.field)) {
    LL_ASSIGN(out, read_number(*field, range));
  }
  return {};
}

Status read_top_k(ObjectReader& body, std::optional<int>& out) {
  int top_k = 0;
  const auto field = body.take("top_k");
  if (!field) return {};
  LL_RETURN_IF_ERROR(body.read("top_k", top_k, -1, std::numeric_limits<int>::max()));
  out = std::max(top_k, 0);  // vLLM writes -1 for all
  return {};
}

Status read_logit_bias(ObjectReader& body, std::map<int32_t, float>& out) {
  const auto field = body.take(kLogitBias.field);
  if (!field) return {};
  LL_ASSIGN(ObjectReader biases, ObjectReader::open(*field));
  out.clear();
  for (const std::string& key : biases.unknown()) {
    int32_t token = -1;
    const auto [end, ec] = std::from_chars(key.data(), key.data() + key.size(), token);
    if (ec != std::errc() || end != key.data() + key.size() || token < 0) {
      return field_error(biases.path_of(key), "the key must be a token id");
    }
    LL_ASSIGN(out[token], read_number(*biases.take(key), kLogitBias));
  }
  return {};
}

}  // namespace

Status read_sampling(ObjectReader& body, Sampling& sampling) {
  LL_RETURN_IF_ERROR(read_number(body, kTemperature, sampling.temperature));
  LL_RETURN_IF_ERROR(read_top_k(body, sampling.top_k));
  LL_RETURN_IF_ERROR(read_number(body, kTopP, sampling.top_p));
  LL_RETURN_IF_ERROR(read_number(body, kMinP, sampling.min_p));
  LL_RETURN_IF_ERROR(read_number(body, kRepetitionPenalty, sampling.repetition_penalty));
  LL_RETURN_IF_ERROR(read_number(body, kPresencePenalty, sampling.presence_penalty));
  LL_RETURN_IF_ERROR(read_number(body, kFrequencyPenalty, sampling.frequency_penalty));
  LL_RETURN_IF_ERROR(read_logit_bias(body, sampling.logit_bias));
  if (const auto field = body.take("seed")) {
    // OpenAI's seeds are int64; as uint64 they stay different from one another.
    using Limits = std::numeric_limits<int64_t>;
    LL_ASSIGN(const int64_t seed, field->integer(Limits::min(), Limits::max()));
    sampling.seed = static_cast<uint64_t>(seed);
  }
  return {};
}

Status read_stop(ObjectReader& body, std::vector<std::string>& stop) {
  const auto field = body.take("stop");
  if (!field) return {};
  stop.clear();
  const auto add = [&](const JsonField& item) -> Status {
    LL_ASSIGN(std::string text, item.string());
    if (text.empty()) return field_error(item.path(), "must not be empty");
    stop.push_back(std::move(text));
    return {};
  };
  if (field->value().is_string()) return add(*field);
  if (!field->value().is_array()) return field->wrong("a string or a list of strings");
  LL_ASSIGN(const size_t count, field->length());
  for (size_t i = 0; i < count; ++i) LL_RETURN_IF_ERROR(add(field->item(i)));
  return {};
}

Status read_logprobs(ObjectReader& body, bool chat, int& logprobs) {
  if (!chat) return body.read("logprobs", logprobs, 0, kMaxTopLogprobs);
  bool wanted = logprobs >= 0;
  const auto count = body.take("top_logprobs");
  LL_RETURN_IF_ERROR(body.read("logprobs", wanted));
  if (!wanted) {
    logprobs = -1;
    if (count) return field_error(count->path(), "needs \"logprobs\": true");
    return {};
  }
  logprobs = std::max(logprobs, 0);
  return body.read("top_logprobs", logprobs, 0, kMaxTopLogprobs);
}

}  // namespace looseleaf
