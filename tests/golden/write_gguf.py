"""Writes a tiny model as a GGUF v3 file, as llama.cpp's converter would.

Imported by make_golden.py; nothing to run here.
"""

import gguf
import numpy as np
import torch

import rope
import small_tokenizer
import specs

FILE_TYPE = {
    "F32": 0,
    "F16": 1,
    "Q4_0": 2,
    "Q4_1": 3,
    "Q8_0": 7,
    "Q5_0": 8,
    "Q5_1": 9,
    "K_LOW": 10,
    "K_HIGH": 15,
    "BF16": 32,
}
# Mixtures as quantizers make them: another type for each role; rows that are no multiple of 256 get
# a type in blocks of 32.
MIXTURES = {
    "K_HIGH": {
        "token_embd": "Q6_K",
        "attn_q": "Q4_K",
        "attn_k": "Q5_K",
        "attn_v": "Q6_K",
        "attn_output": "Q5_0",
        "ffn_gate": "Q4_K",
        "ffn_up": "Q5_K",
        "ffn_down": "Q5_0",
    },
    "K_LOW": {
        "token_embd": "Q3_K",
        "attn_q": "Q2_K",
        "attn_k": "Q3_K",
        "attn_v": "Q4_K",
        "attn_output": "IQ4_NL",
        "ffn_gate": "Q2_K",
        "ffn_up": "Q3_K",
        "ffn_down": "Q5_1",
    },
}
# Types that the gguf package only reads: bytes at which a block has its halves (d, then dmin).
READ_ONLY = {
    "Q2_K": [80, 82],
    "Q3_K": [108],
    "Q4_K": [0, 2],
    "Q5_K": [0, 2],
    "Q6_K": [208],
    "IQ4_NL": [0],
}
# dmin / d that leaves weights about 0: the mean of the codes.
CENTRE = {"Q2_K": 1.5, "Q4_K": 7.5, "Q5_K": 15.5}
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
NORM_NAMES = {"self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm"}
FUSED_NAMES = {"self_attn.qkv_proj": "attn_qkv", "mlp.gate_up_proj": "ffn_up"}
OTHER_NAMES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output"}


def layer_names(family):
    names = LAYER_NAMES | NORM_NAMES
    if family == "phi3":
        names = {a: b for a, b in names.items() if b != "ffn_up"} | FUSED_NAMES
    return names


def gguf_name(name, family="llama"):
    """model.layers.1.mlp.up_proj.weight -> blk.1.ffn_up.weight"""
    stem, end = name.rsplit(".", 1)
    if stem in OTHER_NAMES:
        return f"{OTHER_NAMES[stem]}.{end}"
    layer, rest = stem.removeprefix("model.layers.").split(".", 1)
    return f"blk.{layer}.{layer_names(family)[rest]}.{end}"


def interleave(w, heads):
    """Rows of q or k from half-split pairs (i, i + d/2) to neighbours (2i, 2i + 1)."""
    return w.reshape(heads, 2, -1, *w.shape[1:]).transpose(1, 2).reshape(w.shape)


def random_blocks(kind, w, seed):
    """Blocks of random codes and scales with w's shape and standard deviation."""
    rng = np.random.default_rng(seed)
    size, block_bytes = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[kind]]
    blocks = rng.integers(0, 256, (w.numel() // size, block_bytes), dtype=np.uint8)

    def set_scale(d):
        for at, value in zip(READ_ONLY[kind], (d, d * CENTRE.get(kind, 0))):
            blocks[:, at : at + 2] = np.array([value], dtype="<f2").view(np.uint8)

    set_scale(1)
    values = gguf.quants.dequantize(blocks, gguf.GGMLQuantizationType[kind])
    set_scale(w.std().item() / values.std())
    return blocks.reshape(w.shape[0], -1)


def write_metadata(writer, spec):
    writer.add_type("model")
    writer.add_name(spec.name)
    writer.add_block_count(spec.layers)
    writer.add_context_length(spec.context)
    writer.add_embedding_length(spec.hidden)
    writer.add_feed_forward_length(spec.intermediate)
    writer.add_head_count(spec.heads)
    writer.add_head_count_kv(spec.kv_heads)
    writer.add_layer_norm_rms_eps(specs.RMS_EPS)
    writer.add_key_length(spec.head_dim)
    writer.add_value_length(spec.head_dim)
    writer.add_rope_dimension_count(spec.rotary_dims)
    writer.add_rope_freq_base(spec.rope["rope_theta"])
    write_scaling(writer, spec)
    if spec.window:
        writer.add_sliding_window(spec.window)
    writer.add_vocab_size(spec.vocab)
    writer.add_file_type(FILE_TYPE[spec.dtype])
    writer.add_quantization_version(2)


def write_scaling(writer, spec):
    kind = spec.rope["rope_type"]
    if kind in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(kind))
        writer.add_rope_scaling_factor(spec.rope["factor"])
    if kind in ("yarn", "longrope"):
        writer.add_rope_scaling_orig_ctx_len(spec.rope["original_max_position_embeddings"])
    if kind == "longrope":
        writer.add_rope_scaling_attn_factors(rope.attention_factor(spec.rope, spec.context))
        for which in ("long", "short"):
            factors = np.array(spec.rope[which + "_factor"], dtype=np.float32)
            writer.add_tensor(f"rope_factors_{which}.weight", factors)


def storage_type(spec, name):
    """One type for all matrices, but Q4_1 keeps its embeddings as Q8_0, as SmolLM2's file does."""
    if spec.dtype in MIXTURES:
        return gguf.GGMLQuantizationType[MIXTURES[spec.dtype][name.split(".")[-2]]]
    if spec.dtype == "Q4_1" and name == "token_embd.weight":
        return gguf.GGMLQuantizationType.Q8_0
    return gguf.GGMLQuantizationType[spec.dtype]


def write(path, spec, weights, tokens, merges):
    writer = gguf.GGUFWriter(path, spec.family)
    write_metadata(writer, spec)
    if spec.tokenizer:
        small_tokenizer.write_gguf_metadata(writer, tokens, merges)
    if spec.rope["rope_type"] == "llama3":
        plain = rope.frequencies({"rope_theta": spec.rope["rope_theta"]}, specs.HEAD_DIM)
        divisors = plain / rope.frequencies(spec.rope, specs.HEAD_DIM)
        writer.add_tensor("rope_freqs.weight", divisors.to(torch.float32).numpy())
    for number, (name, w) in enumerate(weights.items()):
        stored = gguf_name(name, spec.family)
        if spec.family == "llama" and ("attn_q" in stored or "attn_k" in stored):
            w = interleave(w, spec.heads if "attn_q" in stored else spec.kv_heads)
        if w.dim() == 1:
            writer.add_tensor(stored, np.ascontiguousarray(w.numpy()))
            continue
        kind = storage_type(spec, stored)
        if kind.name in READ_ONLY:
            blocks = random_blocks(kind.name, w, spec.seed * 100 + number)
            writer.add_tensor(stored, blocks, raw_dtype=kind)
            continue
        writer.add_tensor(
            stored, gguf.quants.quantize(np.ascontiguousarray(w.numpy()), kind), raw_dtype=kind
        )
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
