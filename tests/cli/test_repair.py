"""Repairs through the real binary: what they report, return and dump. See test_run.py for the environment."""
import json
import os
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest

BINARY = os.environ.get("LOOSELEAF_BIN", "build/bin/looseleaf")
MODEL = str(Path(os.environ.get("LOOSELEAF_GOLDEN_DIR", "tests/golden/models")) / "repair_hf")
REPAIRS = ["relaxkv", "prophetkv", "cacheblend", "epic:3", "weave", "random"]


def run(*args, stdin=""):
    return subprocess.run([BINARY, "run", MODEL, "--device", "cpu", *args], input=stdin, capture_output=True, text=True,
                          timeout=120)


def body(**fields):
    documents = [{"tokens": [3 + (d * 7 + i * i) % 60 for i in range(20 + d)]} for d in range(3)]
    return json.dumps({"prefix": [1, 5, 6], "documents": documents, "prompt": [7, 8, 9], "max_tokens": 2,
                       "temperature": 0, "logprobs": 3, "ignore_eos": True} | fields)


def answer(**fields):
    done = run("--request", "-", "--json", stdin=body(**fields))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def arrays(path):
    """An .npz as {name: (shape, flat values)}, read by the format's description."""
    out = {}
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        for name in file.namelist():
            data = file.read(name)
            assert data[:8] == b"\x93NUMPY\x01\x00"
            end = 10 + struct.unpack("<H", data[8:10])[0]
            assert end % 64 == 0
            header = eval(data[10:end])  # a literal of our own file
            assert header["fortran_order"] is False
            kind = {"<f4": "f", "<i4": "i", "|b1": "?"}[header["descr"]]
            count = (len(data) - end) // struct.calcsize("<" + kind)
            out[name.removesuffix(".npy")] = (header["shape"], struct.unpack(f"<{count}{kind}", data[end:]))
    return out


@pytest.mark.parametrize("method", REPAIRS)
def test_reports_what_it_did(method):
    got = answer(method=method)["looseleaf"]
    assert got["method"].startswith(method)
    assert got["repaired_tokens"] > 0
    assert got["kv_bytes"]["overlay"] > 0
    assert got["flops"]["repair"] > 0
    assert (got["flops"]["score"] > 0) == (method not in ("epic:3", "random"))
    assert got["timings"]["repair_ms"] > 0


def test_returns_scores_and_targets_and_takes_them_back():
    weave = answer(method="weave:0.1", **{"return": ["scores", "targets"]})
    own = weave["looseleaf"]
    assert own["token_chunks"] == [0] * 20 + [1] * 21 + [2] * 22
    assert [len(row) for row in own["scores"]] == [63] * 6
    assert len(own["targets"]) == 6
    assert own["repaired_tokens"] == len(own["targets"][1])
    plan = answer(method={"name": "plan", "targets": own["targets"], "context": "causal"})
    assert plan["logprobs"] == weave["logprobs"]
    assert plan["looseleaf"]["repaired_tokens"] == own["repaired_tokens"]
    assert "scores" not in plan["looseleaf"]


def test_dump(tmp_path):
    folder = tmp_path / "new" / "folder"
    bodies = tmp_path / "bodies.jsonl"
    bodies.write_text(body(method="weave:0.1") + "\n" + body(method="epic:2") + "\n")
    done = run("--requests", str(bodies), "--dump", str(folder))
    assert done.returncode == 0, done.stderr
    for k, line in enumerate(done.stdout.splitlines()):
        own = json.loads(line)["looseleaf"]
        dumped = arrays(folder / f"{k}.npz")
        assert dumped["token_chunks"] == ((63,), tuple(own["token_chunks"]))
        shape, scores = dumped["scores"]
        assert shape == (6, 63)
        assert scores == pytest.approx(sum(own["scores"], []))
        shape, mask = dumped["targets"]
        assert shape == (6, 63)
        assert [[t for t in range(63) if mask[layer * 63 + t]] for layer in range(6)] == own["targets"]


def test_dump_refusals(tmp_path):
    (tmp_path / "file").write_text("")
    done = run("--request", "-", "--dump", str(tmp_path / "file"), stdin=body(method="weave"))
    assert done.returncode != 0
    assert "--dump" in done.stderr and done.stderr.count("\n") == 1
    done = run("--request", "-", "--dump", str(tmp_path), stdin=body(method="full"))
    assert done.returncode == 1
    assert "return: method full has no scores" in done.stderr


def test_refuses_targets_that_do_not_fit():
    done = run("--request", "-", stdin=body(method={"name": "plan", "targets": [[0], [63], [], [], [], []]}))
    assert done.returncode == 1
    assert "method.targets[1][0]: 63 is not the number of a document token" in done.stderr
