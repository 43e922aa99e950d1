"""Writes models/weight_blocks.json: blocks of every quantized GGUF type and their values.

    python weight_blocks.py

The values are those of the `gguf` package: float32, little-endian, in base64 as the bytes are. The
bytes are random; the scales are, in turn, ordinary, the largest half, the smallest subnormal,
negative, and zero.
"""

import base64
import json
from pathlib import Path

import gguf
import numpy as np

MODELS = Path(__file__).resolve().parent / "models"
# Name -> bytes at which the block has its halves (d, then m or dmin).
HALVES = {
    "Q8_0": [0],
    "Q4_0": [0],
    "Q4_1": [0, 2],
    "Q5_0": [0],
    "Q5_1": [0, 2],
    "Q2_K": [80, 82],
    "Q3_K": [108],
    "Q4_K": [0, 2],
    "Q5_K": [0, 2],
    "Q6_K": [208],
    "IQ4_NL": [0],
}
SCALES = [0x2A3C, 0x7BFF, 0x0001, 0xA8F1, 0x0000]
MINIMA = [0x2B11, 0xFBFF, 0x8001, 0x0400, 0x3C00]


def blocks(name, rng):
    """[5, block bytes] uint8"""
    size = gguf.GGML_QUANT_SIZES[gguf.GGMLQuantizationType[name]][1]
    out = rng.integers(0, 256, (len(SCALES), size), dtype=np.uint8)
    for at, halves in zip(HALVES[name], (SCALES, MINIMA)):
        out[:, at : at + 2] = np.array(halves, dtype="<u2").view(np.uint8).reshape(-1, 2)
    return out


def main():
    rng = np.random.default_rng(20)
    lines = []
    for name in HALVES:
        made = blocks(name, rng)
        values = gguf.quants.dequantize(made, gguf.GGMLQuantizationType[name]).astype("<f4")
        row = {
            "type": name,
            "blocks": base64.b64encode(made.tobytes()).decode(),
            "values": base64.b64encode(values.tobytes()).decode(),
        }
        lines.append(json.dumps(row))
    (MODELS / "weight_blocks.json").write_text("[\n" + ",\n".join(lines) + "\n]\n")


if __name__ == "__main__":
    main()
