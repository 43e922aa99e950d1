"""make_seeds.py FOLDER: what the fuzzers start from, in FOLDER/NAME: small valid inputs of every kind.

Whole files come from tests/golden/models; folders of a few hundred weights are made here.
"""
import json
import shutil
import struct
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests"
GOLDEN = TESTS / "golden" / "models"
HIDDEN, HEADS, HEAD, FFN, VOCAB = 8, 2, 4, 8, 8

CONFIG = {"hidden_size": HIDDEN, "num_hidden_layers": 1, "num_attention_heads": HEADS, "num_key_value_heads": 1,
          "head_dim": HEAD, "intermediate_size": FFN, "vocab_size": VOCAB, "rms_norm_eps": 1e-5,
          "max_position_embeddings": 64, "rope_theta": 10000.0, "tie_word_embeddings": True}
LAYER = {"input_layernorm": [HIDDEN], "self_attn.q_proj": [HEADS * HEAD, HIDDEN], "self_attn.k_proj": [HEAD, HIDDEN],
         "self_attn.v_proj": [HEAD, HIDDEN], "self_attn.o_proj": [HIDDEN, HEADS * HEAD],
         "post_attention_layernorm": [HIDDEN], "mlp.gate_proj": [FFN, HIDDEN], "mlp.up_proj": [FFN, HIDDEN],
         "mlp.down_proj": [HIDDEN, FFN]}
FUSED = {"input_layernorm": [HIDDEN], "self_attn.qkv_proj": [(HEADS + 2) * HEAD, HIDDEN],
         "self_attn.o_proj": [HIDDEN, HEADS * HEAD], "post_attention_layernorm": [HIDDEN],
         "mlp.gate_up_proj": [2 * FFN, HIDDEN], "mlp.down_proj": [HIDDEN, FFN]}
NORMS = {"self_attn.q_norm": [HEAD], "self_attn.k_norm": [HEAD]}


def tensors(layer, bias=()):
    """Name -> shape; `bias`: parts of the names whose matrices have one."""
    shapes = {"model.embed_tokens.weight": [VOCAB, HIDDEN], "model.norm.weight": [HIDDEN]}
    for name, shape in layer.items():
        shapes[f"model.layers.0.{name}.weight"] = shape
        if any(part in name for part in bias):
            shapes[f"model.layers.0.{name}.bias"] = shape[:1]
    return shapes


def safetensors(shapes, dtype="F16", bytes_each=2):
    header, offset = {}, 0
    for name, shape in shapes.items():
        count = 1
        for extent in shape:
            count *= extent
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [offset, offset + bytes_each * count]}
        offset += bytes_each * count
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(offset)


def folder(config, weights, index=b""):
    config = json.dumps(CONFIG | config).encode()
    return struct.pack("<II", len(config), len(index)) + config + index + weights


def folders():
    plain = tensors(LAYER)
    llama = {"model_type": "llama"}
    yield "llama", folder(llama, safetensors(plain))
    index = json.dumps({"weight_map": {name: "a.safetensors" for name in plain}}).encode()
    yield "sharded", folder(llama, safetensors(plain, "BF16"), index)
    yield "biases", folder(llama | {"attention_bias": True, "mlp_bias": True},
                           safetensors(tensors(LAYER, ("_proj",)), "F32", 4))
    scalings = {
        "llama3": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                   "original_max_position_embeddings": 32},
        "yarn": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16, "beta_fast": 32,
                 "beta_slow": 1, "truncate": False, "mscale": 1.0, "mscale_all_dim": 0.5},
        "linear": {"type": "linear", "factor": 2.0},
        "dynamic": {"type": "dynamic", "factor": 2.0},
    }
    for name, scaling in scalings.items():
        yield name, folder(llama | {"rope_scaling": scaling}, safetensors(plain))
    yield "mistral", folder({"model_type": "mistral", "sliding_window": 16}, safetensors(plain))
    yield "qwen2", folder({"model_type": "qwen2", "use_sliding_window": True, "max_window_layers": 0,
                           "sliding_window": 8}, safetensors(tensors(LAYER, ("q_proj", "k_proj", "v_proj"))))
    yield "qwen3", folder({"model_type": "qwen3"}, safetensors(tensors(LAYER | NORMS)))
    yield "phi3", folder({"model_type": "phi3", "rope_scaling": {
        "type": "longrope", "short_factor": [1.0, 1.5], "long_factor": [2.0, 3.0]},
        "original_max_position_embeddings": 32}, safetensors(tensors(FUSED)))


BYTES = "".join(chr(c) for c in [*range(33, 127), *range(161, 173), *range(174, 256), *range(256, 324)])
METASPACE = "\u2581"


