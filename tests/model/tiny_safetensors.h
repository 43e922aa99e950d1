// The tiny llama as config.json and safetensors; broken ones through the public fields.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tiny_llama.h"

namespace looseleaf {

struct SafetensorsBuilder {
  struct Entry {
    std::string name, dtype, shape;  // shape as JSON
    uint64_t begin = 0, end = 0;
  };
  std::vector<Entry> entries;
  std::string data;
  std::string extra;  // JSON in front of the entries, with its comma

  void add(std::string_view name, const std::vector<uint64_t>& shape, const std::string& bytes,
           std::string_view dtype = "F32") {
    entries.push_back({std::string(name), std::string(dtype),
                       fmt::format("[{}]", fmt::join(shape, ",")), data.size(),
                       data.size() + bytes.size()});
    data += bytes;
  }
  std::string header() const {
    std::string json;
    for (const Entry& e : entries)
      json += fmt::format(R"({}"{}":{{"dtype":"{}","shape":{},"data_offsets":[{},{}]}})",
                          json.empty() ? "" : ",", e.name, e.dtype, e.shape, e.begin, e.end);
    return "{" + extra + json + "}";
  }
  std::string build() const { return with_header(header()); }
  std::string with_header(const std::string& json) const {
    return raw(static_cast<uint64_t>(json.size())) + json + data;
  }
};

namespace tiny {

inline SafetensorsBuilder safetensors() {
  SafetensorsBuilder out;
  out.extra = R"("__metadata__":{"format":"pt"},)";
  unsigned seed = 0;
  for (const Shape& shape : weights())
    out.add(shape.hf + ".weight", shape.dims, floats(count(shape.dims), ++seed));
  return out;
}

// `extra`: more fields, each with a comma behind it.
inline std::string config_json(std::string_view extra = "") {
  return fmt::format(
      R"({{{}"architectures":["LlamaForCausalLM"],"model_type":"llama","vocab_size":{},)"
      R"("hidden_size":{},"intermediate_size":{},"num_hidden_layers":1,"num_attention_heads":{},)"
      R"("num_key_value_heads":{},"rms_norm_eps":1e-05,"max_position_embeddings":128}})",
      extra, kVocab, kHidden, kFfn, kHeads, kKvHeads);
}

}  // namespace tiny
}  // namespace looseleaf
