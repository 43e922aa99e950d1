// A model: its shape, its weights by role, its tokenizer, and what keeps their memory alive.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "base/status.h"
#include "model/config.h"
#include "model/weight_type.h"
#include "text/tokenizer_spec.h"

namespace looseleaf {

// Shapes are [outputs, inputs]. A vector is a float copy; empty means that the model has none.
struct LayerWeights {
  std::vector<float> attention_norm;        // [hidden]
  WeightMatrix query;                       // [heads * head_dim, hidden]
  WeightMatrix key, value;                  // [kv_heads * head_dim, hidden]
  std::vector<float> query_norm, key_norm;  // [head_dim] RMS norm of each head before it turns
  WeightMatrix attention_output;            // [hidden, heads * head_dim]
  std::vector<float> query_bias, key_bias, value_bias, attention_output_bias;
  std::vector<float> ffn_norm;  // [hidden]
  WeightMatrix gate, up;        // [ffn, hidden]
  WeightMatrix down;            // [hidden, ffn]
  std::vector<float> gate_bias, up_bias, down_bias;
};

// What generation_config.json or its equivalent recommends.
struct GenerationDefaults {
  std::optional<float> temperature, top_p, min_p, repetition_penalty;
  std::optional<int> top_k;
};

// Immutable after loading: any number of engines and threads may share it.
struct Model {
  ModelConfig config;
  WeightMatrix embedding;  // [vocab, hidden]
  std::vector<LayerWeights> layers;
  std::vector<float> output_norm;          // [hidden]
  WeightMatrix output;                     // [vocab, hidden]; the embedding itself where tied
  std::optional<TokenizerSpec> tokenizer;  // a model without one takes token lists only
  std::string tokenizer_problem;           // why there is none although the files have one, or ""
  GenerationDefaults generation;
  std::string path;
  std::string format;       // "gguf v3", "safetensors", "random weights"
  std::string fingerprint;  // hex; over configuration, tokenizer and every tensor's contents
  bool tied = false;
  int64_t weight_bytes = 0;
  std::vector<std::shared_ptr<const MappedFile>> files;  // own what the matrices point into
  std::shared_ptr<const std::byte> generated;            // owns it where no file does
};

// `path`: a .gguf file, a folder in Hugging Face form (config.json beside safetensors; links are
// followed), hf:ORG/NAME[@REVISION] (hub.h) or random:NAME[/LAYERS] (random_shape.h). Tensors stay
// where the file maps them. Errors: kNotFound, kCorrupt (with file and offset or tensor),
// kUnsupported (architecture, weight type or RoPE scaling, by name), kUsage (a name of no model),
// kUnavailable (no memory for random weights). A tokenizer that cannot be followed is no error
// here: `tokenizer_problem` says why, and the model still takes token lists.
Expected<std::shared_ptr<const Model>> load_model(const std::filesystem::path& path);

// How many matrices have which type, most first: "q4_1 210, q8_0 1". A tied output counts once.
std::string describe_weight_types(const Model& model);

}  // namespace looseleaf