def tokenizers():
    for name in ("llama_hf_f32", "sentencepiece/bpe", "sentencepiece/unigram"):
        yield name.replace("/", "_"), (GOLDEN / name / "tokenizer.json").read_text()
    vocab = {c: i for i, c in enumerate(BYTES)} | {"aa": 256, "aaaa": 257, "\u0120w": 258}
    model = {"type": "BPE", "vocab": vocab, "merges": [["a", "a"], "aa aa", ["\u0120", "w"]], "ignore_merges": True}
    split = {"type": "Split", "pattern": {"Regex": "(?i:'s|'t)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|\\s+(?!\\S)|\\s+"},
             "behavior": "Removed", "invert": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "use_regex": False}
    pieces = [split, {"type": "Split", "pattern": {"String": "o"}, "behavior": "MergedWithNext"},
              {"type": "Punctuation", "behavior": "Contiguous"}, {"type": "Digits", "individual_digits": False},
              {"type": "WhitespaceSplit"}, {"type": "CharDelimiterSplit", "delimiter": "-"}]
    special = {"id": 259, "content": "<|im_end|>", "lstrip": True, "rstrip": True, "special": True}
    yield "byte_level", json.dumps({
        "normalizer": {"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Replace", "pattern": {
            "String": "e"}, "content": "ee"}]},
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [*pieces, byte_level]},
        "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<|im_end|>"}},
                                                                    {"Sequence": {"id": "A"}}]},
        "decoder": {"type": "ByteLevel"}, "added_tokens": [special], "model": model})
    characters = {"<unk>": 0, "H": 1, "e": 2, "l": 3, "o": 4, METASPACE: 5, "ll": 6, METASPACE + "H": 7}
    yield "characters", json.dumps({
        "normalizer": {"type": "Sequence", "normalizers": [
            {"type": "Strip", "strip_left": True, "strip_right": False}, {"type": "NFKC"},
            {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            {"type": "Prepend", "prepend": METASPACE},
            {"type": "Replace", "pattern": {"String": " "}, "content": METASPACE}]},
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": METASPACE}, "content": " "}, {"type": "ByteFallback"},
            {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
        "model": {"type": "BPE", "vocab": characters, "merges": ["l l", METASPACE + " H"], "unk_token": "<unk>",
                  "fuse_unk": True}}, ensure_ascii=False)
    yield "unigram", json.dumps({
        "pre_tokenizer": {"type": "Metaspace", "replacement": METASPACE, "prepend_scheme": "first", "split": True},
        "decoder": {"type": "Metaspace", "replacement": METASPACE, "prepend_scheme": "first"},
        "model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], [METASPACE, -2.5], ["a", -3], ["aa", -3.5],
                                                            ["Hello", -1e3]]}}, ensure_ascii=False)


CHAT = {"messages": [{"role": "system", "content": "S"}, {"role": "user", "content": [
    {"type": "text", "text": "T"}, {"type": "document", "document": {"text": "D", "title": "t"}},
    {"type": "document", "source": {"type": "text", "data": "x", "media_type": "text/plain"}, "title": "y",
     "context": "c", "citations": {"enabled": False}}]}, {"role": "assistant", "content": "A"},
    {"role": "user", "content": "Q"}]}
BODIES = {
    "chat": CHAT | {"documents": ["D", {"page_content": "D", "metadata": {"k": 1, "l": [1.5, None]}, "id": "i"},
                                  {"id": "j", "data": {"snippet": "s", "title": "t", "url": "u"}}, {"tokens": [1, 2]}],
                    "method": "reuse", "layout": "qa", "encoding_prefix": "bos", "cache_salt": "s", "stream": True,
                    "stream_options": {"include_usage": True}, "logprobs": True, "top_logprobs": 2},
    "sampling": CHAT | {"temperature": 0.5, "top_p": 0.9, "top_k": -1, "min_p": 0.1, "repetition_penalty": 1.1,
                        "presence_penalty": -1, "frequency_penalty": 1e-3, "logit_bias": {"5": -100, "6": 1.5},
                        "seed": -1, "stop": ["a", "b"], "max_completion_tokens": 5, "n": 1, "ignore_eos": True},
    "completion": {"prompt": "P", "prefix": [1, 2, 3], "documents": [{"text": "D"}], "logprobs": 2, "max_tokens": 1,
                   "layout": {"intro": "I", "document": "{title}{text}", "question": "{question}"},
                   "method": {"name": "block", "inplace": True}, "best_of": 1},
    "tokens": {"prompt": [[1, 2, 3]], "return_token_ids": True, "prompt_cache_key": "k", "model": "m"},
    "question": {"question": "Q", "documents": [{"content": "c", "title": "t"}], "unknown": {"a": [1]}},
    "unsupported": CHAT | {"tools": [], "response_format": {"type": "text"}, "tool_choice": "none",
                           "modalities": ["text"], "echo": False},
}


def templates():
    for path in sorted((TESTS / "text" / "templates").glob("*.jinja")):
        yield path.name, path.read_text()
    for i, line in enumerate((TESTS / "text" / "constructs.txt").read_text().splitlines()):
        if not line.startswith("#"):
            yield f"construct{i}", json.loads(line) if line.startswith('"') else line
    yield "context", '{% for m in messages %}{{ m.role + m["content"] }}{% endfor %}\0{"messages": [{"role": "user", "content": "Q"}]}'


def write(folder_path, seeds):
    folder_path.mkdir(parents=True, exist_ok=True)
    for name, content in seeds:
        (folder_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())


def main():
    out = Path(sys.argv[1])
    shutil.rmtree(out, ignore_errors=True)
    ggufs = [*GOLDEN.glob("phi3*.gguf"), GOLDEN / "llama_q5_0.gguf", GOLDEN / "qwen2_yarn.gguf",
             *(GOLDEN / "sentencepiece").glob("*.gguf")]
    write(out / "gguf", ((path.name, path.read_bytes()) for path in ggufs))
    write(out / "safetensors", folders())
    write(out / "tokenizer_json", tokenizers())
    write(out / "template", templates())
    write(out / "request_json", ((name, json.dumps(body)) for name, body in BODIES.items()))


main()
