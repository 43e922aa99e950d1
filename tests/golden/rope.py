"""Frequencies and attention factors in float64, by the papers' formulas.

Imported by reference.py and its users; nothing to run here. `rope` is `rope_parameters` as in
config.json, or has `divisors` (GGUF's rope_freqs) instead of a type.
"""

import math

import torch


def _yarn_slowed(rope, dims):
    """[dims / 2] how much of each pair is divided by the factor (2309.00071, section 3.2)."""

    def pair(turns):
        original = rope["original_max_position_embeddings"]
        base = rope["rope_theta"]
        return dims * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = pair(rope.get("beta_fast") or 32), pair(rope.get("beta_slow") or 1)
    if rope.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dims - 1)
    if low == high:
        high += 0.001
    return ((torch.arange(dims // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)


def frequencies(rope, dims, length=0):
    """[dims / 2] float64, for a prompt of `length` tokens."""
    kind = rope.get("rope_type", "default")
    theta, factor = rope["rope_theta"], rope.get("factor")
    original = rope.get("original_max_position_embeddings")
    exponents = torch.arange(0, dims, 2, dtype=torch.float64) / dims
    if kind == "dynamic" and length > original:
        theta *= (factor * length / original - (factor - 1)) ** (dims / (dims - 2))
    plain = theta**-exponents
    if "divisors" in rope:
        return plain / rope["divisors"].double()
    if kind in ("default", "dynamic"):
        return plain
    if kind == "linear":
        return plain / factor
    if kind == "longrope":
        which = "long_factor" if length > original else "short_factor"
        return plain / torch.tensor(rope[which], dtype=torch.float32).double()
    if kind == "yarn":
        slowed = _yarn_slowed(rope, dims)
        return plain / factor * slowed + plain * (1 - slowed)
    assert kind == "llama3", rope
    low, high = rope["low_freq_factor"], rope["high_freq_factor"]
    turns = original * plain / (2 * math.pi)  # within the original length
    keep = ((turns - low) / (high - low)).clamp(0, 1)
    return keep * plain + (1 - keep) * plain / factor


def attention_factor(rope, context):
    """What cos and sin are multiplied by. `context`: max_position_embeddings."""
    if rope.get("attention_factor"):
        return rope["attention_factor"]
    kind = rope.get("rope_type", "default")
    if kind == "yarn":

        def mscale(m):
            return 0.1 * m * math.log(rope["factor"]) + 1

        if rope.get("mscale") and rope.get("mscale_all_dim"):
            return mscale(rope["mscale"]) / mscale(rope["mscale_all_dim"])
        return mscale(1)
    if kind == "longrope":
        original = rope["original_max_position_embeddings"]
        factor = rope.get("factor") or context / original
        return math.sqrt(1 + math.log(factor) / math.log(original)) if factor > 1 else 1.0
    return 1.0
