// The tiny llama as a model of other families.
#pragma once

#include "tiny_llama.h"

namespace looseleaf::tiny {

inline std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
  return text;
}

// The tiny llama's file under another family's name.
inline GgufBuilder gguf_of(std::string_view family) {
  GgufBuilder out = gguf();
  out.set_string("general.architecture", family);
  for (auto& entry : out.entries)
    entry.key = replaced(entry.key, "llama.", std::string(family) + ".");
  return out;
}

inline GgufBuilder qwen2() {
  GgufBuilder out = gguf_of("qwen2");
  out.add("blk.0.attn_q.bias", {8}, kF32Id, floats(8, 1));
  out.add("blk.0.attn_k.bias", {4}, kF32Id, floats(4, 2));
  out.add("blk.0.attn_v.bias", {4}, kF32Id, floats(4, 3));
  return out;
}

inline GgufBuilder qwen3() {
  GgufBuilder out = gguf_of("qwen3");
  out.add("blk.0.attn_q_norm.weight", {4}, kF32Id, floats(4, 1));
  out.add("blk.0.attn_k_norm.weight", {4}, kF32Id, floats(4, 2));
  return out;
}

// The same rows in fused matrices.
inline GgufBuilder phi3() {
  GgufBuilder out = gguf_of("phi3");
  const auto fuse = [&](std::string_view name, const std::vector<std::string>& parts) {
    std::string bytes;
    uint64_t rows = 0;
    for (const auto& part : parts) {
      bytes += out.tensor(part).bytes;
      rows += out.tensor(part).shape[1];
      out.remove_tensor(part);
    }
    out.add(name, {kHidden, rows}, kF32Id, bytes);
  };
  fuse("blk.0.attn_qkv.weight",
       {"blk.0.attn_q.weight", "blk.0.attn_k.weight", "blk.0.attn_v.weight"});
  fuse("fused", {"blk.0.ffn_gate.weight", "blk.0.ffn_up.weight"});
  out.tensor("fused").name = "blk.0.ffn_up.weight";
  return out;
}

inline GgufBuilder phi3_long_rope() {
  GgufBuilder out = phi3();
  out.add("rope_factors_short.weight", {2}, kF32Id, raw(1.0f) + raw(2.0f));
  out.add("rope_factors_long.weight", {2}, kF32Id, raw(1.0f) + raw(16.0f));
  out.set_u32("phi3.rope.scaling.original_context_length", 32);
  return out;
}

}  // namespace looseleaf::tiny
