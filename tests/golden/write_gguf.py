"""Writes a tiny model as a GGUF v3 file, as llama.cpp's converter would.

Imported by make_golden.py; nothing to run here.
"""

import gguf
import numpy as np
import torch

import reference
import small_tokenizer
import specs

FILE_TYPE = {"F32": 0, "F16": 1, "Q4_0": 2, "Q4_1": 3, "Q8_0": 7, "BF16": 32}
LAYER_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
}
OTHER_NAMES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def gguf_name(name):
    """model.layers.1.mlp.up_proj.weight -> blk.1.ffn_up.weight"""
    stem = name.removesuffix(".weight")
    if stem in OTHER_NAMES:
        return OTHER_NAMES[stem] + ".weight"
    layer, rest = stem.removeprefix("model.layers.").split(".", 1)
    return f"blk.{layer}.{LAYER_NAMES[rest]}.weight"


def interleave(w, heads):
    """Rows of q or k from half-split pairs (i, i + d/2) to neighbours (2i, 2i + 1)."""
    return w.reshape(heads, 2, -1, w.shape[1]).transpose(1, 2).reshape(w.shape)


def write_metadata(writer, spec):
    writer.add_type("model")
    writer.add_name(spec.name)
    writer.add_block_count(spec.layers)
    writer.add_context_length(specs.MAX_POSITIONS)
    writer.add_embedding_length(specs.HIDDEN)
    writer.add_feed_forward_length(specs.INTERMEDIATE)
    writer.add_head_count(specs.HEADS)
    writer.add_head_count_kv(specs.KV_HEADS)
    writer.add_layer_norm_rms_eps(specs.RMS_EPS)
    writer.add_key_length(specs.HEAD_DIM)
    writer.add_value_length(specs.HEAD_DIM)
    writer.add_rope_dimension_count(specs.HEAD_DIM)
    writer.add_rope_freq_base(spec.rope["rope_theta"])
    writer.add_vocab_size(specs.VOCAB)
    writer.add_file_type(FILE_TYPE[spec.dtype])
    writer.add_quantization_version(2)


def storage_type(spec, name):
    """One type for all matrices, but Q4_1 keeps its embeddings as Q8_0, as SmolLM2's file does."""
    if spec.dtype == "Q4_1" and name == "token_embd.weight":
        return gguf.GGMLQuantizationType.Q8_0
    return gguf.GGMLQuantizationType[spec.dtype]


def write(path, spec, weights, tokens, merges):
    writer = gguf.GGUFWriter(path, "llama")
    write_metadata(writer, spec)
    small_tokenizer.write_gguf_metadata(writer, tokens, merges)
    if spec.rope["rope_type"] == "llama3":
        plain = reference.inverse_frequencies(
            {"rope_theta": spec.rope["rope_theta"]}, specs.HEAD_DIM
        )
        divisors = plain / reference.inverse_frequencies(spec.rope, specs.HEAD_DIM)
        writer.add_tensor("rope_freqs.weight", divisors.to(torch.float32).numpy())
    for name, w in weights.items():
        stored = gguf_name(name)
        if w.dim() == 1:
            writer.add_tensor(stored, w.numpy())
            continue
        if "attn_q" in stored or "attn_k" in stored:
            w = interleave(w, specs.HEADS if "attn_q" in stored else specs.KV_HEADS)
        kind = storage_type(spec, stored)
        writer.add_tensor(
            stored, gguf.quants.quantize(np.ascontiguousarray(w.numpy()), kind), raw_dtype=kind
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
