"""Writes models/repair_hf, models/repair_window_hf and what every repair method does on them.

    pip install numpy
    python make_repair_golden.py     # a few seconds; the same bytes each time

The models have six layers, so that nested targets have depths to differ in; the second has a sliding
window. Cases are drawn again until every choice of tokens is decided by a relative distance of 3e-5
(float32 is within 1e-6) and stitching moves some log-probability by 0.05 nats.
"""

import json
import struct
from pathlib import Path

import numpy as np

import repair_reading as reading

MODELS = Path(__file__).resolve().parent / "models"
LAYERS, VOCAB, HIDDEN, FFN, HEADS, KV_HEADS, HEAD_DIM = 6, 64, 32, 48, 4, 2, 16
MIN_GAP, MIN_EFFECT = 3e-5, 0.05


def random_weights(rng):
    """Scales as in specs.py: attention is peaked, and each block adds what cannot be left out."""

    def matrix(rows, columns, std):
        return (rng.standard_normal((rows, columns)) * std).astype(np.float16)

    def norm():
        return (1 + 0.2 * rng.standard_normal(HIDDEN)).astype(np.float16)

    weights = {"model.embed_tokens.weight": matrix(VOCAB, HIDDEN, 0.8)}
    for layer in range(LAYERS):
        prefix = f"model.layers.{layer}."
        weights |= {
            prefix + "input_layernorm.weight": norm(),
            prefix + "self_attn.q_proj.weight": matrix(HEADS * HEAD_DIM, HIDDEN, 0.25),
            prefix + "self_attn.k_proj.weight": matrix(KV_HEADS * HEAD_DIM, HIDDEN, 0.25),
            prefix + "self_attn.v_proj.weight": matrix(KV_HEADS * HEAD_DIM, HIDDEN, 0.25),
            prefix + "self_attn.o_proj.weight": matrix(HIDDEN, HEADS * HEAD_DIM, 0.15),
            prefix + "post_attention_layernorm.weight": norm(),
            prefix + "mlp.gate_proj.weight": matrix(FFN, HIDDEN, 0.25),
            prefix + "mlp.up_proj.weight": matrix(FFN, HIDDEN, 0.25),
            prefix + "mlp.down_proj.weight": matrix(HIDDEN, FFN, 0.15),
        }
    return weights | {
        "model.norm.weight": norm(),
        "lm_head.weight": matrix(VOCAB, HIDDEN, 0.4),
    }


def write_folder(path, weights, window):
    path.mkdir(exist_ok=True)
    header, data = {}, b""
    for name, w in weights.items():
        header[name] = {"dtype": "F16", "shape": list(w.shape), "data_offsets": [len(data), len(data) + w.nbytes]}
        data += w.tobytes()
    head = json.dumps(header, separators=(",", ":")).encode()
    head += b" " * (-len(head) % 8)
    (path / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + data)
    config = {
        "architectures": ["MistralForCausalLM" if window else "LlamaForCausalLM"],
        "model_type": "mistral" if window else "llama",
        "vocab_size": VOCAB,
        "hidden_size": HIDDEN,
        "intermediate_size": FFN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_DIM,
        "hidden_act": "silu",
        "rms_norm_eps": 1e-05,
        "max_position_embeddings": 131072,
        "tie_word_embeddings": False,
        "bos_token_id": 1,
        "eos_token_id": 2,
        "torch_dtype": "float16",
        "rope_theta": 10000.0,
        "rope_scaling": None,
    }
    if window:
        config["sliding_window"] = window
    (path / "config.json").write_text(json.dumps(config, indent=2) + "\n")


def prompts(ids):
    """name -> (pieces, encoding prefix)"""
    text, doc = lambda n: ("text", ids(n)), lambda n: ("document", ids(n))
    x, y = doc(23), doc(37)
    return {
        "plain": ([("text", [1, *ids(3)]), doc(41), doc(9), doc(30), doc(24), text(6)], [1]),
        "duplicates": ([("text", [1, *ids(2)]), x, y, x, text(5)], [1]),
        "text_between": ([("text", [1, *ids(3)]), doc(20), text(7), doc(35), text(4), doc(16), text(5)], [1]),
        "no_header": ([doc(30), doc(33), text(6)], []),
        "long": ([("text", [1, *ids(5)]), doc(150), doc(201), doc(37), text(12)], [1]),
    }


def shuffled(seed, tokens):
    """SplitMix64 and Fisher-Yates, as src/repair/methods/random.cc."""
    mask, state, order = (1 << 64) - 1, seed, list(range(tokens))
    for i in range(tokens, 1, -1):
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        j = (z ^ (z >> 31)) % i
        order[i - 1], order[j] = order[j], order[i - 1]
    return order


