"""Writes the tiny models and their golden answers into tests/golden/models.

    pip install -r requirements.txt
    OMP_NUM_THREADS=1 python make_golden.py            # all models
    OMP_NUM_THREADS=1 python make_golden.py llama_f32  # some

The same versions write the same bytes. Answers are computed twice in float64 and must agree to
1e-9: by reference.py, which caches, moves and rotates as the engine does, and by transformers in
one masked pass (oracle.py).
"""

import json
import shutil
import sys
from pathlib import Path

import torch

import cases
import load
import small_tokenizer
import specs
import text_cases
import write_gguf
import write_hf

MODELS = Path(__file__).resolve().parent / "models"


def write_model(spec, tokens, merges):
    """Returns the path that was written."""
    weights = specs.random_weights(spec)
    if spec.form == "gguf":
        path = MODELS / f"{spec.name}.gguf"
        write_gguf.write(path, spec, weights, tokens, merges)
        return path
    path = MODELS / spec.name
    shutil.rmtree(path, ignore_errors=True)
    write_hf.write(path, spec, weights, tokens, merges)
    return path


def write_golden(path, model, lists):
    """One object; each element of each list stands on a line of its own."""
    compact = {"ensure_ascii": True, "separators": (",", ":")}
    parts = [f'"model":{json.dumps(model)}']
    for key, items in lists.items():
        lines = ",\n".join(json.dumps(item, **compact) for item in items)
        parts.append(f'"{key}":[\n{lines}\n]')
    path.write_text("{" + ",\n".join(parts) + "}\n", encoding="ascii")


def main(names):
    torch.set_num_threads(1)
    tokens, merges = small_tokenizer.small_vocabulary()
    assert len(tokens) == len(set(tokens)) == specs.VOCAB
    tokenizer = small_tokenizer.build(tokens, merges, small_tokenizer.SPECIAL)
    fast = small_tokenizer.fast(tokenizer, small_tokenizer.CHAT_TEMPLATE)
    MODELS.mkdir(exist_ok=True)
    for spec in specs.SPECS:
        if names and spec.name not in names:
            continue
        path = write_model(spec, tokens, merges)
        ours, theirs = load.gguf_file(path) if spec.form == "gguf" else load.hf_folder(path)
        lists = {"cases": cases.draw(spec, ours, theirs)}
        if spec.many_cases:
            lists |= text_cases.make(fast)
        write_golden(MODELS / f"{spec.name}.golden.json", path.name, lists)
        margin = min(step["margin"] for case in lists["cases"] for step in case["steps"])
        print(
            f"{path.name}: {len(lists['cases'])} cases, smallest margin {margin:.3f} nats",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
