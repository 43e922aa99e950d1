// The table of model families: how each one's files name its shape and its tensors.
#pragma once

#include <string_view>

#include "base/json_reader.h"
#include "base/status.h"
#include "model/config.h"
#include "model/gguf.h"

namespace looseleaf {

// What a file calls the tensor of each role, without ".weight" and ".bias"; {} is the layer. "":
// the family has no such tensor.
struct TensorNames {
  std::string_view embedding, output_norm, output;
  std::string_view attention_norm, query, key, value;
  std::string_view query_key_value;  // one matrix, rows in this order; query, key and value are ""
  std::string_view query_norm, key_norm;  // of each head, before it turns
  std::string_view attention_output;
  std::string_view ffn_norm, gate, up;
  std::string_view gate_up;  // one matrix, gate's rows first; gate and up are ""
  std::string_view down;
  std::string_view rope_divisors, rope_short_divisors, rope_long_divisors;
  std::string_view ignored_end;  // tensors whose names end so are recomputed
};

// What a file says beside the shape.
struct DeclaredWeights {
  // Where a file does not say, the tensors that it has decide.
  std::optional<bool> tied;            // the output matrix is the embedding
  std::optional<bool> attention_bias;  // of query, key and value
  std::optional<bool> attention_output_bias, mlp_bias;
};

struct Declaration {
  ModelConfig config;  // `vocab` is 0 where only the embedding says it
  DeclaredWeights weights;
};

struct Architecture {
  std::string_view gguf_name;   // general.architecture; "": GGUF files call it something else
  std::string_view model_type;  // config.json
  std::string_view hf_class;    // config.json: architectures[0]
  Expected<Declaration> (*from_gguf)(const GgufFile& file);
  Expected<Declaration> (*from_json)(const ObjectReader& config);
  TensorNames gguf_tensors, hf_tensors;
};

// Errors: kUnsupported (with the file, the name and the names that are known).
Expected<const Architecture*> find_architecture(const GgufFile& file);
Expected<const Architecture*> find_architecture(const ObjectReader& config);

// The tokens that a model with this scaling is made for, where its files say `context`: linear and
// dynamic scaling stretch that, yarn stretches the original context.
int scaled_context(const RopeConfig& rope, int context);

// What must hold for any family. `where` starts the message. Errors: kCorrupt.
Status check_config(const ModelConfig& config, std::string_view where);

}  // namespace looseleaf
