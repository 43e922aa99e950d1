"""Tiny SentencePiece models, as GGUF metadata and as tokenizer.json, with the ids of strings.

    python small_sentencepiece.py        # models/sentencepiece/, 2 seconds

BPE with byte fallback and Llama 2's pipeline; Unigram with a small table of character rules, an
unknown token and T5's pipeline. Ids of GGUF files come from sentencepiece, those of tokenizer.json
from tokenizers; where both must agree that is asserted.
"""

import base64
import io
import json
import tempfile
from pathlib import Path

import gguf
import sentencepiece
from sentencepiece import sentencepiece_model_pb2
from tokenizers import Tokenizer

from small_tokenizer import TEXT
from text_cases import STRINGS

OUT = Path(__file__).parent / "models" / "sentencepiece"
MARK = "▁"
EXTRA = [
    "a</s>b <s> </s>\n",
    "ﬁne ① ﬁ\u0301 e\u0301 o\u0301 Ａ\u3000b",
    " lead",
    "   three",
    "",
    " ",
    "▁ ▁▁",
    "<0x41> <unk>",
    "tail  ",
]
# What becomes what, by code points, as sentencepiece's normalization_rule_tsv has them.
RULES = {"ﬁ": "fi", "①": "1", "e\u0301": "é", "Ａ": "A"} | dict.fromkeys("\u3000\n\t\r", " ")


def train(**options):
    lines = [line for line in TEXT.splitlines() if line]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=model,
        num_threads=1,
        minloglevel=2,
        hard_vocab_limit=False,
        **options,
    )
    proto = sentencepiece_model_pb2.ModelProto()
    proto.ParseFromString(model.getvalue())
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue()), proto


def rules_file(folder):
    path = Path(folder) / "rules.tsv"
    hexes = lambda text: " ".join(f"{ord(c):X}" for c in text)
    path.write_text("".join(f"{hexes(a)}\t{hexes(b)}\n" for a, b in RULES.items()))
    return str(path)


def write_gguf(path, proto, model):
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_tokenizer_model(model)
    writer.add_tokenizer_pre("default")
    writer.add_token_list([piece.piece for piece in proto.pieces])
    writer.add_token_scores([piece.score for piece in proto.pieces])
    writer.add_token_types([piece.type for piece in proto.pieces])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_space_prefix(proto.normalizer_spec.add_dummy_prefix)
    writer.add_remove_extra_whitespaces(proto.normalizer_spec.remove_extra_whitespaces)
    if proto.normalizer_spec.precompiled_charsmap:
        writer.add_precompiled_charsmap(proto.normalizer_spec.precompiled_charsmap)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def merges_by_score(proto):
    """As transformers makes them of pieces and scores."""
    ids = {piece.piece: i for i, piece in enumerate(proto.pieces)}
    merges = []
    for piece in proto.pieces:
        cuts = [(piece.piece[:i], piece.piece[i:]) for i in range(1, len(piece.piece))]
        cuts = [cut for cut in cuts if cut[0] in ids and cut[1] in ids]
        cuts.sort(key=lambda cut: (ids[cut[0]], ids[cut[1]]))
        merges += [(piece.score, *cut) for cut in cuts]
    merges.sort(key=lambda m: (m[0], len(m[1]), len(m[2])), reverse=True)
    return [[left, right] for _, left, right in merges]


def write_json(path, proto, parts):
    special = [
        {"id": i, "content": piece.piece, "single_word": False, "lstrip": False, "rstrip": False}
        | {"normalized": False, "special": True}
        for i, piece in enumerate(proto.pieces)
        if piece.type in (2, 3)
    ]
    document = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": special}
    path.mkdir(exist_ok=True)
    text = json.dumps(document | {"post_processor": None} | parts, ensure_ascii=False)
    (path / "tokenizer.json").write_text(text + "\n")
    return Tokenizer.from_file(str(path / "tokenizer.json"))


def bpe_parts(proto):
    replace = lambda a, b: {"type": "Replace", "pattern": {"String": a}, "content": b}
    strip = {"type": "Strip", "content": " ", "start": 1, "stop": 0}
    return {
        "normalizer": {
            "type": "Sequence",
            "normalizers": [{"type": "Prepend", "prepend": MARK}, replace(" ", MARK)],
        },
        "pre_tokenizer": None,
        "decoder": {
            "type": "Sequence",
            "decoders": [replace(MARK, " "), {"type": "ByteFallback"}, {"type": "Fuse"}, strip],
        },
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": {piece.piece: i for i, piece in enumerate(proto.pieces)},
            "merges": merges_by_score(proto),
        },
    }


def unigram_parts(proto):
    metaspace = {"type": "Metaspace", "replacement": MARK, "prepend_scheme": "always"}
    charsmap = base64.b64encode(proto.normalizer_spec.precompiled_charsmap).decode()
    return {
        "normalizer": {"type": "Precompiled", "precompiled_charsmap": charsmap},
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "WhitespaceSplit"}, metaspace],
        },
        "decoder": metaspace,
        "model": {
            "type": "Unigram",
            "unk_id": 0,
            "vocab": [[piece.piece, piece.score] for piece in proto.pieces],
        },
    }


def gguf_cases(processor):
    """Special-token text is text to sentencepiece; it shows unknown tokens in a way of its own."""
    cases = []
    for text in STRINGS + EXTRA:
        ids = processor.encode(text)
        cases.append({"text": text, "ids_plain": ids, "decoded": processor.decode([i for i in ids if i])})
    return cases


def json_cases(tokenizer):
    cases = []
    for text in STRINGS + EXTRA:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        decoded = tokenizer.decode(ids, skip_special_tokens=False)
        cases.append({"text": text, "ids": ids, "decoded": decoded})
    return cases


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    golden = {}
    processor, proto = train(
        model_type="bpe",
        vocab_size=420,
        byte_fallback=True,
        normalization_rule_name="identity",
        remove_extra_whitespaces=False,
    )
    write_gguf(OUT / "bpe.gguf", proto, "llama")
    tokenizer = write_json(OUT / "bpe", proto, bpe_parts(proto))
    golden["bpe.gguf"] = gguf_cases(processor)
    golden["bpe"] = json_cases(tokenizer)
    tokenizer.encode_special_tokens = True
    for case in golden["bpe.gguf"]:
        ids = tokenizer.encode(case["text"], add_special_tokens=False).ids
        assert ids == case["ids_plain"], case["text"]

    with tempfile.TemporaryDirectory() as folder:
        processor, proto = train(
            model_type="unigram", vocab_size=160, normalization_rule_tsv=rules_file(folder)
        )
    write_gguf(OUT / "unigram.gguf", proto, "t5")
    tokenizer = write_json(OUT / "unigram", proto, unigram_parts(proto))
    golden["unigram.gguf"] = gguf_cases(processor)
    golden["unigram"] = json_cases(tokenizer)
    lists = [
        f'"{name}": [\n' + ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases) + "]"
        for name, cases in golden.items()
    ]
    (OUT / "golden.json").write_text("{" + ",\n".join(lists) + "}\n")


if __name__ == "__main__":
    main()
