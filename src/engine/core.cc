#include "engine/core.h"
namespace looseleaf {
namespace {

KvLayout layout_of(const ModelConfig& config, KvType type) {
  return {type, config.layers, config.kv_heads, config.head_dim};
}

// Replicas exchange chunks by fingerprint, so all that changes stored bits is in it. The number
// goes up when a new version stores other values.
std::string numeric_path(const Device& device) {
  return fmt::format("/{}/2", device.facts().numeric_path);
}

}  // namespace

EngineCore::EngineCore(std::shared_ptr<const Model> model_in,
                       std::unique_ptr<const Tokenizer> tokenizer_in, std::string problem,
                       const ResolvedOptions& options_in, std::unique_ptr<Device> device_in)
    : model(std::move(model_in)),
      tokenizer(std::move(tokenizer_in)),
      tokenizer_problem(std::move(problem)),
      chat_template(ChatTemplate::of(tokenizer.get())),
      options(options_in),
      fingerprint(model->fingerprint + numeric_path(*device_in)),
      device(std::move(device_in)),
      chunk_layout(layout_of(model->config, options.kv_type)),
      private_layout(layout_of(model->config, options.private_kv_type)),
      pool(*device, options.cache_bytes),
      chunks(pool),
      prefixes(pool),
      forward(*model, *device) {}

}  // namespace looseleaf
