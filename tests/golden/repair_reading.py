"""The repair methods read literally, in NumPy and float64, on whole matrices.

Imported by make_repair_golden.py; nothing to run here. Nothing is packed, gathered or cut: a layer's
keys are one array over the whole prompt, contexts are boolean masks over it, and every token's
positions are 0, 1, 2, ... in the prompt. Papers: RelaxKV 2609.33503, ProphetKV 2602.02579, CacheBlend
2405.16444, EPIC 2410.15332; weave: docs/repair.md.
"""

from dataclasses import dataclass, field

import numpy as np


@dataclass
class Model:
    weights: dict  # Hugging Face names -> float64
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    rms_eps: float
    theta: float
    window: int = 0  # a row sees keys less than so many positions before it; 0: all

    def rotate(self, x, positions):
        """x: [tokens, heads, head_dim]; the pairs are (i, i + head_dim / 2)."""
        half = self.head_dim // 2
        angle = np.asarray(positions, float)[:, None] * self.theta ** (-np.arange(half) / half)
        cos, sin = np.cos(angle)[:, None], np.sin(angle)[:, None]
        a, b = x[..., :half], x[..., half:]
        return np.concatenate((a * cos - b * sin, b * cos + a * sin), axis=-1)

    def norm(self, x, name):
        scale = np.sqrt((x**2).mean(-1, keepdims=True) + self.rms_eps)
        return x / scale * self.weights[name + ".weight"]

    def embed(self, ids):
        return self.weights["model.embed_tokens.weight"][np.asarray(ids, int)]

    def linear(self, x, layer, name):
        return x @ self.weights[f"model.layers.{layer}.{name}.weight"].T

    def project(self, x, layer, positions):
        """Queries, keys and values of rows, rotated at their positions."""
        h = self.norm(x, f"model.layers.{layer}.input_layernorm")
        q, k, v = (
            self.linear(h, layer, f"self_attn.{p}_proj").reshape(len(x), -1, self.head_dim)
            for p in "qkv"
        )
        return self.rotate(q, positions), self.rotate(k, positions), v

    def weights_of(self, q, keys, visible):
        """Attention [heads, rows, keys]."""
        keys = keys.repeat(self.heads // self.kv_heads, axis=1)
        scores = np.einsum("rhd,thd->hrt", q, keys) / np.sqrt(self.head_dim)
        scores = np.where(visible, scores, -np.inf)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def rest(self, x, layer, q, keys, values, visible):
        """Attention and MLP: what leaves the layer, and the attention."""
        attention = self.weights_of(q, keys, visible)
        values = values.repeat(self.heads // self.kv_heads, axis=1)
        o = np.einsum("hrt,thd->rhd", attention, values).reshape(len(x), -1)
        x = x + self.linear(o, layer, "self_attn.o_proj")
        h = self.norm(x, f"model.layers.{layer}.post_attention_layernorm")
        gate, up = self.linear(h, layer, "mlp.gate_proj"), self.linear(h, layer, "mlp.up_proj")
        x = x + self.linear(gate / (1 + np.exp(-gate)) * up, layer, "mlp.down_proj")
        return x, attention

    def visible(self, rows, keys):
        """By position: [rows, keys]"""
        rows, keys = np.asarray(rows)[:, None], np.asarray(keys)[None, :]
        see = keys <= rows
        if self.window:
            see = see & (rows - keys < self.window)
        return see

    def run(self, ids, first, past_keys, past_values, past_positions):
        """Rows at `first`.. over the past and themselves: logits of the last, K and V a layer (rotated
        at these positions), attention a layer."""
        positions = np.arange(first, first + len(ids))
        see = self.visible(positions, np.concatenate((past_positions, positions)))
        x, keys, values, attention = self.embed(ids), [], [], []
        for layer in range(self.layers):
            q, k, v = self.project(x, layer, positions)
            keys.append(k)
            values.append(v)
            x, a = self.rest(
                x,
                layer,
                q,
                np.concatenate((past_keys[layer], k)),
                np.concatenate((past_values[layer], v)),
                see,
            )
            attention.append(a)
        logits = self.norm(x[-1:], "model.norm") @ self.weights["lm_head.weight"].T
        return logits[0], keys, values, attention


@dataclass
class Prompt:
    """Pieces of token ids, each text or a document; the last is the question."""

    pieces: list  # of ("text" | "document", ids)
    encoding_prefix: list

    ids: list = field(default_factory=list)
    piece: list = field(default_factory=list)  # of each token

    def __post_init__(self):
        for number, (_, ids) in enumerate(self.pieces):
            self.ids += ids
            self.piece += [number] * len(ids)
        self.ids, self.piece = np.array(self.ids), np.array(self.piece)
        self.question = len(self.ids) - len(self.pieces[-1][1])  # where it begins
        self.is_document = np.array([self.pieces[p][0] == "document" for p in self.piece])
        self.documents = np.flatnonzero(self.is_document)  # positions of documents' tokens
        before = np.arange(len(self.ids)) < self.question
        # Text behind a document depends on the repair.
        self.between = np.flatnonzero(
            before & ~self.is_document & (np.arange(len(self.ids)) > self.documents[0])
        )


class Repair:
    """The stitched cache of a prompt, and what methods do to it."""

    def __init__(self, model, prompt):
        self.model, self.prompt = model, prompt
        width = (0, model.kv_heads, model.head_dim)
        empty = [np.zeros(width) for _ in range(model.layers)]
        prefix = prompt.encoding_prefix
        keys, values = list(empty), list(empty)
        first = 0
        for kind, ids in prompt.pieces[:-1]:
            if kind == "text":
                k, v = model.run(ids, first, keys, values, np.arange(first))[1:3]
            else:
                pk, pv = model.run(prefix, -len(prefix), empty, empty, [])[1:3] if prefix else (empty,) * 2
                k, v = model.run(ids, 0, pk, pv, np.arange(-len(prefix), 0))[1:3]
                # Rotations add up: from 0.. to where the document stands.
                k = [model.rotate(layer, np.full(len(ids), first)) for layer in k]
            keys = [np.concatenate(pair) for pair in zip(keys, k)]
            values = [np.concatenate(pair) for pair in zip(values, v)]
            first += len(ids)
        self.keys, self.values = keys, values
        self.gap = np.inf  # the smallest relative distance of a chosen score from one that was not

    def ask(self, keys, values):
        p = self.prompt
        return self.model.run(p.pieces[-1][1], p.question, keys, values, np.arange(p.question))

    def scores(self, of_documents=False, rows=0):
        """[layers, document tokens]: mean over heads and (the last `rows`) question tokens."""
        out = []
        for a in self.ask(self.keys, self.values)[3]:
            a = a[:, -rows:, self.prompt.documents]
            if of_documents:
                a = a / a.sum(-1, keepdims=True)
            out.append(a.mean((0, 1)))
        return np.array(out)

    def count(self, ratio):
        return 0 if ratio == 0 else max(1, int(np.floor(ratio * len(self.prompt.documents) + 0.5)))

    def top(self, scores, count):
        """Document tokens (numbered through) with the highest scores; ties to the lower index."""
        order = np.argsort(-scores, kind="stable")
        if 0 < count < len(scores) and scores[order[count - 1]] > 0:
            a, b = scores[order[count - 1]], scores[order[count]]
            self.gap = min(self.gap, (a - b) / abs(a))
        return np.sort(order[:count])

    def spans(self, scores, radius):
        """Averaged with `radius` neighbours on both sides in the same document."""
        piece = self.prompt.piece[self.prompt.documents]
        near = np.abs(np.subtract.outer(np.arange(len(piece)), np.arange(len(piece)))) <= radius
        near &= piece[:, None] == piece[None, :]
        return (near * scores[None, :]).sum(1) / near.sum(1)

    def anchors(self, scores, ratio, spans=0, first_layer=0):
        """RelaxKV's steps 2 and 3; [layers] of tokens."""
        out = []
        for layer, a in enumerate(scores):
            normalized = (a - a.min()) / (a.max() - a.min())
            chosen = self.top(self.spans(normalized, spans), self.count(ratio))
            out.append(chosen if layer >= first_layer else chosen[:0])
        return out

    def closure(self, anchors):
        """Step 4: h[i] = the deepest layer whose anchors hold i; -1: none."""
        h = np.full(len(self.prompt.documents), -1)
        for layer, chosen in enumerate(anchors):
            h[chosen] = layer
        return h

    def joint(self, scores, ratio, late=False):
        """Depths that are worth most, by squared attention (times the layer), at the lowest price a
        layer at which they are at most so large a share of all layers of all tokens."""
        layers, tokens = scores.shape
        worth = np.zeros((layers, tokens))  # of depths: layer 0's keys and values are never outdated
        depth = np.arange(layers)[:, None]
        worth[1:] = np.cumsum((scores**2 * (depth if late else 1))[1:], axis=0)

        def best(price):
            return np.argmax(worth - price * depth, axis=0)

        # Prices at which some two depths of a token are worth the same: between two neighbours
        # nothing changes.
        ties = [(worth[b] - worth[a]) / (b - a) for b in range(layers) for a in range(b)]
        ties = np.unique(np.concatenate(ties))[::-1]
        prices = (ties[:-1] + ties[1:]) / 2
        most = round(ratio * tokens * (layers - 1))
        low = sum(best(price).sum() <= most for price in prices) - 1
        h = best(prices[low])
        taken = max(i for i in range(low + 1) if i == 0 or (best(prices[i - 1]) != h).any())
        self.gap = min(self.gap, 1 - ties[low + 1] / ties[taken])
        return np.where(h > 0, h, -1)

    def same_in_all(self, chosen):
        h = np.full(len(self.prompt.documents), -1)
        h[chosen] = self.model.layers - 1
        return h

    def recompute(self, h, context="causal", header=True, extra=()):
        """Step 5 of RelaxKV with any context; h: [document tokens], -1 outside U. Log-probabilities.

        `extra`: tokens of the context besides U.
        """
        m, p = self.model, self.prompt
        depth = np.full(p.question, -1)
        depth[p.documents] = h
        depth[p.between] = m.layers - 1  # text behind documents is computed anew, over everything
        in_u = (depth >= 0) & p.is_document[: p.question]
        in_u[p.documents[np.asarray(extra, int)]] = True
        act = np.flatnonzero(depth > 0)
        positions = np.arange(p.question)

        allowed = np.ones((len(act), p.question), bool)
        for row, position in enumerate(act):
            if context == "causal" or not p.is_document[position]:
                continue
            allowed[row] = in_u
            if header:
                allowed[row] |= ~p.is_document[: p.question]
            if context == "own+union":
                allowed[row] |= p.piece[: p.question] == p.piece[position]
        see = m.visible(act, positions) & allowed

        keys, values = [k.copy() for k in self.keys], [v.copy() for v in self.values]
        x = m.embed(p.ids[act])
        for layer in range(m.layers):
            here = depth[act] >= layer
            act, x, see = act[here], x[here], see[here]
            if not len(act):
                break
            q, k, v = m.project(x, layer, act)
            if layer > 0:
                keys[layer][act], values[layer][act] = k, v
            on = depth[act] > layer
            act, x, see = act[on], x[on], see[on]
            if len(act):
                x = m.rest(x, layer, q[on], keys[layer], values[layer], see)[0]
        return self.answer(keys, values)

    def cacheblend(self, ratio, released=False):
        """(h, log-probabilities)"""
        m, p = self.model, self.prompt
        keys, values = [k.copy() for k in self.keys], [v.copy() for v in self.values]
        rows = np.arange(p.documents[0], p.question)
        see = m.visible(rows, np.arange(p.question))
        x = m.embed(p.ids[rows])
        q, k, v = m.project(x, 0, rows)
        keys[0][rows], values[0][rows] = k, v
        x = m.rest(x, 0, q, keys[0], values[0], see)[0]
        q, k, v = m.project(x, 1, rows)
        d = ((v - values[1][rows]) ** 2).sum((1, 2))
        chosen = self.top(d[p.documents - rows[0]], self.count(ratio))
        keys[1][rows], values[1][rows] = k, v
        kept = np.sort(np.concatenate((p.documents[chosen], p.between)))
        last_seen = kept
        if released:
            # A lower triangle over the kept rows and the question, flush with the last column.
            total = len(kept) + len(p.ids) - p.question
            last_seen = len(p.ids) - total + np.arange(len(kept))
        see = m.visible(last_seen, np.arange(p.question))
        x = x[kept - rows[0]]
        for layer in range(1, m.layers):
            q, k, v = m.project(x, layer, kept)
            keys[layer][kept], values[layer][kept] = k, v
            x = m.rest(x, layer, q, keys[layer], values[layer], see)[0]
        h = np.ones(len(p.documents), int)
        h[chosen] = m.layers - 1
        return h, self.answer(keys, values)

    def answer(self, keys, values):
        logits = self.ask(keys, values)[0]
        return logits - logits.max() - np.log(np.exp(logits - logits.max()).sum())

    def full(self):
        width = (0, self.model.kv_heads, self.model.head_dim)
        empty = [np.zeros(width) for _ in range(self.model.layers)]
        logits = self.model.run(list(self.prompt.ids), 0, empty, empty, [])[0]
        return logits - logits.max() - np.log(np.exp(logits - logits.max()).sum())
