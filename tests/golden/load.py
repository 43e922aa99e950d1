"""Reads a model file or folder back into both implementations.

Imported by make_golden.py and smollm2.py; nothing to run here. What is read back, rounded or
quantized, is what the golden answers are of.
"""

import json

import gguf
import torch
from safetensors.torch import load_file
from transformers import LlamaConfig

import oracle
import reference
import specs
import write_gguf


def hf_folder(path):
    """(reference.Llama, LlamaForCausalLM) of a Hugging Face folder."""
    config = json.loads((path / "config.json").read_text())
    rope = config.get("rope_parameters") or {
        "rope_theta": config["rope_theta"],
        **(config["rope_scaling"] or {}),
    }
    weights = {}
    for file in sorted(path.glob("*.safetensors")):
        weights |= {name: w.double() for name, w in load_file(file).items()}
    ours = reference.Llama(
        weights,
        layers=config["num_hidden_layers"],
        heads=config["num_attention_heads"],
        kv_heads=config["num_key_value_heads"],
        head_dim=config["head_dim"],
        rms_eps=config["rms_norm_eps"],
        frequencies=reference.inverse_frequencies(rope, config["head_dim"]),
        interleaved=False,
    )
    return ours, oracle.from_folder(path, ours.frequencies)


def half_split(w, heads):
    """The inverse of write_gguf.interleave."""
    return w.reshape(heads, -1, 2, w.shape[1]).transpose(1, 2).reshape(w.shape)


def hf_names(layers):
    names = {f"{b}.weight": f"{a}.weight" for a, b in write_gguf.OTHER_NAMES.items()}
    for layer in range(layers):
        for a, b in write_gguf.LAYER_NAMES.items():
            names[f"blk.{layer}.{b}.weight"] = f"model.layers.{layer}.{a}.weight"
    return names


def gguf_file(path):
    """(reference.Llama, LlamaForCausalLM) of a GGUF file.

    The former keeps the file's interleaved rows and rotates neighbours; the latter gets Hugging
    Face's row order.
    """
    reader = gguf.GGUFReader(path)

    def get(key, default=None):
        field = reader.fields.get(f"llama.{key}")
        return default if field is None else field.contents()

    heads, kv_heads = get("attention.head_count"), get("attention.head_count_kv")
    head_dim = get("attention.key_length", get("embedding_length") // heads)
    names, rope, weights = hf_names(get("block_count")), {"rope_theta": get("rope.freq_base")}, {}
    for tensor in reader.tensors:
        values = torch.from_numpy(gguf.quants.dequantize(tensor.data, tensor.tensor_type).copy())
        if tensor.name == "rope_freqs.weight":
            rope["divisors"] = values
        else:
            weights[names[tensor.name]] = values.double()
    ours = reference.Llama(
        weights,
        layers=get("block_count"),
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        rms_eps=get("attention.layer_norm_rms_epsilon"),
        frequencies=reference.inverse_frequencies(rope, head_dim),
        interleaved=True,
    )
    config = LlamaConfig(
        vocab_size=weights["model.embed_tokens.weight"].shape[0],
        hidden_size=get("embedding_length"),
        intermediate_size=get("feed_forward_length"),
        num_hidden_layers=ours.layers,
        num_attention_heads=heads,
        num_key_value_heads=kv_heads,
        head_dim=head_dim,
        rms_norm_eps=ours.rms_eps,
        max_position_embeddings=get("context_length"),
        tie_word_embeddings="lm_head.weight" not in weights,
        rope_parameters=llama3_or_plain(rope),
    )
    reordered = dict(weights)
    for name, w in weights.items():
        if "q_proj" in name or "k_proj" in name:
            reordered[name] = half_split(w, heads if "q_proj" in name else kv_heads)
    return ours, oracle.from_weights(config, reordered, ours.frequencies)


def llama3_or_plain(rope):
    """rope_parameters of a file; one with rope_freqs is a tiny model with specs.LLAMA3."""
    if "divisors" not in rope:
        return {"rope_type": "default", **rope}
    assert rope["rope_theta"] == specs.LLAMA3["rope_theta"]
    return specs.LLAMA3
