"""`looseleaf bench`: its JSON has the interface's shape, and what it cannot do is refused in a line."""
import json

import pytest
from test_repair import body
from test_repair import run as run_repair
from test_run import DONE, MODEL, REFUSED, USAGE, assert_refused, looseleaf


def rows(*args):
    done = looseleaf("bench", "engine", MODEL, "--json", "--reps", "2", *args)
    assert done.returncode == DONE, done.stderr
    return json.loads(done.stdout)


def test_engine_rows():
    got = rows("-p", "7,40", "-n", "3", "-d", "0,33")
    assert [(row["test"], row["depth"]) for row in got] == [
        ("pp7", 0), ("pp40", 0), ("tg3", 0), ("pp7", 33), ("pp40", 33), ("tg3", 33)]
    for row in got:
        speed = row["tokens_per_s"]
        assert 0 < speed["min"] <= speed["median"] <= speed["max"]
        assert row["gbps"] > 0 and row["gflops"] > 0


def test_documents_and_ceilings():
    got = {row["test"]: row for row in rows("-p", "0", "-n", "0", "--documents", "3", "--document-tokens", "20")}
    assert list(got) == ["ceilings", "question", "shared_rows", "memory"]
    assert got["ceilings"]["gbps"] > 0 and got["ceilings"]["gflops"] > 0
    assert got["question"]["ms"]["median"] > 0 and got["question"]["over_floor"] > 0
    assert got["shared_rows"]["rows"] == 8 and got["shared_rows"]["speedup"] > 0


def recorded(tmp_path):
    """A repair of the six-layer model, as `run --dump` leaves it."""
    done = run_repair("--request", "-", "--dump", str(tmp_path), "--json", stdin=body(method="weave:0.1"))
    assert done.returncode == DONE, done.stderr
    return str(tmp_path / "0.npz"), json.loads(done.stdout)["looseleaf"]["repaired_tokens"] / 63


def test_a_recorded_repair_on_another_model(tmp_path):
    file, share = recorded(tmp_path)
    args = ["-p", "0", "-n", "0", "--documents", "4", "--document-tokens", "50", "--repair-set", file]
    for context in ("own+union", "causal"):
        (row,) = rows(*args, "--repair-context", context)
        assert row["test"] == "repair" and row["context"] == context
        assert abs(row["repaired_tokens"] - share * 200) <= 1
        assert row["ms"]["min"] > 0 and row["question_ms"]["min"] > 0 and row["full_ms"]["min"] > 0
        assert row["over_rate"] == pytest.approx(row["full_gflops"] / row["gflops"])
        assert 0 < row["share_of_full"] < 1.2
    assert_refused(looseleaf("bench", "engine", MODEL, "--repair-set", file), USAGE, "--documents")
    assert_refused(looseleaf("bench", "engine", MODEL, *args, "--repair-context", "all"), USAGE, "own+union")
    assert_refused(looseleaf("bench", "engine", MODEL, *args[:-1], MODEL), REFUSED, ".npz")


def test_table():
    done = looseleaf("bench", "engine", MODEL, "-p", "5", "-n", "0", "--reps", "1")
    assert done.returncode == DONE, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["test", "pp5"]


def test_refusals():
    assert_refused(looseleaf("bench", "engines", MODEL), USAGE, "engines", "there are: attention, engine")
    assert_refused(looseleaf("bench"), USAGE, "there are: attention, engine")
    assert_refused(looseleaf("bench", "engine", MODEL, "-p", "5,x"), USAGE, "--prefill", "whole number")
    assert_refused(looseleaf("bench", "engine", MODEL, "-p", "5,"), USAGE, "--prefill")
    assert_refused(looseleaf("bench", "engine", MODEL, "-p", "1000000"), USAGE, "context of")


def attention(*args):
    done = looseleaf("bench", "attention", "--device", "cpu", "--json", *args)
    assert done.returncode == DONE, done.stderr
    return json.loads(done.stdout)


def test_attention_rows():
    got = attention("--row", "3x2/4/1.0/40", "--row", "5/70/33", "--heads", "4", "--kv-heads", "2", "--head-dim", "32",
                    "--reps", "2")
    decode = ["reuse", "floor", "request-major", "rotate-keys", "private"]
    prefill = ["reuse", "floor", "rotate-keys", "copy"]
    assert [row["kernel"] for row in got] == decode + prefill
    assert [row["shape"]["phase"] for row in got] == ["decode"] * len(decode) + ["prefill"] * len(prefill)
    assert got[0]["shape"]["requests"] == 3 and got[0]["shape"]["row"] == "3x2/4/1.0/40"
    assert got[-1]["shape"]["cached"] == 70 and got[-1]["shape"]["kv_type"] == "f16"
    for row in got:
        assert 0 < row["us"]["min"] <= row["us"]["median"] <= row["us"]["max"]
        assert row["share"] == pytest.approx(row["floor_us"] / row["us"]["median"])
    # 5 rows x 70 keys and their own triangle, 4 heads of 32; 75 keys and values of 2 heads, queries and results.
    assert got[-1]["flops"] == 4 * 32 * 4 * (5 * 70 + 15)
    assert got[-1]["bytes"] == 75 * 2 * 2 * 32 * 2 + 2 * 4 * 5 * 4 * 32


def test_attention_ways_agree_with_the_definition():
    got = attention("--check", "--kv-type", "f32", "--seed", "11")
    assert {row["kernel"] for row in got} == {"reuse", "floor", "request-major", "rotate-keys", "private", "copy"}
    assert all(row["error"] < row["bound"] < 1e-4 for row in got)


def test_attention_refusals():
    assert_refused(looseleaf("bench", "attention", MODEL), USAGE, "takes no MODEL")
    assert_refused(looseleaf("bench", "attention", "--row", "5"), USAGE, "--row", "2048/16384/512")
    assert_refused(looseleaf("bench", "attention", "--row", "9x5/4/0/7"), USAGE, "--row", "5 to")
    assert_refused(looseleaf("bench", "attention", "--row", "1x60000/60000/0/60000"), USAGE, "--row", "tokens")
    assert_refused(looseleaf("bench", "attention", "--ways", "reuse,best"), USAGE, "best", "rotate-keys")
    assert_refused(looseleaf("bench", "attention", "--heads", "3", "--kv-heads", "2"), USAGE, "--kv-heads")
    assert_refused(looseleaf("bench", "attention", "--device", "cpu", "--kv-type", "f12"), USAGE, "f12")


def test_a_model_with_random_weights():
    done = looseleaf("bench", "engine", "random:smollm2-135m/1", "--device", "cpu", "-p", "8", "-n", "1", "--reps", "1", "--json")
    assert done.returncode == DONE, done.stderr
    assert [row["test"] for row in json.loads(done.stdout)] == ["pp8", "tg1"]
    done = looseleaf("run", "random:smollm2-135m/1", "--device", "cpu", "-q", "Why?", "--doc-text", "So.", "-n", "2")
    assert done.returncode == DONE, done.stderr
    done = looseleaf("inspect", "random:smollm2-135m/1", "--device", "cpu")
    assert "random weights" in done.stdout
    assert_refused(looseleaf("bench", "engine", "random:gpt-2"), USAGE, "gpt-2", "llama-3.1-8b")
