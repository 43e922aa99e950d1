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


LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}
# With an original length of 64 the ramp is cut off at both ends: pair 0 is kept, 4 and on divided.
YARN = {
    "rope_type": "yarn",
    "rope_theta": 10000.0,
    "factor": 4.0,
    "original_max_position_embeddings": 64,
}
YARN_IN_FULL = YARN | {
    "beta_fast": 8.0,
    "beta_slow": 0.5,
    "truncate": False,
    "attention_factor": 1.2,
}
YARN_MSCALE = YARN | {"mscale": 1.0, "mscale_all_dim": 0.4}
DYNAMIC = {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 4.0}
LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 10000.0,
    "short_factor": [1.0, 1.05, 1.1, 1.25, 1.5, 2.0],
    "long_factor": [1.0, 1.5, 2.5, 5.0, 12.0, 30.0],
    "original_max_position_embeddings": 64,
}


@dataclass(frozen=True)
class Spec:
    name: str  # of the golden file; GGUF models are stored as NAME.gguf, others as a folder NAME
    form: str  # "hf" or "gguf"
    dtype: str  # storage type of the matrices; "K_HIGH" and "K_LOW" are mixtures (write_gguf.py)
    seed: int  # equal seeds mean equal weights before rounding
    layers: int = 2
    tied: bool = False
    rope: dict = None
    shards: int = 1  # hf: safetensors files
    rope_spelling: str = "old"  # hf: "old" rope_theta + rope_scaling, "new" rope_parameters
    many_cases: bool = False
    family: str = "llama"  # model_type
    vocab: int = VOCAB
    hidden: int = HIDDEN
    intermediate: int = INTERMEDIATE
    heads: int = HEADS
    kv_heads: int = KV_HEADS
    head_dim: int = HEAD_DIM
    rotary_dims: int = HEAD_DIM
    context: int = MAX_POSITIONS
    window: int = 0  # 0: none
    biases: str = ""  # "qkv", or "all": of attention and MLP
    tokenizer: bool = True
    kinds: tuple = ("full", "reuse")


def small(name, form, dtype, seed, **rest):
    """A model that takes token lists only."""
    sizes = {"vocab": 64, "intermediate": 48}
    return Spec(name, form, dtype, seed, tokenizer=False, **(sizes | rest))


# heads * head_dim is hidden, since the family has no head_dim of its own.
PHI = {"family": "phi3", "intermediate": 64, "heads": 2, "kv_heads": 1, "rotary_dims": 12}
WIDE_QWEN2 = {"family": "qwen2", "intermediate": 64, "biases": "qkv"}  # rows of whole blocks
K_BLOCKS = {
    "hidden": 256,
    "intermediate": 32,
    "heads": 2,
    "kv_heads": 1,
    "vocab": 48,
    "tied": True,
    "rope": PLAIN,
}


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
    small("llama_q5_0", "gguf", "Q5_0", seed=9, rope=PLAIN, intermediate=64),
    small("llama_q5_1", "gguf", "Q5_1", seed=10, rope=PLAIN, intermediate=64),
    small("llama_k_high", "gguf", "K_HIGH", seed=11, **K_BLOCKS),
    small("llama_k_low", "gguf", "K_LOW", seed=12, **K_BLOCKS),
    small("llama_bias_hf", "hf", "F16", seed=13, rope=LINEAR, biases="all"),
    small("llama_linear", "gguf", "F16", seed=14, rope=LINEAR, biases="all"),
    small("llama_dynamic_hf", "hf", "F16", seed=15, rope=DYNAMIC, context=80, kinds=("full",)),
    small("qwen2_hf", "hf", "BF16", seed=16, family="qwen2", rope=PLAIN, biases="qkv", tied=True),
    small("qwen2_yarn_hf", "hf", "F16", seed=17, family="qwen2", rope=YARN, biases="qkv"),
    small("qwen2_yarn", "gguf", "Q8_0", seed=18, rope=YARN, **WIDE_QWEN2),
    small("qwen3_hf", "hf", "BF16", 19, family="qwen3", rope=OTHER_THETA, rope_spelling="new"),
    small("qwen3_yarn_hf", "hf", "F16", 20, family="qwen3", rope=YARN_IN_FULL, rope_spelling="new"),
    small("qwen3", "gguf", "F16", seed=21, family="qwen3", rope=PLAIN, tied=True),
    small("qwen3_yarn_mscale_hf", "hf", "F16", seed=22, family="qwen3", rope=YARN_MSCALE),
    small("mistral_hf", "hf", "BF16", seed=23, family="mistral", rope=PLAIN, window=40),
    small("phi3_hf", "hf", "F16", seed=24, rope=PLAIN, window=30, **PHI),
    small("phi3_longrope_hf", "hf", "BF16", seed=25, rope=LONGROPE, tied=True, **PHI),
    small("phi3_longrope", "gguf", "Q8_0", seed=26, rope=LONGROPE, tied=True, **PHI),
    small("phi3", "gguf", "Q4_0", seed=27, rope=PLAIN, window=30, **PHI),
]


