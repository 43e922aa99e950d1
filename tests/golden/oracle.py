"""Hugging Face's own models in true float64, and a reused prompt as one forward pass of them.

Imported by make_golden.py and smollm2.py; nothing to run here. transformers computes norms, softmax
and rotary angles in float32 whatever the model's type is; those three are replaced. Everything else
is its own code.
"""

import math

import torch
from transformers import (
    LlamaForCausalLM,
    MistralForCausalLM,
    Phi3ForCausalLM,
    Qwen2ForCausalLM,
    Qwen3ForCausalLM,
)
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama import modeling_llama
from transformers.models.mistral import modeling_mistral
from transformers.models.phi3 import modeling_phi3
from transformers.models.qwen2 import modeling_qwen2
from transformers.models.qwen3 import modeling_qwen3

import rope

# model_type -> (class, its module, the prefix of the module's classes)
FAMILIES = {
    "llama": (LlamaForCausalLM, modeling_llama, "Llama"),
    "mistral": (MistralForCausalLM, modeling_mistral, "Mistral"),
    "qwen2": (Qwen2ForCausalLM, modeling_qwen2, "Qwen2"),
    "qwen3": (Qwen3ForCausalLM, modeling_qwen3, "Qwen3"),
    "phi3": (Phi3ForCausalLM, modeling_phi3, "Phi3"),
}


def _norm(self, x):
    return self.weight * (x * (x.pow(2).mean(-1, keepdim=True) + self.variance_epsilon).rsqrt())


def _attention(module, query, key, value, attention_mask, scaling, **_):
    key = modeling_llama.repeat_kv(key, module.num_key_value_groups)
    value = modeling_llama.repeat_kv(value, module.num_key_value_groups)
    weights = (query @ key.transpose(2, 3) * scaling + attention_mask).softmax(-1)
    return (weights @ value).transpose(1, 2).contiguous(), weights


def _rotary(self, x, position_ids):
    angles = position_ids[..., None].double() * self.exact_frequencies
    angles = torch.cat((angles, angles), dim=-1)
    return angles.cos() * self.exact_factor, angles.sin() * self.exact_factor


def in_float64(model, ours):
    """`ours`: the reference.Llama of the same model; transformers must have its rope in float32."""
    _, module, prefix = FAMILIES[model.config.model_type]
    getattr(module, prefix + "RMSNorm").forward = _norm
    module.eager_attention_forward = _attention
    getattr(module, prefix + "RotaryEmbedding").forward = _rotary
    rotary = model.model.rotary_emb
    kind = rotary.rope_type
    for length in (1, 1000000):
        frequencies, factor = rotary.inv_freq, rotary.attention_scaling
        if kind != "default":
            frequencies, factor = ROPE_INIT_FUNCTIONS[kind](rotary.config, "cpu", seq_len=length)
        torch.testing.assert_close(
            frequencies.double(),
            rope.frequencies(ours.rope, ours.rotary_dims, length),
            rtol=2e-6,
            atol=0,
        )
        assert abs(factor - rope.attention_factor(ours.rope, ours.context)) < 1e-7
    assert (getattr(model.config, "sliding_window", None) or 0) == ours.window
    model.ours = (ours,)  # in a tuple, so that it is no submodule
    return model.double().eval()


def set_length(model, case):
    ours = model.ours[0]
    ours.set_length(case)
    rotary = model.model.rotary_emb
    rotary.exact_frequencies, rotary.exact_factor = ours.frequencies, ours.factor


def from_folder(path, ours, family):
    return in_float64(
        FAMILIES[family][0].from_pretrained(path, attn_implementation="eager"), ours
    )


def from_weights(config, weights, ours):
    config._attn_implementation = "eager"
    model = FAMILIES[config.model_type][0](config).double()
    missing, unexpected = model.load_state_dict(weights, strict=False)
    assert not unexpected and set(missing) <= {"lm_head.weight"}, (missing, unexpected)
    model.tie_weights()
    return in_float64(model, ours)


def one_pass(case):
    """(ids, positions, visible [rows, keys]) of the prompt as one sequence.

    In a reused prompt each document has a copy of the encoding prefix of its own just before it, at
    positions offset - e .. offset - 1, which that document alone can see; the tail sees the header
    and the documents.
    """
    ids, positions, owner, hidden = [], [], [], []

    def add(tokens, first, block, is_prefix=False):
        ids.extend(tokens)
        positions.extend(range(first, first + len(tokens)))
        owner.extend([block] * len(tokens))
        hidden.extend([is_prefix] * len(tokens))

    prefix = case["encoding_prefix"]
    add(case["header"], case["header_offset"], 0)
    for i, (document, offset) in enumerate(zip(case["documents"], case["offsets"])):
        add(prefix, offset - len(prefix), i + 1, is_prefix=True)
        add(document, offset, i + 1)
    tail = len(case["documents"]) + 1
    add(case["tail"], case["tail_offset"], tail)
    owner, hidden = torch.tensor(owner), torch.tensor(hidden)
    same = owner[:, None] == owner[None, :]
    from_tail = (owner[:, None] == tail) & ~hidden[None, :]
    return ids, positions, (same | from_tail).tril()


@torch.no_grad()
def greedy(model, case, steps):
    """As reference.Llama.greedy, by a whole forward pass over everything for each step."""
    if case["kind"] == "full":
        ids = case["header"] + sum(case["documents"], []) + case["tail"]
        positions = list(range(len(ids)))
        visible = torch.ones(len(ids), len(ids), dtype=torch.bool).tril()
    else:
        ids, positions, visible = one_pass(case)
    set_length(model, case)
    window = model.ours[0].window
    out = []
    for _ in range(steps):
        if window:
            at = torch.tensor(positions)
            visible &= at[:, None] - at[None, :] < window
        mask = torch.zeros(visible.shape, dtype=torch.float64).masked_fill(~visible, -math.inf)
        logits = model(
            input_ids=torch.tensor([ids]),
            position_ids=torch.tensor([positions]),
            attention_mask=mask[None, None],
            use_cache=False,
        ).logits[0, -1]
        assert logits.dtype == torch.float64
        out.append(logits.log_softmax(-1))
        ids = ids + [int(logits.argmax())]
        positions = positions + [positions[-1] + 1]
        column = torch.zeros(len(visible), 1, dtype=torch.bool)
        row = torch.cat((visible[-1:], torch.ones(1, 1, dtype=torch.bool)), dim=1)
        visible = torch.cat((torch.cat((visible, column), dim=1), row))
    return torch.stack(out)
