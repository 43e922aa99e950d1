"""A Llama in float64 on plain Python lists, for models of some 100,000 weights.

Imported by convert_stories260k.py; nothing to run here. Standard library only.
"""

import math
from operator import mul

STEPS, TOP = 6, 8
THETA, RMS_EPS = 10000.0, 1e-5


class Model:
    """One token at a time in float64, on the tensors of the Hugging Face folder."""

    def __init__(self, s, tensors):
        self.s = s
        self.rows = {}  # name -> list of rows, or the vector itself
        for name, (dims, values) in tensors.items():
            v = values.tolist()
            width = dims[-1]
            self.rows[name] = (
                v if len(dims) == 1 else [v[i : i + width] for i in range(0, len(v), width)]
            )
        self.cache = [
            ([], []) for _ in range(s["layers"])
        ]  # rotated keys, values: [tokens][kv_dim]

    def product(self, name, x):
        return [sum(map(mul, row, x)) for row in self.rows[name + ".weight"]]

    def norm(self, name, x):
        scale = 1 / math.sqrt(sum(map(mul, x, x)) / len(x) + RMS_EPS)
        return [v * scale * w for v, w in zip(x, self.rows[name + ".weight"])]

    def rotate(self, x, position):
        d, out = self.s["head_dim"], list(x)
        for first in range(0, len(x), d):
            for i in range(d // 2):
                angle = position * THETA ** (-2 * i / d)
                a, b, cos, sin = (
                    x[first + i],
                    x[first + i + d // 2],
                    math.cos(angle),
                    math.sin(angle),
                )
                out[first + i], out[first + i + d // 2] = a * cos - b * sin, b * cos + a * sin
        return out

    def attend(self, q, keys, values):
        d, group, out = self.s["head_dim"], self.s["heads"] // self.s["kv_heads"], []
        for head in range(self.s["heads"]):
            part = slice(head // group * d, head // group * d + d)
            query = q[head * d : head * d + d]
            scores = [sum(map(mul, query, k[part])) / math.sqrt(d) for k in keys]
            top = max(scores)
            weights = [math.exp(x - top) for x in scores]
            total = sum(weights)
            out += [
                sum(map(mul, weights, column)) / total for column in zip(*(v[part] for v in values))
            ]
        return out

    def step(self, token, position):
        """Appends the token to the cache and returns its logits [vocab]."""
        x = self.rows["model.embed_tokens.weight"][token]
        for layer, (keys, values) in enumerate(self.cache):
            p = f"model.layers.{layer}."
            h = self.norm(p + "input_layernorm", x)
            keys.append(self.rotate(self.product(p + "self_attn.k_proj", h), position))
            values.append(self.product(p + "self_attn.v_proj", h))
            q = self.rotate(self.product(p + "self_attn.q_proj", h), position)
            x = list(
                map(sum, zip(x, self.product(p + "self_attn.o_proj", self.attend(q, keys, values))))
            )
            h = self.norm(p + "post_attention_layernorm", x)
            gate, up = self.product(p + "mlp.gate_proj", h), self.product(p + "mlp.up_proj", h)
            h = [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)]
            x = list(map(sum, zip(x, self.product(p + "mlp.down_proj", h))))
        head = "lm_head" if "lm_head.weight" in self.rows else "model.embed_tokens"
        return self.product(head, self.norm("model.norm", x))


def greedy(s, tensors, prompt):
    """(logits after the prompt, steps of golden.json)"""
    model, steps, first = Model(s, tensors), [], None
    for position, token in enumerate(prompt):
        logits = model.step(token, position)
    for k in range(STEPS):
        first = first or logits
        top = max(logits)
        total = top + math.log(sum(math.exp(x - top) for x in logits))
        best = sorted(range(len(logits)), key=lambda i: -logits[i])[:TOP]
        steps.append(
            {
                "top": [[i, round(logits[i] - total, 8)] for i in best],
                "greedy": best[0],
                "margin": round(logits[best[0]] - logits[best[1]], 8),
            }
        )
        if k + 1 < STEPS:
            logits = model.step(best[0], len(prompt) + k)
    return first, steps
