#include "engine/describe.h"

#include <boost/json.hpp>

#include "repair/method.h"

namespace looseleaf {
namespace json = boost::json;

namespace {

json::object rope_facts(const RopeConfig& rope) {
  json::object facts{{"base", rope.base},
                     {"dims", rope.dims},
                     {"pairs", rope.pairs == RopePairs::kHalves ? "halves" : "adjacent"},
                     {"scaling", rope.llama3 ? "llama3" : "none"}};
  if (!rope.divisors.empty()) facts["scaling"] = "frequency divisors";
  return facts;
}

json::value tokenizer_facts(const EngineCore& core) {
  if (!core.tokenizer)
    return json::object{{"problem", core.tokenizer_problem.empty() ? "the files hold none"
                                                                   : core.tokenizer_problem}};
  const TokenizerSpec& spec = core.tokenizer->spec();
  return json::object{{"model", spec.model},
                      {"tokens", core.tokenizer->vocab_size()},
                      {"bos", spec.bos},
                      {"eos", spec.eos},
                      {"adds_bos", spec.add_bos},
                      {"end_of_generation", json::value_from(spec.end_of_generation)},
                      {"chat_template", !spec.chat_template.empty()}};
}

}  // namespace

std::string describe_engine(const EngineCore& core) {
  const Model& model = *core.model;
  const ModelConfig& c = model.config;
  const auto token_bytes = [](const KvLayout& layout) {
    return layout.page_bytes() / kPageTokens;
  };
  return json::serialize(json::object{
      {"path", model.path},
      {"format", model.format},
      {"name", c.name},
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
      {"rope", rope_facts(c.rope)},
      {"tied", model.tied},
      {"weights", json::object{{"bytes", model.weight_bytes},
                               {"types", describe_weight_types(model)}}},
      {"fingerprint", core.fingerprint},
      {"tokenizer", tokenizer_facts(core)},
      {"engine", json::object{{"device", core.device->name()},
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
    list.push_back(json::object{{"name", info->name},
                                {"summary", info->summary},
                                {"options", std::move(options)},
                                {"citation", info->citation}});
  }
  return json::serialize(list);
}

}  // namespace looseleaf
