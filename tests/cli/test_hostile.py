"""What strangers send, through the real binary: exit code 1, one line on standard error, no signal.

The C++ tests try more of the same kind on each reader by itself.
"""
import json
import os
import shutil
import struct
from pathlib import Path

import pytest

from test_run import MODEL, REFUSED, USAGE, DONE, assert_refused, looseleaf

GOLDEN = Path(MODEL).parent
CHAT = {"messages": [{"role": "user", "content": "Hi"}]}
HUGE = (2**31, 2**32, 2**62, 2**64 - 1)


# ---- GGUF


def patched(bytes_, at, format_, *values):
    out = bytearray(bytes_)
    struct.pack_into(format_, out, at, *values)
    return bytes(out)


def broken_ggufs():
    """(name, bytes, a part of the message)"""
    good = Path(MODEL).read_bytes()
    for size in (0, 1, 3, 4, 11, 23, 24, 100, 1000, 5000, 20000, len(good) - 1):
        yield f"cut-{size}", good[:size], ""
    for version in (1, 4):
        yield f"version-{version}", patched(good, 4, "<I", version), f"GGUF version {version}"
    yield "big-endian", patched(good, 4, ">I", 3), "big-endian"
    yield "git-lfs", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git-lfs"
    for count in HUGE:
        yield f"tensors-{count}", patched(good, 8, "<Q", count), f"{count} tensors do not fit"
        yield f"entries-{count}", patched(good, 16, "<Q", count), f"{count} metadata entries do not fit"
        yield f"key-{count}", patched(good, 24, "<Q", count), f"needs {count} bytes"
    name = b"token_embd.weight"
    rank = good.index(name) + len(name)  # then the dimensions u64, the type u32, the offset u64
    dims = struct.unpack_from("<I", good, rank)[0]
    for count in (0, 5, 9, 2**31):
        yield f"rank-{count}", patched(good, rank, "<I", count), f"{count} dimensions"
    for extent in (0, *HUGE):
        yield f"extent-{extent}", patched(good, rank + 4, "<Q", extent), "token_embd.weight"
    for kind in (39, 200):
        yield f"type-{kind}", patched(good, rank + 4 + 8 * dims, "<I", kind), f"weight type {kind}"
    for offset in (1, *HUGE):
        yield f"offset-{offset}", patched(good, rank + 8 + 8 * dims, "<Q", offset), "token_embd.weight"
    pre = b"tokenizer.ggml.pre"
    text = good.index(pre) + len(pre) + 12  # behind type and length
    yield "pre", patched(good, text, "3s", b"zzz"), ""
    yield "merges", good.replace(b"tokenizer.ggml.merges", b"tokenizer.ggml.mergez"), "tokenizer.ggml.merges"
    for key in (b"bos", b"eos"):
        at = good.index(b"tokenizer.ggml.%s_token_id" % key) + len(b"tokenizer.ggml.bos_token_id") + 4
        yield f"{key.decode()}-id", patched(good, at, "<I", 2**31), "outside the"


@pytest.mark.parametrize("name,content,said", [pytest.param(*case, id=case[0]) for case in broken_ggufs()])
def test_broken_gguf(tmp_path, name, content, said):
    path = tmp_path / "broken.gguf"
    path.write_bytes(content)
    if name == "pre":  # still a model for token ids, and it says what is missing
        facts = looseleaf("inspect", str(path), "--json")
        assert facts.returncode == DONE, facts.stderr
        assert "zzz" in json.loads(facts.stdout)["tokenizer"]["problem"]
        assert_refused(looseleaf("run", str(path), "-q", "x"), REFUSED, "zzz")
        return
    assert_refused(looseleaf("inspect", str(path)), REFUSED, "broken.gguf", said)


def test_names_that_are_not_utf_8(tmp_path):
    """They are shown, not believed: what is printed is UTF-8 and JSON all the same."""
    good = Path(MODEL).read_bytes()
    at = good.index(b"general.name") + len(b"general.name") + 12
    folder = os.fsencode(tmp_path) + b"/\xff"
    os.mkdir(folder)
    path = folder + b"/model.gguf"
    with open(path, "wb") as file:
        file.write(patched(good, at, "2s", b"\xc3("))
    facts = looseleaf("inspect", path, "--json")
    assert facts.returncode == DONE, facts.stderr
    facts = json.loads(facts.stdout)
    assert facts["name"].startswith("\ufffd(")
    assert facts["path"].endswith("/\ufffd/model.gguf")
    answer = looseleaf("run", path, "-q", "x", "-n", "1", "--json")
    assert answer.returncode == DONE and json.loads(answer.stdout)


