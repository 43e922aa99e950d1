"""The tiny models: what each one is there to exercise, and its random weights.

Imported by make_golden.py; nothing to run here.
"""

from dataclasses import dataclass

import torch

VOCAB = 320
HIDDEN = 32
INTERMEDIATE = 64
HEADS, KV_HEADS, HEAD_DIM = 4, 2, 16  # 4 * 16 is not HIDDEN: head_dim must be read, not derived
MAX_POSITIONS = 131072
RMS_EPS = 1e-5

PLAIN = {"rope_type": "default", "rope_theta": 10000.0}
OTHER_THETA = {"rope_type": "default", "rope_theta": 50000.0}
# Wavelengths are 6 to 20,000 positions. With an original length of 64 one frequency is left alone,
# two are blended and the other five are divided by 8.
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 10000.0,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}


@dataclass(frozen=True)
class Spec:
    name: str  # of the golden file; GGUF models are stored as NAME.gguf, others as a folder NAME
    form: str  # "hf" or "gguf"
    dtype: str  # storage type of the matrices
    seed: int  # equal seeds mean equal weights before rounding
    layers: int = 2
    tied: bool = False
    rope: dict = None
    shards: int = 1  # hf: safetensors files
    rope_spelling: str = "old"  # hf: "old" rope_theta + rope_scaling, "new" rope_parameters
    many_cases: bool = False


SPECS = [
    Spec("llama_hf_f32", "hf", "F32", seed=1, rope=PLAIN, many_cases=True),
    Spec("llama_f32", "gguf", "F32", seed=1, rope=PLAIN, many_cases=True),
    Spec("llama3_hf_bf16", "hf", "BF16", seed=2, layers=3, tied=True, rope=LLAMA3, shards=3),
    Spec("llama_hf_f16", "hf", "F16", seed=3, rope=OTHER_THETA, rope_spelling="new"),
    Spec("llama_f16", "gguf", "F16", seed=4, rope=LLAMA3),
    Spec("llama_bf16", "gguf", "BF16", seed=5, layers=3, rope=OTHER_THETA),
    Spec("llama_q8_0", "gguf", "Q8_0", seed=6, layers=3, tied=True, rope=PLAIN),
    Spec("llama_q4_0", "gguf", "Q4_0", seed=7, layers=3, rope=PLAIN),
    Spec("llama_q4_1", "gguf", "Q4_1", seed=8, layers=3, rope=PLAIN),
]


def random_weights(spec):
    """Hugging Face names -> float32 tensors.

    With inputs of RMS 1 the scales give attention scores of standard deviation about 2 (a few keys
    carry each row) and logits of about 2.3 (3 nats of the 5.8 of a uniform answer), and every block
    adds more to the residual stream than the embedding brought, so that nothing can be left out
    unnoticed.
    """
    rng = torch.Generator().manual_seed(spec.seed)

    def matrix(rows, columns, std):
        return torch.randn(rows, columns, generator=rng) * std

    def norm():
        return 1 + 0.2 * torch.randn(HIDDEN, generator=rng)

    weights = {"model.embed_tokens.weight": matrix(VOCAB, HIDDEN, 0.4 if spec.tied else 0.8)}
    for layer in range(spec.layers):
        prefix = f"model.layers.{layer}."
        weights |= {
            prefix + "input_layernorm.weight": norm(),
            prefix + "self_attn.q_proj.weight": matrix(HEADS * HEAD_DIM, HIDDEN, 0.25),
            prefix + "self_attn.k_proj.weight": matrix(KV_HEADS * HEAD_DIM, HIDDEN, 0.25),
            prefix + "self_attn.v_proj.weight": matrix(KV_HEADS * HEAD_DIM, HIDDEN, 0.25),
            prefix + "self_attn.o_proj.weight": matrix(HIDDEN, HEADS * HEAD_DIM, 0.15),
            prefix + "post_attention_layernorm.weight": norm(),
            prefix + "mlp.gate_proj.weight": matrix(INTERMEDIATE, HIDDEN, 0.25),
            prefix + "mlp.up_proj.weight": matrix(INTERMEDIATE, HIDDEN, 0.25),
            prefix + "mlp.down_proj.weight": matrix(HIDDEN, INTERMEDIATE, 0.15),
        }
    weights["model.norm.weight"] = norm()
    if not spec.tied:
        weights["lm_head.weight"] = matrix(VOCAB, HIDDEN, 0.4)
    return weights