def results(repair):
    """method -> (h, log-probabilities)"""
    p, layers = repair.prompt, repair.model.layers
    piece = p.piece[p.documents]
    place = np.array([np.sum(piece[:i] == c) for i, c in enumerate(piece)])
    chunk = np.cumsum(np.concatenate(([0], np.diff(piece) != 0)))
    a = repair.scores()
    mean = a.mean(0)
    out = {}

    def add(method, h, **context):
        out[method] = (h, repair.recompute(h, **context))

    # The same document twice in a row would be one piece to these numbers; no prompt has that.
    for k in (3, 16):
        add(f"epic:{k}", repair.same_in_all(np.flatnonzero((chunk > 0) & (place < k))))
    for r in (0.05, 0.2, 1):
        add(f"prophetkv:{r}", repair.same_in_all(repair.top(mean, repair.count(r))))
    add(
        "prophetkv:0.2:spans=1:context=own+union",
        repair.same_in_all(repair.top(repair.spans(mean, 1), repair.count(0.2))),
        context="own+union",
    )
    documents = repair.scores(of_documents=True)
    add(
        "prophetkv:0.1:softmax=documents",
        repair.same_in_all(repair.top(documents.mean(0), repair.count(0.1))),
    )
    last = repair.scores(rows=1)
    add(
        "prophetkv:0.1:rows=1:anchors=3",
        repair.same_in_all(
            np.union1d(
                repair.top(last.mean(0), repair.count(0.1)),
                np.flatnonzero((chunk > 0) & (place < 3)),
            )
        ),
    )
    for r in (0.02, 0.15, 1):
        h = repair.closure(repair.anchors(a, r))
        add(f"relaxkv:{r}", h, context="union", header=False)
    h = repair.closure(repair.anchors(a, 0.1))
    add("relaxkv:0.1:header=1", h, context="union")
    add("relaxkv:0.1:context=own+union", h, context="own+union", header=False)
    add("relaxkv:0.1:context=causal", h)
    add(
        "relaxkv:0.1:nested=0",
        np.where(h >= 0, layers - 1, -1),
        context="union",
        header=False,
    )
    add(
        "relaxkv:0.1:softmax=documents",
        repair.closure(repair.anchors(documents, 0.1)),
        context="union",
        header=False,
    )
    add(
        "relaxkv:0.1:layers=upper",
        repair.closure(repair.anchors(a, 0.1, first_layer=layers // 2)),
        context="union",
        header=False,
    )
    add("relaxkv:0.1:sinks=2", h, context="union", header=False, extra=np.flatnonzero(place < 2))
    local = [i - b for i in np.flatnonzero(h >= 0) for b in (1, 2, 3) if place[i] >= b]
    add("relaxkv:0.1:local=3", h, context="union", header=False, extra=local)
    for r in (0.05, 0.3):
        add(f"weave:{r}:context=own+union:layers=all", repair.closure(repair.anchors(a, r)), context="own+union")
    add(
        "weave:0.05:spans=2:context=own+union:layers=all",
        repair.closure(repair.anchors(a, 0.05, 2)),
        context="own+union",
    )
    add(
        "weave:0.1:layers=upper:context=own+union",
        repair.closure(repair.anchors(a, 0.1, first_layer=layers // 2)),
        context="own+union",
    )
    add("weave:0.1:layers=all", h)  # a short prompt: everything before a target
    add("weave:0.05:layers=joint", repair.joint(a, 0.05))
    add("weave:0.05:layers=joint-late", repair.joint(a, 0.05, late=True))
    add(
        "weave:0.03:rows=2:layers=joint:context=own+union",
        repair.joint(repair.scores(rows=2), 0.03),
        context="own+union",
    )
    h = repair.closure(repair.anchors(last, 0.05))
    h[(chunk > 0) & (place < 2)] = layers - 1
    add("relaxkv:0.05:rows=1:anchors=2", h, context="union", header=False)
    # With a window, values far inside a document do not change: a larger ratio would choose by noise.
    for r in (0.05, 0.1 if repair.model.window else 0.3):
        out[f"cacheblend:{r}"] = repair.cacheblend(r)
        out[f"cacheblend:{r}:mask=released"] = repair.cacheblend(r, released=True)
    chosen = shuffled(7, len(piece))[: repair.count(0.2)]
    add("random:0.2:seed=7", repair.same_in_all(chosen))
    return out


def targets(h, layers):
    return [np.flatnonzero(h >= layer).tolist() for layer in range(layers)]


def best(logprobs, count=8):
    order = np.argsort(-logprobs)[:count]
    return [[int(i), round(float(logprobs[i]), 8)] for i in order]


def draw(model, rng, name):
    """A case and its results, decisive in all of its choices."""
    for _ in range(100):
        pieces, prefix = prompts(lambda n: rng.integers(3, VOCAB, n).tolist())[name]
        repair = reading.Repair(model, reading.Prompt(pieces, prefix))
        full, reuse = repair.full(), repair.answer(repair.keys, repair.values)
        found = results(repair)
        effect = np.abs(full - reuse).max()
        if repair.gap >= MIN_GAP and effect >= MIN_EFFECT:
            return {
                "name": name,
                "pieces": [{kind: ids} for kind, ids in pieces],
                "encoding_prefix": prefix,
                "full": best(full),
                "reuse": best(reuse),
                "methods": [
                    {"method": method, "targets": targets(h, model.layers), "top": best(logprobs)}
                    for method, (h, logprobs) in found.items()
                ],
            }
    raise AssertionError(f"{name} is never decisive")


def main():
    for name, window, seed in (("repair_hf", 0, 31), ("repair_window_hf", 45, 32)):
        rng = np.random.default_rng(seed)
        weights = random_weights(rng)
        write_folder(MODELS / name, weights, window)
        model = reading.Model(
            {key: w.astype(np.float64) for key, w in weights.items()},
            LAYERS,
            HEADS,
            KV_HEADS,
            HEAD_DIM,
            1e-5,
            10000.0,
            window,
        )
        cases = [draw(model, rng, case) for case in prompts(lambda n: [0] * n)]
        lines = ",\n".join(json.dumps(case, separators=(",", ":")) for case in cases)
        text = f'{{"model":"{name}",\n"cases":[\n{lines}\n]}}\n'
        (MODELS / f"{name}.golden.json").write_text(text, encoding="ascii")
        print(f"{name}: {len(cases)} cases, {len(text)} bytes", flush=True)


if __name__ == "__main__":
    main()