def random_weights(spec):
    """Hugging Face names -> float32 tensors.

    With inputs of RMS 1 the scales give attention scores of standard deviation about 2 (a few keys
    carry each row) and logits of about 2.3 (3 nats of the 5.8 of a uniform answer), and every block
    adds more to the residual stream than the embedding brought, so that nothing can be left out
    unnoticed.
    """
    rng = torch.Generator().manual_seed(spec.seed)
    q, kv = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim

    def matrix(rows, columns, std, usual_columns):
        """`std` is that for `usual_columns`: wider inputs have smaller weights."""
        scale = std * (usual_columns / columns) ** 0.5
        return torch.randn(rows, columns, generator=rng) * scale

    def vector(size, mean, std):
        return mean + std * torch.randn(size, generator=rng)

    def norm():
        return vector(spec.hidden, 1, 0.2)

    embedding = 0.4 if spec.tied else 0.8
    if spec.tied and spec.hidden > HIDDEN:
        embedding *= (HIDDEN / spec.hidden) ** 0.5  # it is the head too
    weights = {"model.embed_tokens.weight": matrix(spec.vocab, spec.hidden, embedding, spec.hidden)}
    for layer in range(spec.layers):
        prefix = f"model.layers.{layer}."
        weights |= {
            prefix + "input_layernorm.weight": norm(),
            prefix + "self_attn.q_proj.weight": matrix(q, spec.hidden, 0.25, HIDDEN),
            prefix + "self_attn.k_proj.weight": matrix(kv, spec.hidden, 0.25, HIDDEN),
            prefix + "self_attn.v_proj.weight": matrix(kv, spec.hidden, 0.25, HIDDEN),
            prefix + "self_attn.o_proj.weight": matrix(spec.hidden, q, 0.15, HEADS * HEAD_DIM),
            prefix + "post_attention_layernorm.weight": norm(),
            prefix + "mlp.gate_proj.weight": matrix(spec.intermediate, spec.hidden, 0.25, HIDDEN),
            prefix + "mlp.up_proj.weight": matrix(spec.intermediate, spec.hidden, 0.25, HIDDEN),
            prefix + "mlp.down_proj.weight": matrix(
                spec.hidden, spec.intermediate, 0.15, INTERMEDIATE
            ),
        }
    weights["model.norm.weight"] = norm()
    if not spec.tied:
        weights["lm_head.weight"] = matrix(spec.vocab, spec.hidden, 0.4, HIDDEN)
    for layer in range(spec.layers):
        prefix = f"model.layers.{layer}."
        biases = {"q_proj": q, "k_proj": kv, "v_proj": kv} if spec.biases else {}
        if spec.biases == "all":
            biases |= {"o_proj": spec.hidden}
        for name, size in biases.items():
            weights[f"{prefix}self_attn.{name}.bias"] = vector(size, 0, 0.5)
        if spec.biases == "all":
            for name, size in (("gate", spec.intermediate), ("up", spec.intermediate)):
                weights[f"{prefix}mlp.{name}_proj.bias"] = vector(size, 0, 0.5)
            weights[f"{prefix}mlp.down_proj.bias"] = vector(spec.hidden, 0, 0.5)
        if spec.family == "qwen3":
            # A norm leaves each head with RMS 1, so these make scores of standard deviation 2.5.
            weights[prefix + "self_attn.q_norm.weight"] = vector(spec.head_dim, 1.5, 0.4)
            weights[prefix + "self_attn.k_norm.weight"] = vector(spec.head_dim, 1.5, 0.4)
        if spec.family == "phi3":
            fuse(weights, prefix)
    return weights


def fuse(weights, prefix):
    """Phi-3's qkv_proj and gate_up_proj, in the place of their parts."""
    parts = [weights.pop(f"{prefix}self_attn.{p}_proj.weight") for p in "qkv"]
    weights[prefix + "self_attn.qkv_proj.weight"] = torch.cat(parts)
    parts = [weights.pop(f"{prefix}mlp.{p}_proj.weight") for p in ("gate", "up")]
    weights[prefix + "mlp.gate_up_proj.weight"] = torch.cat(parts)
