"""Reads a model file or folder back into both implementations.

Imported by make_golden.py and smollm2.py; nothing to run here. What is read back, rounded or
quantized, is what the golden answers are of.
"""

import json
import math

import gguf
import torch
from safetensors.torch import load_file
from transformers import LlamaConfig, Phi3Config, Qwen2Config, Qwen3Config

import oracle
import reference
import specs
import write_gguf

CONFIGS = {"llama": LlamaConfig, "qwen2": Qwen2Config, "qwen3": Qwen3Config, "phi3": Phi3Config}


def split_fused(weights, q, kv):
    """qkv_proj and gate_up_proj as the matrices that they are made of. q, kv: rows."""
    out = {}
    for name, w in weights.items():
        if "qkv_proj" in name:
            for part, rows in zip("qkv", w.split([q, kv, kv])):
                out[name.replace("qkv_proj", part + "_proj")] = rows
        elif "gate_up_proj" in name:
            for part, rows in zip(("gate", "up"), w.chunk(2)):
                out[name.replace("gate_up_proj", part + "_proj")] = rows
        else:
            out[name] = w
    return out


def rope_of_config(config):
    """rope_parameters with every number that the formulas use."""
    rope = config.get("rope_parameters") or {
        "rope_theta": config["rope_theta"],
        **(config["rope_scaling"] or {}),
    }
    rope = {"rope_type": rope.get("type", "default"), **rope}
    if rope["rope_type"] == "su":
        rope["rope_type"] = "longrope"
    if rope["rope_type"] != "default":
        outer = config.get("original_max_position_embeddings", config["max_position_embeddings"])
        rope.setdefault("original_max_position_embeddings", outer)
    return rope


def hf_folder(path):
    """(reference.Llama, transformers' model) of a Hugging Face folder."""
    config = json.loads((path / "config.json").read_text())
    rope = rope_of_config(config)
    weights = {}
    for file in sorted(path.glob("*.safetensors")):
        weights |= {name: w.double() for name, w in load_file(file).items()}
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    part = config.get("partial_rotary_factor", rope.get("partial_rotary_factor", 1.0))
    window = config.get("sliding_window") if config.get("use_sliding_window", True) else None
    ours = reference.Llama(
        split_fused(weights, heads * head_dim, kv_heads * head_dim),
        layers=config["num_hidden_layers"],
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        rms_eps=config["rms_norm_eps"],
        rope=rope,
        rotary_dims=int(head_dim * part),
        context=config["max_position_embeddings"],
        interleaved=False,
        window=window or 0,
    )
    return ours, oracle.from_folder(path, ours, config["model_type"])


def half_split(w, heads):
    """The inverse of write_gguf.interleave."""
    return w.reshape(heads, -1, 2, *w.shape[1:]).transpose(1, 2).reshape(w.shape)


def hf_names(family, layers):
    names = {f"{b}.weight": f"{a}.weight" for a, b in write_gguf.OTHER_NAMES.items()}
    for layer in range(layers):
        for a, b in write_gguf.layer_names(family).items():
            for end in ("weight", "bias"):
                names[f"blk.{layer}.{b}.{end}"] = f"model.layers.{layer}.{a}.{end}"
    return names


def gguf_file(path):
    """(reference.Llama, transformers' model) of a GGUF file.

    The former keeps a llama file's interleaved rows and rotates neighbours; the latter gets Hugging
    Face's row order.
    """
    reader = gguf.GGUFReader(path)
    family = reader.fields["general.architecture"].contents()

    def get(key, default=None):
        field = reader.fields.get(f"{family}.{key}")
        return default if field is None else field.contents()

    heads, kv_heads = get("attention.head_count"), get("attention.head_count_kv")
    head_dim = get("attention.key_length", get("embedding_length") // heads)
    names, weights, tensors = hf_names(family, get("block_count")), {}, {}
    for tensor in reader.tensors:
        values = torch.from_numpy(gguf.quants.dequantize(tensor.data, tensor.tensor_type).copy())
        if tensor.name.startswith("rope_"):
            tensors[tensor.name.removesuffix(".weight")] = values
        else:
            weights[names[tensor.name]] = values.double()
    rope = rope_of_gguf(get, tensors)
    rotary = get("rope.dimension_count", head_dim)
    ours = reference.Llama(
        split_fused(weights, heads * head_dim, kv_heads * head_dim),
        layers=get("block_count"),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        rms_eps=get("attention.layer_norm_rms_epsilon"),
        rope=rope,
        rotary_dims=rotary,
        context=get("context_length"),
        interleaved=family == "llama",
        window=get("attention.sliding_window", 0),
    )
    extra = {} if family == "phi3" else {"head_dim": head_dim}
    if family == "llama":
        biases = "model.layers.0.self_attn.q_proj.bias" in weights
        extra |= {"attention_bias": biases, "mlp_bias": biases}
    if family == "phi3":
        extra["sliding_window"] = ours.window or None
        extra["pad_token_id"] = None
        if "original_max_position_embeddings" in rope:
            extra["original_max_position_embeddings"] = rope["original_max_position_embeddings"]
    config = CONFIGS[family](
        vocab_size=weights["model.embed_tokens.weight"].shape[0],
        hidden_size=get("embedding_length"),
        intermediate_size=get("feed_forward_length"),
        num_hidden_layers=ours.layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        rms_norm_eps=ours.rms_eps,
        max_position_embeddings=get("context_length"),
        tie_word_embeddings="lm_head.weight" not in weights,
        rope_parameters=llama3_or_its_own(rope) | {"partial_rotary_factor": rotary / head_dim},
        **extra,
    )
    reordered = dict(weights)
    for name, w in weights.items():
        if family == "llama" and ("q_proj" in name or "k_proj" in name):
            reordered[name] = half_split(w, heads if "q_proj" in name else kv_heads)
    return ours, oracle.from_weights(config, reordered, ours)


def rope_of_gguf(get, tensors):
    """rope_parameters of a GGUF file's metadata and tensors."""
    rope = {"rope_theta": get("rope.freq_base")}
    if "rope_freqs" in tensors:
        return rope | {"divisors": tensors["rope_freqs"]}
    attention = get("rope.scaling.attn_factor", 1.0)
    original = get("rope.scaling.original_context_length", get("context_length"))
    if "rope_factors_long" in tensors:
        return rope | {
            "rope_type": "longrope",
            "short_factor": tensors["rope_factors_short"].tolist(),
            "long_factor": tensors["rope_factors_long"].tolist(),
            "original_max_position_embeddings": original,
            "attention_factor": attention,
        }
    kind, factor = get("rope.scaling.type", "none"), get("rope.scaling.factor")
    if kind == "none":
        return rope | {"rope_type": "default"}
    rope |= {"rope_type": kind, "factor": factor}
    if kind == "yarn":
        rope["original_max_position_embeddings"] = original
        # What llama.cpp computes: the file's factor times the paper's.
        rope["attention_factor"] = attention * (1 + 0.1 * math.log(factor))
    return rope


def llama3_or_its_own(rope):
    """rope_parameters of a file; one with rope_freqs is a tiny model with specs.LLAMA3."""
    if "divisors" not in rope:
        return rope
    assert rope["rope_theta"] == specs.LLAMA3["rope_theta"]
    return specs.LLAMA3
