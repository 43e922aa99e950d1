#include "engine/describe.h"

#include <boost/json.hpp>

#include "base/utf8.h"
#include "repair/method.h"

namespace looseleaf {
namespace json = boost::json;

namespace {

json::object rope_facts(const RopeConfig& rope) {
  json::object facts{{"base", rope.base},
                     {"dims", rope.dims},
                     {"pairs", rope.pairs == RopePairs::kHalves ? "halves" : "adjacent"},
                     {"scaling", rope_scaling_name(rope.scaling)}};
  const bool divided = !rope.divisors.empty() && rope.scaling == RopeScaling::kNone;
  if (divided) facts["scaling"] = "frequency divisors";
  if (rope.factor != 1) facts["factor"] = rope.factor;
  if (rope.original_context > 0) facts["original_context"] = rope.original_context;
  if (rope.attention_factor != 1) facts["attention_factor"] = rope.attention_factor;
  if (rope.scaling == RopeScaling::kLongRope)
    facts["regimes"] = fmt::format("short up to {} prompt tokens, long beyond: chunks of each",
                                   rope.original_context);
  if (!can_reuse_chunks(rope))
    facts["regimes"] = "one for each prompt length: methods full and prefix only";
  return facts;
}

// Which of a layer's matrices have biases.
std::string bias_facts(const LayerWeights& layer) {
  std::string names;
  for (const auto& [name, bias] : {std::pair{"query", &layer.query_bias},
                                   {"key", &layer.key_bias},
                                   {"value", &layer.value_bias},
                                   {"output", &layer.attention_output_bias},
                                   {"gate", &layer.gate_bias},
                                   {"up", &layer.up_bias},
                                   {"down", &layer.down_bias}})
    if (!bias->empty()) names += (names.empty() ? "" : ", ") + std::string(name);
  return names.empty() ? "none" : names;
}

json::value tokenizer_facts(const EngineCore& core) {
  if (!core.tokenizer)
    return json::object{{"problem", core.tokenizer_problem.empty()
                                        ? "the files hold none"
                                        : shown_as_utf8(core.tokenizer_problem)}};
  const TokenizerSpec& spec = core.tokenizer->spec();
  return json::object{{"model", spec.model},
                      {"tokens", core.tokenizer->vocab_size()},
                      {"bos", spec.bos},
                      {"eos", spec.eos},
                      {"adds_bos", spec.add_bos},
                      {"end_of_generation", json::value_from(spec.end_of_generation)},
                      {"chat_template", core.chat_template.description()}};
}

}  // namespace

std::string describe_engine(const EngineCore& core) {
  const Model& model = *core.model;
  const ModelConfig& c = model.config;
  const auto token_bytes = [](const KvLayout& layout) { return layout.page_bytes() / kPageTokens; };
  return json::serialize(json::object{
      {"path", shown_as_utf8(model.path)},
      {"format", model.format},
      {"name", shown_as_utf8(c.name)},
      {"architecture", c.architecture},
      {"vocab", c.vocab},
      {"hidden", c.hidden},
      {"layers", c.layers},
      {"heads", c.heads},
      {"kv_heads", c.kv_heads},
      {"head_dim", c.head_dim},
      {"ffn", c.ffn},
      {"context_length", c.context_length},
      {"sliding_window", c.sliding_window},
      {"activation", "silu"},
      {"qk_norm", !model.layers.front().query_norm.empty()},
      {"biases", bias_facts(model.layers.front())},
      {"rope", rope_facts(c.rope)},
      {"tied", model.tied},
      {"weights",
       json::object{{"bytes", model.weight_bytes}, {"types", describe_weight_types(model)}}},
      {"fingerprint", core.fingerprint},
      {"tokenizer", tokenizer_facts(core)},
      {"engine", json::object{{"device", core.device->name()},
                              {"hardware", core.device->facts().hardware},
                              {"weights", core.device->describe_weights()},
                              {"threads", core.options.threads},
                              {"context", core.options.context},
                              {"exact", core.options.exact},
                              {"deterministic", core.options.deterministic},
                              {"cache_bytes", core.options.cache_bytes},
                              {"kv_type", kv_type_name(core.options.kv_type)},
                              {"private_kv_type", kv_type_name(core.options.private_kv_type)},
                              {"chunk_bytes_per_token", token_bytes(core.chunk_layout)},
                              {"private_bytes_per_token", token_bytes(core.private_layout)}}},
  });
}

std::string describe_methods() {
  json::array list;
  list.push_back(json::object{{"name", "auto"},
                              {"summary", fmt::format("the default: {} with documents, {} without",
                                                      auto_method(true), auto_method(false))},
                              {"options", json::array()},
                              {"citation", "docs/design.md"}});
  for (const MethodInfo* info : methods_table()) {
    json::array options;
    for (const MethodOption& o : info->options)
      options.push_back(json::object{{"name", o.name},
                                     {"default", o.default_value},
                                     {"values", o.values},
                                     {"summary", o.summary}});
    json::object method{{"name", info->name},
                        {"summary", info->summary},
                        {"options", std::move(options)},
                        {"citation", info->citation}};
    if (!info->number.name.empty())
      method["number"] = json::object{{"name", info->number.name},
                                      {"default", info->number.default_value},
                                      {"most", info->number.most},
                                      {"integer", info->number.integer}};
    list.push_back(std::move(method));
  }
  return json::serialize(list);
}

}  // namespace looseleaf