# ---- folders


def header_of(weights):
    length = struct.unpack_from("<Q", weights)[0]
    return json.loads(weights[8:8 + length]), weights[8 + length:]


def safetensors(header, data):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def broken_weights():
    good = (GOLDEN / "qwen2_hf" / "model.safetensors").read_bytes()
    for length in (0, len(good), 2**63, 2**64 - 1):
        yield f"header-{length}", struct.pack("<Q", length) + good[8:], ""
    yield "cut", good[:-1], "cut"
    yield "git-lfs", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "git-lfs"
    header, data = header_of(good)
    name = "model.norm.weight"

    def changed(**fields):
        return safetensors(header | {name: header[name] | fields}, data)

    begin, end = header[name]["data_offsets"]
    yield "begin-behind-end", changed(data_offsets=[end, begin]), name
    yield "overlap", changed(data_offsets=[begin - 2, end - 2]), "data offset"
    yield "hole", safetensors({k: v for k, v in header.items() if k != name}, data), ""
    yield "overflow", changed(shape=[2**62, 4]), name
    yield "fraction", changed(shape=[1.5]), name
    yield "dtype", changed(dtype="F8_E4M3"), "F8_E4M3"
    text = json.dumps(header).encode()
    yield "name-twice", safetensors(text[:-1] + b', "%s": {}}' % name.encode(), data), "stands here twice"
    yield "not-utf-8", safetensors(text.replace(b"model.norm", b"model.nor\xff"), data), "not UTF-8"
    yield "surrogate", safetensors(text.replace(b"model.norm", b"model\\ud800norm"), data), "surrogate"
    yield "deep", safetensors(b"[" * 100_000, data), "nested deeper"


@pytest.mark.parametrize("name,weights,said", [pytest.param(*case, id=case[0]) for case in broken_weights()])
def test_broken_weights(tmp_path, name, weights, said):
    shutil.copy(GOLDEN / "qwen2_hf" / "config.json", tmp_path)
    (tmp_path / "model.safetensors").write_bytes(weights)
    assert_refused(looseleaf("inspect", str(tmp_path)), REFUSED, "model.safetensors", said)


@pytest.mark.parametrize("shard", ["../secret", "/etc/passwd", "..", "", "a/b", "gone.safetensors", "x\ny"])
def test_an_index_names_files_of_its_folder_alone(tmp_path, shard):
    shutil.copy(GOLDEN / "qwen2_hf" / "config.json", tmp_path)
    index = {"weight_map": {"model.norm.weight": shard}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    assert_refused(looseleaf("inspect", str(tmp_path)), REFUSED, "model.safetensors.index.json")


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b"\xff", b'{"model": "\\ud800"}', b"[" * 100_000,
                                  b'{"model": {"type": "BPE", "vocab": {"a": 0}, "vocab": {"b": 0}, "merges": []}}',
                                  b'{"model": {"vocab": {"a": 4611686018427387904}, "merges": []}}',
                                  b'{"model": {"vocab": {"a": 0}, "merges": [["a"]]}}'])
def test_broken_tokenizer_json(tmp_path, text):
    for file in (GOLDEN / "llama_hf_f32").iterdir():
        (tmp_path / file.name).symlink_to(file.resolve())
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "tokenizer.json").write_bytes(text)
    assert_refused(looseleaf("inspect", str(tmp_path)), REFUSED, "tokenizer.json")


# ---- requests


def refuse_body(tmp_path, body, *said):
    path = tmp_path / "body.json"
    path.write_bytes(body if isinstance(body, bytes) else json.dumps(body).encode())
    assert_refused(looseleaf("run", MODEL, "--request", str(path)), REFUSED, "body.json", *said)


