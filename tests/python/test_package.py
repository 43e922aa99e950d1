"""The Python package on the tiny model: LOOSELEAF_LIBRARY=build/liblooseleaf.so LOOSELEAF_GOLDEN_DIR=... pytest tests/python"""
import json
import os
import sys
import threading
from pathlib import Path

import pytest

numpy = pytest.importorskip("numpy")
ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("LOOSELEAF_BIN", ROOT / "build/bin/looseleaf"))
os.environ.setdefault("LOOSELEAF_LIBRARY", str(BINARY.parent.parent / "liblooseleaf.so"))
sys.path.insert(0, str(ROOT / "python"))
import looseleaf  # noqa: E402

MODELS = Path(os.environ.get("LOOSELEAF_GOLDEN_DIR", ROOT / "tests/golden/models"))
TEXTS = ["The first text.", {"title": "T", "text": "A second one."}]


@pytest.fixture(scope="module")
def engine():
    with looseleaf.Engine(MODELS / "llama_f32.gguf", threads=2, exact=True) as engine:
        yield engine


def test_ask(engine):
    answer = engine.ask("Why?", TEXTS, method="reuse", max_tokens=3, ignore_eos=True, logprobs=True)
    assert len(answer["tokens"]) == len(answer["logprobs"]) == 3
    assert [chunk["index"] for chunk in answer["looseleaf"]["chunks"]] == [0, 1]
    again = engine.ask("Why?", TEXTS, method="reuse", max_tokens=3, ignore_eos=True)
    assert again["tokens"] == answer["tokens"]
    assert {chunk["source"] for chunk in again["looseleaf"]["chunks"]} == {"host"}


def test_numpy_values_are_json(engine):
    tokens = numpy.array(engine.tokenize("Some words."))
    answer = engine.ask(prefix=tokens, prompt=tokens[:2], documents=[{"tokens": tokens}], max_tokens=numpy.int64(2),
                        ignore_eos=True)
    assert answer["usage"]["prompt_tokens"] == 2 * len(tokens) + 2


def test_score_is_the_answers_own(engine):
    fields = dict(documents=TEXTS, method="reuse", max_tokens=4, ignore_eos=True, logprobs=True)
    answer = engine.ask("Why?", **fields)
    score = engine.score(numpy.array(answer["tokens"]), "Why?", **fields)
    assert score["tokens"] == answer["tokens"]
    assert score["logprobs"] == pytest.approx([entry["logprob"] for entry in answer["logprobs"]], abs=1e-4)
    assert engine.score("Because.", "Why?")["tokens"] == engine.tokenize("Because.")


def test_chunk_kv(engine):
    chunk = engine.prefill(TEXTS[0])
    keys, values = chunk.kv(0)
    assert keys.shape == values.shape and keys.shape[1:] == (2, 16) and keys.dtype == numpy.float32
    assert numpy.isfinite(keys).all() and numpy.isfinite(values).all() and keys.std() > 0
    assert engine.prefill(TEXTS[0]).id == chunk.id
    # In the first layer the same token has the same value wherever it stands; its key is turned by its position.
    tokens = [7, 8, 7]
    keys, values = engine.prefill({"tokens": tokens}, encoding_prefix="none").kv(0)
    assert numpy.array_equal(values[0], values[2]) and not numpy.array_equal(keys[0], keys[2])
    assert numpy.linalg.norm(keys[0]) == pytest.approx(numpy.linalg.norm(keys[2]), rel=1e-5)
    deeper = engine.prefill({"tokens": tokens}, encoding_prefix="none").kv(1)[1]
    assert not numpy.allclose(deeper[0], deeper[2])


def test_chunk_kv_in_every_type():
    exact = None
    for kv_type, tolerance in (("f32", 0), ("f16", 1e-3), ("bf16", 1e-2), ("q8_0", 2e-2), ("fp8", 2**-4 + 1e-3)):
        with looseleaf.Engine(MODELS / "llama_f32.gguf", threads=2, kv_type=kv_type) as engine:
            keys, values = engine.prefill({"tokens": list(range(10, 80))}).kv(0)  # three pages
        exact = exact or (keys, values)
        for got, wanted in zip((keys, values), exact):
            assert numpy.abs(got - wanted).max() <= tolerance * numpy.abs(wanted).max()


def test_errors(engine):
    with pytest.raises(looseleaf.LooseleafError) as refused:
        engine.ask("Why?", [""])
    assert refused.value.param == "documents[0]"
    with pytest.raises(looseleaf.LooseleafError, match="/no/such.gguf"):
        looseleaf.Engine("/no/such.gguf")
    with pytest.raises(looseleaf.LooseleafError, match="treads"):
        looseleaf.Engine(MODELS / "llama_f32.gguf", treads=1)
    with pytest.raises(looseleaf.LooseleafError, match="99"):
        engine.prefill("x").kv(99)
    with pytest.raises(ValueError):
        engine.tokenize("a\0b")
    with pytest.raises(ValueError):
        engine.ask("Why?", temperature=float("nan"))
    with pytest.raises(TypeError):
        engine.ask("Why?", stop=object())


def test_an_evicted_chunk_is_gone():
    with looseleaf.Engine(MODELS / "llama_f32.gguf", threads=2) as engine:
        chunk = engine.prefill("One text.")
        engine.clear_cache()
        with pytest.raises(looseleaf.LooseleafError, match="no chunk"):
            chunk.kv(0)


def test_a_closed_engine_says_so():
    engine = looseleaf.Engine(MODELS / "llama_f32.gguf", threads=2)
    engine.close()
    engine.close()
    with pytest.raises(ValueError, match="closed"):
        engine.ask("Why?")


def test_threads_take_turns(engine):
    wanted = [engine.ask(f"Why {i}?", TEXTS, max_tokens=3, ignore_eos=True)["tokens"] for i in range(4)]
    got = [None] * 4

    def run(i):
        got[i] = engine.ask(f"Why {i}?", TEXTS, max_tokens=3, ignore_eos=True)["tokens"]

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert got == wanted


def test_facts():
    assert looseleaf.version()
    names = {method["name"] for method in looseleaf.methods()}
    assert {"full", "reuse"} <= names
    json.dumps(looseleaf.methods())
