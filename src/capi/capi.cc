// The C ABI: every function turns JSON into a call of Engine and its result, or its error, into
// JSON.
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>

#include "base/json_parse.h"
#include "base/json_text.h"
#include "capi/options_json.h"
#include "looseleaf/looseleaf.h"
#include "looseleaf/looseleaf_c.h"
#include "server/document_json.h"
#include "server/layout_json.h"
#include "server/openai_request.h"
#include "server/openai_response.h"

struct looseleaf_engine {
  looseleaf::Engine engine;
};

namespace looseleaf {
namespace {

namespace json = boost::json;

char* copy_of(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

void set_error(char** target, const Error& error) {
  if (target != nullptr) *target = copy_of(write_json(error_object(error)));
}

// Runs `call`, whose exceptions must not leave a C function. Gives nothing where it failed.
template <typename Call>
auto guarded(char** error, const Call& call)
    -> std::optional<typename decltype(call())::value_type> {
  if (error != nullptr) *error = nullptr;
  try {
    auto result = call();
    if (result) return std::move(*result);
    set_error(error, result.error());
  } catch (const std::bad_alloc&) {
    set_error(error, {ErrorCode::kUnavailable, "out of memory", ""});
  } catch (const std::exception& problem) {
    set_error(error, {ErrorCode::kInternal, problem.what(), ""});
  }
  return std::nullopt;
}

template <typename Call>
char* text_of(char** error, const Call& call) {
  const std::optional<std::string> text = guarded(error, call);
  return text ? copy_of(*text) : nullptr;
}

Expected<std::string_view> argument(const char* text, const char* name) {
  if (text == nullptr) return field_error(name, "is NULL");
  return std::string_view(text);
}

Expected<looseleaf_engine*> check_engine(looseleaf_engine* engine) {
  if (engine == nullptr) return field_error("engine", "is NULL");
  return engine;
}

Expected<ParsedRequest> read_body(const char* body) {
  BodyDefaults defaults;
  defaults.request.sampling.temperature = 0;
  LL_ASSIGN(const std::string_view text, argument(body, "body"));
  return parse_request(text, defaults);
}

ResponseOptions response_options(const ParsedRequest& parsed, bool token_ids) {
  ResponseOptions options;
  options.chat = parsed.chat;
  options.return_token_ids = token_ids;
  options.logprobs = parsed.request.logprobs >= 0;
  options.ignored = parsed.ignored;
  return options;
}

Expected<TextOrTokens> read_continuation(const char* text) {
  LL_ASSIGN(const std::string_view given, argument(text, "continuation"));
  LL_ASSIGN(const json::value value, parse_json(given));
  const JsonField field(value, "continuation");
  if (!value.is_array()) return field.string();
  LL_ASSIGN(auto tokens, field.token_ids());
  return TextOrTokens(std::move(tokens));
}

Expected<Request> read_settings(const char* text) {
  Request request;
  if (text == nullptr) return request;
  LL_ASSIGN(const json::value value, parse_json(text));
  LL_ASSIGN(ObjectReader settings, ObjectReader::open(JsonField(value, "settings")));
  if (const auto layout = settings.take("layout")) {
    LL_ASSIGN(request.layout, read_layout(*layout));
  }
  LL_RETURN_IF_ERROR(settings.read("encoding_prefix", request.encoding_prefix));
  LL_RETURN_IF_ERROR(settings.read("cache_salt", request.cache_salt));
  for (const std::string& name : settings.unknown())
    return field_error(settings.path_of(name),
                       "is not known; there are: layout, encoding_prefix, "
                       "cache_salt");
  return request;
}

json::array to_array(const auto& values) { return json::array(values.begin(), values.end()); }

}  // namespace
}  // namespace looseleaf

using namespace looseleaf;

looseleaf_engine* looseleaf_open(const char* model, const char* options, char** error) {
  const auto engine = guarded(error, [&]() -> Expected<looseleaf_engine*> {
    LL_ASSIGN(const std::string_view path, argument(model, "model"));
    LL_ASSIGN(const EngineOptions parsed, read_engine_options(options));
    LL_ASSIGN(Engine loaded, Engine::load(std::string(path), parsed));
    return new looseleaf_engine{std::move(loaded)};
  });
  return engine.value_or(nullptr);
}

void looseleaf_close(looseleaf_engine* engine) { delete engine; }

char* looseleaf_ask(looseleaf_engine* engine, const char* body, char** error) {
  return text_of(error, [&]() -> Expected<std::string> {
    LL_ASSIGN(looseleaf_engine * checked, check_engine(engine));
    LL_ASSIGN(const ParsedRequest parsed, read_body(body));
    LL_ASSIGN(const Answer answer, checked->engine.ask(parsed.request));
    return write_json(run_object(answer, response_options(parsed, parsed.return_token_ids)));
  });
}

char* looseleaf_score(looseleaf_engine* engine, const char* body, const char* continuation,
                      char** error) {
  return text_of(error, [&]() -> Expected<std::string> {
    LL_ASSIGN(looseleaf_engine * checked, check_engine(engine));
    LL_ASSIGN(ParsedRequest parsed, read_body(body));
    LL_ASSIGN(const TextOrTokens wanted, read_continuation(continuation));
    parsed.request.max_tokens = 0;
    LL_ASSIGN(const Score score, checked->engine.score(parsed.request, wanted));
    const json::object answer = run_object(score.answer, response_options(parsed, true));
    return write_json(json::object{{"tokens", to_array(score.tokens)},
                                   {"logprobs", to_array(score.logprobs)},
                                   {"prompt_tokens_ids", to_array(score.answer.prompt_tokens)},
                                   {"looseleaf", answer.at("looseleaf")}});
  });
}

char* looseleaf_prefill(looseleaf_engine* engine, const char* document, const char* settings,
                        char** error) {
  return text_of(error, [&]() -> Expected<std::string> {
    LL_ASSIGN(looseleaf_engine * checked, check_engine(engine));
    LL_ASSIGN(const std::string_view text, argument(document, "document"));
    LL_ASSIGN(const json::value value, parse_json(text));
    IgnoredFields ignored;
    LL_ASSIGN(const Document parsed, read_document(JsonField(value, "document"), ignored));
    LL_ASSIGN(const Request request, read_settings(settings));
    LL_ASSIGN(const std::string id, checked->engine.prefill(parsed, request));
    return write_json(json::object{{"id", id}});
  });
}

int looseleaf_chunk_kv(looseleaf_engine* engine, const char* chunk_id, int layer, int32_t shape[3],
                       float* keys, float* values, size_t capacity, char** error) {
  const auto done = guarded(error, [&]() -> Expected<bool> {
    LL_ASSIGN(looseleaf_engine * checked, check_engine(engine));
    LL_ASSIGN(const std::string_view id, argument(chunk_id, "chunk_id"));
    if (shape == nullptr) return field_error("shape", "is NULL");
    LL_ASSIGN(const ChunkKv kv, checked->engine.chunk_kv(std::string(id), layer));
    shape[0] = kv.tokens;
    shape[1] = kv.kv_heads;
    shape[2] = kv.head_dim;
    if (keys == nullptr && values == nullptr) return true;
    if (keys == nullptr || values == nullptr)
      return field_error("values", "give keys and values, or neither");
    if (capacity < kv.keys.size())
      return field_error("capacity", "{} floats are too few for {}", capacity, kv.keys.size());
    std::memcpy(keys, kv.keys.data(), kv.keys.size() * sizeof(float));
    std::memcpy(values, kv.values.data(), kv.values.size() * sizeof(float));
    return true;
  });
  return done ? 0 : -1;
}

char* looseleaf_tokenize(looseleaf_engine* engine, const char* text, char** error) {
  return text_of(error, [&]() -> Expected<std::string> {
    LL_ASSIGN(looseleaf_engine * checked, check_engine(engine));
    LL_ASSIGN(const std::string_view given, argument(text, "text"));
    LL_ASSIGN(const auto tokens, checked->engine.tokenize(std::string(given)));
    return write_json(json::object{{"tokens", to_array(tokens)}});
  });
}

char* looseleaf_describe(looseleaf_engine* engine) {
  return text_of(nullptr, [&]() -> Expected<std::string> {
    LL_ASSIGN(looseleaf_engine * checked, check_engine(engine));
    return checked->engine.describe();
  });
}

char* looseleaf_cache_stats(looseleaf_engine* engine) {
  return text_of(nullptr, [&]() -> Expected<std::string> {
    LL_ASSIGN(looseleaf_engine * checked, check_engine(engine));
    const CacheStats stats = checked->engine.cache_stats();
    return write_json(json::object{{"limit_bytes", stats.limit_bytes},
                                   {"chunk_bytes", stats.chunk_bytes},
                                   {"prefix_bytes", stats.prefix_bytes},
                                   {"pinned_bytes", stats.pinned_bytes},
                                   {"used_bytes", stats.used_bytes},
                                   {"chunks", stats.chunks},
                                   {"evictions", stats.evictions}});
  });
}

void looseleaf_clear_cache(looseleaf_engine* engine) {
  if (engine != nullptr) engine->engine.clear_cache();
}

char* looseleaf_methods(void) {
  return text_of(nullptr, []() -> Expected<std::string> { return methods(); });
}

const char* looseleaf_version(void) { return version(); }

void looseleaf_free(char* text) { std::free(text); }
