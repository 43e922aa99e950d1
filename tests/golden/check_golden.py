"""Compares golden files with transformers as anybody has it, in float32 and with its own loaders.

    python check_golden.py models/*.golden.json [FOLDER/golden.json ...]

Only cases of kind "full" can be asked of it. Models that are not here (SmolLM2) are passed over,
and so are GGUF files whose RoPE transformers' loader ignores, and dynamic NTK, whose base it moves
with each token.
"""

import json
import sys
from pathlib import Path

import gguf
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

BOUND = 1e-4  # log-probability, float32 against float64


def load(path):
    """(model, tokenizer or None)"""
    options = {"dtype": torch.float32}
    if path.is_dir():
        has_tokenizer = (path / "tokenizer.json").exists()
        tokenizer = AutoTokenizer.from_pretrained(path) if has_tokenizer else None
        return AutoModelForCausalLM.from_pretrained(path, **options), tokenizer
    source = {"pretrained_model_name_or_path": path.parent, "gguf_file": path.name}
    return AutoModelForCausalLM.from_pretrained(**source, **options), AutoTokenizer.from_pretrained(
        **source
    )


def passed_over(path):
    if not path.exists():
        return "not here"
    if path.is_dir():
        dynamic = '"dynamic"' in (path / "config.json").read_text()
        return "dynamic NTK" if dynamic else None
    reader = gguf.GGUFReader(path)
    if any(t.name.startswith("rope_") for t in reader.tensors):
        return "has factors of its frequencies"
    if any("rope.scaling" in name for name in reader.fields):
        return "has a scaling"
    if "tokenizer.ggml.model" not in reader.fields:
        return "has no tokenizer, which the loader wants"
    return None


@torch.no_grad()
def worst_step(model, case):
    """The largest difference of a listed log-probability; greedy tokens must be equal."""
    ids, worst = case["header"] + sum(case["documents"], []) + case["tail"], 0.0
    for step in case["steps"]:
        logprobs = model(torch.tensor([ids])).logits[0, -1].log_softmax(-1)
        assert int(logprobs.argmax()) == step["greedy"], case["name"]
        worst = max(worst, *(abs(logprobs[i].item() - x) for i, x in step["top"]))
        ids.append(step["greedy"])
    return worst


def check_texts(tokenizer, golden):
    for row in golden.get("tokenizer", []):
        for key, split in (("ids", False), ("ids_plain", True)):
            ids = tokenizer.encode(
                row["text"], add_special_tokens=False, split_special_tokens=split
            )
            assert ids == row[key], (row["text"], key)
    for row in golden.get("chat", []):
        options = {"tokenize": False, "add_generation_prompt": row["add_generation_prompt"]}
        assert tokenizer.apply_chat_template(row["messages"], **options) == row["text"]


def main(files):
    torch.set_num_threads(1)
    for file in files:
        golden = json.loads(file.read_text())
        path = file.parent / golden["model"]
        if reason := passed_over(path):
            print(f"{file}: passed over, {reason}")
            continue
        model, tokenizer = load(path)
        if tokenizer:
            check_texts(tokenizer, golden)
        cases = [c for c in golden["cases"] if c["kind"] == "full" and "limit" not in c["name"]]
        worst = max(worst_step(model, case) for case in cases)
        assert worst < BOUND, (file, worst)
        print(f"{file}: {len(cases)} cases, worst difference {worst:.1e}")


if __name__ == "__main__":
    main([Path(f) for f in sys.argv[1:]])