@pytest.mark.parametrize("body,said", [
    (b"[null]", "the body must be an object"),
    (b"[{}]", "the body must be an object"),
    (b'{"messages": [null]}', "messages[0]"),
    (b'{"messages": [{}]}', "messages[0].role"),
    (b'{"prompt": "x", "documents": [null]}', "documents[0]"),
    (b"[" * 100_000, "nested deeper than 32"),
    (b'{"prompt": "x", "documents": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested deeper than 32"),
    (b'{"a":' * 100_000, "nested deeper than 32"),
    (b'{"prompt": "\xff"}', "not UTF-8 at byte 12"),
    (b'{"prompt": "\xed\xa0\x80"}', "not UTF-8 at byte 12"),
    (b'{"prompt": "\\ud800"}', "half of a surrogate pair"),
    (b'{"prompt": "\\udc00x"}', "half of a surrogate pair"),
    (b'{"prompt": "x", "prompt": "y"}', "stands here twice"),
])
def test_bodies(tmp_path, body, said):
    refuse_body(tmp_path, body, said)


WHOLE = {"max_tokens": 1, "max_completion_tokens": 1, "top_k": -1, "n": 1, "seed": -(2**63)}
REAL = {"temperature": (0, 2), "top_p": (1e-30, 1), "min_p": (0, 1), "repetition_penalty": (0.01, 100),
        "presence_penalty": (-2, 2), "frequency_penalty": (-2, 2)}


def fits(name, value):
    if name in REAL:
        return REAL[name][0] <= value <= REAL[name][1]
    top = 2**63 - 1 if name == "seed" else 2**31 - 1
    return value == int(value) and WHOLE[name] <= value <= top


@pytest.mark.parametrize("name", [*WHOLE, *REAL])
def test_every_number_of_every_size(tmp_path, name):
    lines = []
    for value in (-1, 0, 2**31, 2**63, 1e308):
        if not fits(name, value):
            lines.append(CHAT | {name: value})
    lines += [CHAT | {name: value} for value in ("1", True)]
    path = tmp_path / "bodies.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    done = looseleaf("run", MODEL, "--requests", str(path))
    assert done.returncode == REFUSED, done.stderr
    errors = [json.loads(line)["error"] for line in done.stdout.splitlines()]
    assert [error["param"] for error in errors] == [name] * len(lines), done.stdout
    assert done.stderr.count("\n") == len(lines)


def test_prompts_of_impossible_tokens(tmp_path):
    for token in (-1, 2**31, 2**63, 1e308, "1", True, None):
        refuse_body(tmp_path, {"prompt": [1, token]}, "prompt[1]")
    refuse_body(tmp_path, {"prompt": [1, 100_000]}, "100000")


# ---- names of the hub


@pytest.fixture
def cache(tmp_path):
    """A cache as the hub's tools make it: blobs, refs, and a snapshot of links."""
    repository, commit = tmp_path / "hub" / "models--org--tiny", "0123456789" * 4
    snapshot = repository / "snapshots" / commit
    for folder in (snapshot, repository / "blobs", repository / "refs"):
        folder.mkdir(parents=True)
    (repository / "refs" / "main").write_text(commit)
    for file in (GOLDEN / "llama_hf_f32").iterdir():
        shutil.copy(file, repository / "blobs" / file.name)
        (snapshot / file.name).symlink_to(Path("../../blobs") / file.name)
    return {"HF_HUB_CACHE": str(tmp_path / "hub"), "commit": commit}


def test_a_model_of_the_hub(cache):
    env = {"HF_HUB_CACHE": cache["HF_HUB_CACHE"]}
    args = ("-q", "Why?", "-n", "4")
    wanted = looseleaf("run", str(GOLDEN / "llama_hf_f32"), *args).stdout
    for name in ("hf:org/tiny", "hf:org/tiny@main", "hf:org/tiny@" + cache["commit"]):
        done = looseleaf("run", name, *args, env=env)
        assert (done.returncode, done.stdout) == (DONE, wanted), done.stderr
    facts = json.loads(looseleaf("inspect", "hf:org/tiny", "--json", env=env).stdout)
    assert facts["path"].endswith("snapshots/" + cache["commit"])


def test_models_that_the_hub_cache_lacks(cache):
    env = {"HF_HUB_CACHE": cache["HF_HUB_CACHE"]}
    assert_refused(looseleaf("inspect", "hf:org/other", env=env), REFUSED, "hf download org/other")
    assert_refused(looseleaf("inspect", "hf:org/tiny@v2", env=env), REFUSED,
                   "hf download org/tiny --revision v2")
    for name in ("hf:tiny", "hf:../../tiny", "hf:org/tiny@../main", "hf:org/ti ny", "hf:"):
        assert_refused(looseleaf("inspect", name, env=env), USAGE, "hf:")
