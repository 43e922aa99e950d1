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
    assert_refused(looseleaf("bench", "engines", MODEL), USAGE, "engines", "there is: engine")
    assert_refused(looseleaf("bench"), USAGE, "there is: engine")
    assert_refused(looseleaf("bench", "engine", MODEL, "-p", "5,x"), USAGE, "--prefill", "whole number")
    assert_refused(looseleaf("bench", "engine", MODEL, "-p", "5,"), USAGE, "--prefill")
    assert_refused(looseleaf("bench", "engine", MODEL, "-p", "1000000"), USAGE, "context of")
