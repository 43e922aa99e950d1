"""Converts llama2.c's stories260K.bin to a Hugging Face folder with a golden.json beside it.

    python convert_stories260k.py stories260K.bin OUT_FOLDER [--reference greedy_ref.json]

Standard library only (Python 3.9 or later), a few seconds. Without --reference, greedy_ref.json is
looked for beside the .bin: its prompts become cases of kind "full", computed here in float64 and
checked against its logits and greedy tokens. There is no tokenizer in the folder. The schema of
golden.json is in README.md.
"""

import argparse
import json
import math
import struct
import sys
from array import array
from pathlib import Path

from scalar_llama import RMS_EPS, STEPS, THETA, greedy

LONG_PROMPT = 130  # tokens of a reference answer that serve as a longer prompt
FIELDS = ("dim", "hidden", "layers", "heads", "kv_heads", "vocab", "positions")


def read_bin(path):
    """(shape, {name: (dimensions, floats)}) by Hugging Face names; q and k still interleaved."""
    data = path.read_bytes()
    s = dict(zip(FIELDS, struct.unpack("<7i", data[:28])))
    tied, s["vocab"] = s["vocab"] > 0, abs(s["vocab"])
    s["head_dim"] = s["dim"] // s["heads"]
    floats = array("f", data[28:])
    if sys.byteorder == "big":
        floats.byteswap()
    tensors, at = {}, 0

    def take(name, *dims):
        nonlocal at
        count = math.prod(dims)
        tensors[name] = (dims, floats[at : at + count])
        at += count

    def take_layers(name, *dims):
        for layer in range(s["layers"]):
            take(f"model.layers.{layer}.{name}.weight", *dims)

    dim, hidden, kv_dim = s["dim"], s["hidden"], s["kv_heads"] * s["head_dim"]
    take("model.embed_tokens.weight", s["vocab"], dim)
    take_layers("input_layernorm", dim)
    take_layers("self_attn.q_proj", dim, dim)
    take_layers("self_attn.k_proj", kv_dim, dim)
    take_layers("self_attn.v_proj", kv_dim, dim)
    take_layers("self_attn.o_proj", dim, dim)
    take_layers("post_attention_layernorm", dim)
    take_layers("mlp.gate_proj", hidden, dim)
    take_layers("mlp.down_proj", dim, hidden)
    take_layers("mlp.up_proj", hidden, dim)
    take("model.norm.weight", dim)
    at += s["positions"] * s["head_dim"]  # cosines and sines, which nobody reads
    if not tied:
        take("lm_head.weight", s["vocab"], dim)
    if at != len(floats):
        sys.exit(f"{path}: {len(floats)} floats, but its header asks for {at}")
    return s, tensors


def half_split(tensor, head_dim):
    """Rows of q or k from neighbours (2i, 2i + 1) to pairs (i, i + head_dim / 2)."""
    (rows, columns), values = tensor
    out = array("f")
    for first in range(0, rows, head_dim):
        for i in [*range(0, head_dim, 2), *range(1, head_dim, 2)]:
            out += values[(first + i) * columns : (first + i + 1) * columns]
    return (rows, columns), out


def write_safetensors(path, tensors):
    header, at = {"__metadata__": {"format": "pt"}}, 0
    for name, (dims, values) in tensors.items():
        header[name] = {"dtype": "F32", "shape": dims, "data_offsets": [at, at + 4 * len(values)]}
        at += 4 * len(values)
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for _, values in tensors.values():
            file.write(struct.pack(f"<{len(values)}f", *values))


def config(s, tied):
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": s["vocab"],
        "hidden_size": s["dim"],
        "intermediate_size": s["hidden"],
        "num_hidden_layers": s["layers"],
        "num_attention_heads": s["heads"],
        "num_key_value_heads": s["kv_heads"],
        "head_dim": s["head_dim"],
        "hidden_act": "silu",
        "rms_norm_eps": RMS_EPS,
        "max_position_embeddings": s["positions"],
        "rope_theta": THETA,
        "rope_scaling": None,
        "attention_bias": False,
        "mlp_bias": False,
        "tie_word_embeddings": tied,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "torch_dtype": "float32",
    }


def case(name, prompt, steps):
    empty = {
        "encoding_prefix": [],
        "header": [],
        "header_offset": 0,
        "documents": [],
        "offsets": [],
    }
    return {"name": name, "kind": "full", **empty, "tail": prompt, "tail_offset": 0, "steps": steps}


def make_cases(s, tensors, reference):
    out = []
    for i, ref in enumerate(reference["cases"]):
        prompts = {f"prompt_{i}": ref["prompt_ids"]}
        if i == 0:
            prompts["long"] = ref["ids"][:LONG_PROMPT]
        for name, prompt in prompts.items():
            logits, steps = greedy(s, tensors, prompt)
            follow = ref["ids"][len(prompt) : len(prompt) + STEPS]
            assert [x["greedy"] for x in steps] == follow, (name, steps, follow)
            if prompt == ref["prompt_ids"]:
                error = max(abs(a - b) for a, b in zip(logits, ref["logits_after_prompt_first8"]))
                assert error < 1e-4, (name, error)
            out.append(case(name, prompt, steps))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bin", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--reference", type=Path)
    args = parser.parse_args()
    s, tensors = read_bin(args.bin)
    for name in tensors:
        if "q_proj" in name or "k_proj" in name:
            tensors[name] = half_split(tensors[name], s["head_dim"])
    args.out.mkdir(parents=True, exist_ok=True)
    write_safetensors(args.out / "model.safetensors", tensors)
    (args.out / "config.json").write_text(
        json.dumps(config(s, "lm_head.weight" not in tensors), indent=2) + "\n"
    )
    reference = json.loads((args.reference or args.bin.with_name("greedy_ref.json")).read_text())
    lines = ",\n".join(
        json.dumps(c, separators=(",", ":")) for c in make_cases(s, tensors, reference)
    )
    (args.out / "golden.json").write_text(f'{{"model":".",\n"cases":[\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
