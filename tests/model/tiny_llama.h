// A llama model of one layer in either form, to be broken by tests.
#pragma once

#include <random>

#include "gguf_builder.h"
#include "test_files.h"

namespace looseleaf::tiny {

constexpr int kVocab = 8, kHidden = 8, kHeads = 2, kKvHeads = 1, kHeadDim = 4, kFfn = 12;
constexpr uint32_t kF32Id = 0;

// Reproducible floats in (-1, 1).
inline std::string floats(size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes;
  for (size_t i = 0; i < count; ++i)
    bytes += raw(static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 1001.0f);
  return bytes;
}

struct Shape {
  std::string gguf, hf;        // names without .weight
  std::vector<uint64_t> dims;  // outermost first
};

inline std::vector<Shape> weights() {
  return {{"token_embd", "model.embed_tokens", {kVocab, kHidden}},
          {"output", "lm_head", {kVocab, kHidden}},
          {"output_norm", "model.norm", {kHidden}},
          {"blk.0.attn_norm", "model.layers.0.input_layernorm", {kHidden}},
          {"blk.0.attn_q", "model.layers.0.self_attn.q_proj", {kHeads * kHeadDim, kHidden}},
          {"blk.0.attn_k", "model.layers.0.self_attn.k_proj", {kKvHeads * kHeadDim, kHidden}},
          {"blk.0.attn_v", "model.layers.0.self_attn.v_proj", {kKvHeads * kHeadDim, kHidden}},
          {"blk.0.attn_output", "model.layers.0.self_attn.o_proj", {kHidden, kHeads * kHeadDim}},
          {"blk.0.ffn_norm", "model.layers.0.post_attention_layernorm", {kHidden}},
          {"blk.0.ffn_gate", "model.layers.0.mlp.gate_proj", {kFfn, kHidden}},
          {"blk.0.ffn_up", "model.layers.0.mlp.up_proj", {kFfn, kHidden}},
          {"blk.0.ffn_down", "model.layers.0.mlp.down_proj", {kHidden, kFfn}}};
}

inline uint64_t count(const std::vector<uint64_t>& dims) {
  uint64_t product = 1;
  for (const uint64_t d : dims) product *= d;
  return product;
}

// Tensors in f32, a byte-level tokenizer of kVocab tokens.
inline GgufBuilder gguf() {
  GgufBuilder out;
  out.set_string("general.architecture", "llama");
  out.set_string("general.name", "tiny");
  out.set_u32("llama.block_count", 1);
  out.set_u32("llama.context_length", 128);
  out.set_u32("llama.embedding_length", kHidden);
  out.set_u32("llama.feed_forward_length", kFfn);
  out.set_u32("llama.attention.head_count", kHeads);
  out.set_u32("llama.attention.head_count_kv", kKvHeads);
  out.set_f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
  out.set_string("tokenizer.ggml.model", "gpt2");
  out.set_string("tokenizer.ggml.pre", "gpt-2");
  out.set_strings("tokenizer.ggml.tokens", {"<s>", "</s>", "a", "b", "ab", "c", "<t>", "d"});
  out.set_numbers<int32_t>("tokenizer.ggml.token_type", GgufType::kI32, {3, 3, 1, 1, 1, 1, 4, 5});
  out.set_strings("tokenizer.ggml.merges", {"a b"});
  out.set_u32("tokenizer.ggml.bos_token_id", 0);
  out.set_u32("tokenizer.ggml.eos_token_id", 1);
  unsigned seed = 0;
  for (const Shape& shape : weights())
    out.add(shape.gguf + ".weight", {shape.dims.rbegin(), shape.dims.rend()}, kF32Id,
            floats(count(shape.dims), ++seed));
  return out;
}

}  // namespace looseleaf::tiny
