"""A small transformer in float64 whose keys are cached unrotated and rotated to where they stand.

Imported by make_golden.py and smollm2.py; nothing to run here. This is one of the two ways in which
every golden answer is computed; oracle.py holds the other.
"""

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F

import rope


def prompt_length(case):
    """One more than the last position of the prompt."""
    if case["kind"] == "full":
        return len(case["header"]) + sum(map(len, case["documents"])) + len(case["tail"])
    return case["tail_offset"] + len(case["tail"])


@dataclass
class Segment:
    """Cached keys and values of one piece of text, and the positions at which it is used."""

    keys: list  # per layer [tokens, kv_heads, head_dim], unrotated
    values: list  # per layer [tokens, kv_heads, head_dim]
    positions: torch.Tensor  # [tokens] int64

    def at(self, first):
        count = len(self.positions)
        return Segment(self.keys, self.values, torch.arange(first, first + count))


@dataclass
class Llama:
    weights: dict  # Hugging Face names -> float64
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    rms_eps: float
    rope: dict  # rope_parameters
    rotary_dims: int  # of a head, the first ones
    context: int  # max_position_embeddings
    interleaved: bool  # rotated pairs are (2i, 2i + 1) as in GGUF, else (i, i + rotary_dims / 2)
    window: int = 0  # a row sees keys less than so many positions before it; 0: all

    def set_length(self, case):
        """The regime of a prompt is that of its length; its answer keeps it."""
        length = prompt_length(case)
        self.frequencies = rope.frequencies(self.rope, self.rotary_dims, length)
        self.factor = rope.attention_factor(self.rope, self.context)

    def rotate(self, x, positions):
        """x: [tokens, heads, head_dim]"""
        angle = positions.double()[:, None, None] * self.frequencies
        cos, sin = angle.cos() * self.factor, angle.sin() * self.factor
        x, rest = x[..., : self.rotary_dims], x[..., self.rotary_dims :]
        if self.interleaved:
            a, b = x[..., 0::2], x[..., 1::2]
            turned = torch.stack((a * cos - b * sin, b * cos + a * sin), dim=-1).flatten(-2)
        else:
            a, b = x.chunk(2, dim=-1)
            turned = torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)
        return torch.cat((turned, rest), dim=-1)

    def head_norm(self, x, name):
        return self.norm(x, name) if name + ".weight" in self.weights else x

    def norm(self, x, name):
        return (
            x
            * (x.pow(2).mean(-1, keepdim=True) + self.rms_eps).rsqrt()
            * self.weights[name + ".weight"]
        )

    def attend(self, q, keys, values, visible):
        """q [rows, heads, d], keys and values [tokens, kv_heads, d], visible [rows, tokens]"""
        group = self.heads // self.kv_heads
        keys, values = (t.repeat_interleave(group, dim=1) for t in (keys, values))
        scores = torch.einsum("rhd,thd->hrt", q, keys) / math.sqrt(self.head_dim)
        weights = scores.masked_fill(~visible, -math.inf).softmax(-1)
        return torch.einsum("hrt,thd->rhd", weights, values).flatten(1)

    def forward(self, ids, first, segments=()):
        """Runs `ids` at positions from `first` on, over all of `segments` and causally itself.

        Returns the logits of the last row and the segment that `ids` made.
        """
        count = len(ids)
        positions = torch.arange(first, first + count)
        past = sum(len(s.positions) for s in segments)
        visible = torch.ones(count, past + count, dtype=torch.bool).tril(past)
        if self.window:
            before = [s.positions for s in segments] + [positions]
            visible &= positions[:, None] - torch.cat(before)[None, :] < self.window
        x = self.weights["model.embed_tokens.weight"][torch.tensor(ids, dtype=torch.long)]
        own = Segment([], [], positions)
        for layer in range(self.layers):
            prefix = f"model.layers.{layer}."

            def linear(x, name):
                bias = self.weights.get(f"{prefix}{name}.bias")
                return F.linear(x, self.weights[f"{prefix}{name}.weight"], bias)

            h = self.norm(x, prefix + "input_layernorm")
            q = linear(h, "self_attn.q_proj").unflatten(-1, (self.heads, -1))
            q = self.head_norm(q, prefix + "self_attn.q_norm")
            k = linear(h, "self_attn.k_proj").unflatten(-1, (self.kv_heads, -1))
            own.keys.append(self.head_norm(k, prefix + "self_attn.k_norm"))
            own.values.append(linear(h, "self_attn.v_proj").unflatten(-1, (self.kv_heads, -1)))
            seen = [*segments, own]
            keys = torch.cat([self.rotate(s.keys[layer], s.positions) for s in seen])
            values = torch.cat([s.values[layer] for s in seen])
            x = x + linear(
                self.attend(self.rotate(q, positions), keys, values, visible), "self_attn.o_proj"
            )
            h = self.norm(x, prefix + "post_attention_layernorm")
            x = x + linear(
                F.silu(linear(h, "mlp.gate_proj")) * linear(h, "mlp.up_proj"), "mlp.down_proj"
            )
        head = "lm_head" if "lm_head.weight" in self.weights else "model.embed_tokens"
        return F.linear(self.norm(x[-1], "model.norm"), self.weights[head + ".weight"]), own

    def prepare(self, case):
        """The segments that the tail of `case` sees."""
        if case["kind"] == "full":
            before = case["header"] + sum(case["documents"], [])
            return [self.forward(before, 0)[1]] if before else []
        segments = []
        if case["header"]:
            segments.append(self.forward(case["header"], case["header_offset"])[1])
        prefix = case["encoding_prefix"]
        hidden = [self.forward(prefix, -len(prefix))[1]] if prefix else []
        for document, offset in zip(case["documents"], case["offsets"]):
            segments.append(self.forward(document, 0, hidden)[1].at(offset))
        return segments

    def greedy(self, case, steps):
        """Log-probabilities [steps, vocab] after the prompt and after each greedy token fed."""
        self.set_length(case)
        segments = self.prepare(case)
        ids, position, out = case["tail"], case["tail_offset"], []
        for _ in range(steps):
            logits, own = self.forward(ids, position, segments)
            out.append(logits.log_softmax(-1))
            segments.append(own)
            position += len(ids)
            ids = [int(logits.argmax())]
        return torch.stack(out)
