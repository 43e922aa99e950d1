"""Writes a tiny model as a Hugging Face folder. Imported by make_golden.py; nothing to run here."""

import json

import torch
from safetensors.torch import save_file

import small_tokenizer
import specs

TORCH = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


CLASSES = {
    "llama": "LlamaForCausalLM",
    "mistral": "MistralForCausalLM",
    "qwen2": "Qwen2ForCausalLM",
    "qwen3": "Qwen3ForCausalLM",
    "phi3": "Phi3ForCausalLM",
}


def config(spec):
    """config.json with RoPE in the spelling before transformers 5 ("old") or since ("new")."""
    out = {
        "architectures": [CLASSES[spec.family]],
        "model_type": spec.family,
        "vocab_size": spec.vocab,
        "hidden_size": spec.hidden,
        "intermediate_size": spec.intermediate,
        "num_hidden_layers": spec.layers,
        "num_attention_heads": spec.heads,
        "num_key_value_heads": spec.kv_heads,
        "head_dim": spec.head_dim,
        "hidden_act": "silu",
        "rms_norm_eps": specs.RMS_EPS,
        "max_position_embeddings": spec.context,
        "attention_bias": spec.biases == "all",
        "mlp_bias": spec.biases == "all",
        "tie_word_embeddings": spec.tied,
        "bos_token_id": small_tokenizer.BOS,
        "eos_token_id": small_tokenizer.EOS,
    }
    rope = dict(spec.rope)
    if spec.family != "llama":  # what the family's own files do not have
        del out["attention_bias"], out["mlp_bias"]
    if spec.family in ("qwen2", "qwen3"):
        out |= {"use_sliding_window": False, "sliding_window": 4096, "max_window_layers": 1}
    if spec.family in ("mistral", "phi3"):
        out["sliding_window"] = spec.window or None
    if spec.family == "phi3":
        del out["head_dim"]
        out |= {"partial_rotary_factor": spec.rotary_dims / spec.head_dim, "pad_token_id": 0}
        if rope["rope_type"] == "longrope":
            out["original_max_position_embeddings"] = rope.pop("original_max_position_embeddings")
    dtype = str(TORCH[spec.dtype]).removeprefix("torch.")
    if spec.rope_spelling == "new":
        return out | {"dtype": dtype, "rope_parameters": rope}
    scaling = {k: v for k, v in rope.items() if k != "rope_theta"}
    if scaling == {"rope_type": "default"}:
        scaling = None
    elif spec.family != "llama":  # the key before rope_type
        scaling = {"type" if k == "rope_type" else k: v for k, v in scaling.items()}
    return out | {"torch_dtype": dtype, "rope_theta": rope["rope_theta"], "rope_scaling": scaling}


def write_json(path, value, indent=2):
    text = json.dumps(
        value, indent=indent, ensure_ascii=False, separators=None if indent else (",", ":")
    )
    path.write_text(text + "\n", encoding="utf-8")


def write_weights(folder, spec, weights):
    """One model.safetensors, or `shards` of them, layers kept whole, with an index."""
    stored = {name: w.to(TORCH[spec.dtype]).contiguous() for name, w in weights.items()}
    if spec.shards == 1:
        save_file(stored, folder / "model.safetensors", metadata={"format": "pt"})
        return
    names = list(stored)
    groups = [
        names[i * len(names) // spec.shards : (i + 1) * len(names) // spec.shards]
        for i in range(spec.shards)
    ]
    weight_map = {}
    for i, group in enumerate(groups):
        file = f"model-{i + 1:05d}-of-{spec.shards:05d}.safetensors"
        save_file({name: stored[name] for name in group}, folder / file, metadata={"format": "pt"})
        weight_map |= {name: file for name in group}
    total = sum(w.numel() * w.element_size() for w in stored.values())
    write_json(
        folder / "model.safetensors.index.json",
        {"metadata": {"total_size": total}, "weight_map": weight_map},
    )


def write_tokenizer(folder, tokens, merges):
    tokenizer = small_tokenizer.build(tokens, merges, small_tokenizer.SPECIAL)
    write_json(folder / "tokenizer.json", json.loads(tokenizer.to_str()), indent=None)
    special = small_tokenizer.SPECIAL
    write_json(
        folder / "tokenizer_config.json",
        {
            "tokenizer_class": "GPT2Tokenizer",
            "add_prefix_space": False,
            "clean_up_tokenization_spaces": False,
            "bos_token": special[small_tokenizer.BOS],
            "eos_token": special[small_tokenizer.EOS],
            "unk_token": special[0],
            "pad_token": special[small_tokenizer.EOS],
            "model_max_length": specs.MAX_POSITIONS,
            "added_tokens_decoder": {
                str(i): {
                    "content": t,
                    "lstrip": False,
                    "normalized": False,
                    "rstrip": False,
                    "single_word": False,
                    "special": True,
                }
                for i, t in enumerate(special)
            },
            "chat_template": small_tokenizer.CHAT_TEMPLATE,
        },
    )
    write_json(
        folder / "generation_config.json",
        {
            "bos_token_id": small_tokenizer.BOS,
            "eos_token_id": small_tokenizer.EOS,
            "pad_token_id": small_tokenizer.EOS,
            "temperature": 0.7,
            "top_p": 0.9,
            "do_sample": True,
        },
    )


def write(path, spec, weights, tokens, merges):
    path.mkdir(parents=True, exist_ok=True)
    write_json(path / "config.json", config(spec))
    write_weights(path, spec, weights)
    for file in path.glob("*.safetensors"):
        file.chmod(0o644)  # save_file leaves 0600
    if spec.tokenizer:
        write_tokenizer(path, tokens, merges)
