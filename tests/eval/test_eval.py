"""looseleaf eval and plot with the real binary and the tiny model, whose answers mean nothing:
LOOSELEAF_BIN=build/bin/looseleaf LOOSELEAF_GOLDEN_DIR=tests/golden/models pytest tests/eval

With LOOSELEAF_SMOLLM2 also a small real model on a task that it can do.
"""
import csv
import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

BINARY = os.environ.get("LOOSELEAF_BIN", "build/bin/looseleaf")
MODEL = str(Path(os.environ.get("LOOSELEAF_GOLDEN_DIR", "tests/golden/models")) / "llama_f32.gguf")
ENVIRONMENT = {k: v for k, v in os.environ.items() if not k.startswith("LOOSELEAF_ARG_")}
SMALL_RULER = ["--data", "ruler:multi-value", "--length", "700", "--documents", "4", "-n", "4"]


def looseleaf(*args, stdin="", **kwargs):
    return subprocess.run([BINARY, *map(str, args)], input=stdin, capture_output=True, text=True, timeout=240,
                          env=ENVIRONMENT, **kwargs)


def rows_of(*args, **kwargs):
    done = looseleaf("eval", MODEL, "--json", *args, **kwargs)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(code, *args, **kwargs):
    done = looseleaf(*args, **kwargs)
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stderr.startswith("looseleaf: ") and done.stderr.count("\n") == 1, done.stderr
    return done.stderr


@pytest.fixture
def qa_file(tmp_path):
    path = tmp_path / "small.jsonl"
    lines = [{"id": f"q{i}", "question": f"Who was number {i}?", "answers": ["Ada", "Ada L."],
              "ctxs": [{"title": f"T{k}", "text": f"Text {k} of {i} says something."} for k in range(3)]}
             for i in range(4)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_rows_have_the_keys_of_the_interface(qa_file):
    rows = rows_of("--data", qa_file, "--methods", "full,reuse,block", "-n", "3", "--seed", "5")
    methods = [row for row in rows if "method" in row]
    assert [row["method"] for row in methods] == ["full", "reuse", "block:inplace=0"]
    for row in methods:
        assert row["task"] == "small" and row["n"] == 4 and row["orders"] == 1 and row["n_documents"] == 3
        assert set(row["metrics"]) == {"f1", "em", "recall", "nll", "kl_first", "kl_answer"}
        for metric in row["metrics"].values():
            assert metric["lo"] <= metric["mean"] <= metric["hi"] <= metric["max"] + 1e-12
        assert row["ttft_ms"]["lo"] <= row["ttft_ms"]["median"] <= row["ttft_ms"]["hi"]
        assert row["context_tokens"] > 50 and 0 < row["flops"] < 1.1
    assert methods[0]["metrics"]["kl_answer"]["max"] == 0 < methods[1]["metrics"]["kl_answer"]["mean"]
    assert methods[1]["flops"] < methods[0]["flops"]
    pairs = [row for row in rows if "a" in row]
    assert len(pairs) == 3 * 6
    for pair in pairs:
        assert pair["lo"] <= pair["diff"] <= pair["hi"] and pair["n"] == 4
    by_method = {row["method"]: row["metrics"]["nll"]["mean"] for row in methods}
    nll = next(p for p in pairs if (p["a"], p["b"], p["metric"]) == ("full", "reuse", "nll"))
    assert nll["diff"] == pytest.approx(by_method["full"] - by_method["reuse"], abs=1e-9)


def test_every_row_says_where_it_comes_from(qa_file):
    for row in rows_of("--data", qa_file, "--limit", "1", "-n", "1", "--seed", "5", "--threads", "1"):
        assert row["version"] and row["commit"] and len(row["model"]) > 16 and len(row["data_hash"]) == 64
        assert (row["device"], row["threads"], row["seed"]) == ("cpu", 1, 5)
        assert row["kv_type"] and row["date"].endswith("Z")
        assert "eval" in row["command"] and "--seed 5" in row["command"]


def test_tables_and_pipes(qa_file):
    done = looseleaf("eval", MODEL, "--data", "-", "-n", "2", "--limit", "2", stdin=qa_file.read_text())
    assert done.returncode == 0, done.stderr
    assert "f1 %" in done.stdout and "reuse" in done.stdout and "a - b" in done.stdout


def test_shuffled_orders_share_token_counts(qa_file):
    rows = rows_of("--data", qa_file, "--order", "shuffle:3", "--limit", "2", "-n", "1", "--methods", "reuse")
    assert rows[0]["orders"] == 3 and rows[0]["n"] == 2


def test_seeds_repeat_and_differ():
    args = (*SMALL_RULER, "--limit", "2", "--methods", "reuse")
    first, again, other = rows_of(*args)[0], rows_of(*args)[0], rows_of(*args, "--seed", "1")[0]
    assert first["data_hash"] == again["data_hash"] != other["data_hash"]
    assert first["metrics"]["nll"]["mean"] == pytest.approx(again["metrics"]["nll"]["mean"], abs=1e-4)
    assert 450 < first["context_tokens"] <= 700


def test_a_killed_run_resumes_without_computing_again(tmp_path):
    samples = tmp_path / "s.jsonl"
    args = ["eval", MODEL, "--json", *SMALL_RULER, "--limit", "12", "--methods", "full,reuse", "--samples", str(samples)]
    run = subprocess.Popen([BINARY, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT)
    deadline = time.monotonic() + 120
    while run.poll() is None and time.monotonic() < deadline:
        if samples.exists() and samples.read_bytes().count(b"\n") >= 4:
            break
        time.sleep(0.002)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    kept = [line for line in samples.read_bytes().split(b"\n")[1:-1]]
    assert len(kept) >= 3
    marked = json.loads(kept[0]) | {"text": "computed before the kill"}
    lines = samples.read_bytes().split(b"\n")
    lines[1] = json.dumps(marked).encode()
    samples.write_bytes(b"\n".join(lines))
    done = looseleaf(*args)
    assert done.returncode == 0, done.stderr
    records = [json.loads(line) for line in samples.read_text().splitlines()[1:]]
    assert len(records) == 24
    assert records[0]["text"] == "computed before the kill"
    assert len({(r["sample"], r["method"]) for r in records}) == 24
    fresh = {(r["sample"], r["method"]): r for r in records}
    whole = looseleaf("eval", MODEL, "--json", *SMALL_RULER, "--limit", "12", "--methods", "full,reuse")
    for row, again in zip(json.loads(whole.stdout), json.loads(done.stdout)):
        if "method" in row:
            assert row["metrics"]["nll"]["mean"] == pytest.approx(again["metrics"]["nll"]["mean"], abs=1e-4)
    assert len({r["prompt_hash"] for r in fresh.values()}) == 12  # one a sample, whatever the method


def test_samples_of_another_configuration_are_refused(tmp_path):
    samples = tmp_path / "s.jsonl"
    args = ("eval", MODEL, *SMALL_RULER, "--limit", "1", "--samples", samples)
    assert looseleaf(*args).returncode == 0
    before = samples.read_bytes()
    assert "seed was 0 and is now 3" in refused(1, *args, "--seed", "3")
    assert "kv_type" in refused(1, *args, "--kv-type", "q8_0")
    assert "encoding_prefix" in refused(1, *args, "--encoding-prefix", "none")
    assert samples.read_bytes() == before
    assert looseleaf(*args, "--methods", "full,reuse,block").returncode == 0  # more methods: the same file


@pytest.mark.parametrize("method", ["full", "prefix", "reuse", "block"])
def test_check(method):
    done = looseleaf("eval", MODEL, "--check", method)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("passed") >= 4 and "failed" not in done.stdout


def test_preset_prints_the_papers_numbers(qa_file):
    done = looseleaf("eval", MODEL, "--preset", "lazyattention-qa", "--data", qa_file, "--limit", "1", "-n", "1")
    assert done.returncode == 0, done.stderr
    assert "71.80" in done.stdout and "2606.04302" in done.stdout and "differs: " in done.stdout


def test_plots(tmp_path, qa_file):
    result = tmp_path / "r.json"
    done = looseleaf("eval", MODEL, "--json", "--data", qa_file, "-n", "1", "--plot", tmp_path / "own")
    assert done.returncode == 0, done.stderr
    result.write_text(done.stdout)
    drawn = looseleaf("plot", result, "-y", "f1", "-x", "ttft", "-o", tmp_path / "p")
    assert drawn.returncode == 0, drawn.stderr
    names = ["svg", "csv"] + (["png"] if shutil.which("rsvg-convert") else [])
    assert drawn.stdout.split() == [str(tmp_path / f"p.{name}") for name in names]
    if "png" not in names:
        assert "librsvg2-bin" in drawn.stderr
    else:
        assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG") and (tmp_path / "own.png").exists()
    assert "<svg" in (tmp_path / "own.svg").read_text()
    with open(tmp_path / "p.csv", newline="") as file:
        points = list(csv.reader(file))
    assert points[0][:3] == ["task", "series", "method"] and points[0][3] == "time to first token, ms"
    rows = [row for row in json.loads(result.read_text()) if "method" in row]
    assert [float(point[4]) for point in points[1:]] == [100 * row["metrics"]["f1"]["mean"] for row in rows]


def test_what_is_wrong_is_said(tmp_path, qa_file):
    eval_ = ("eval", MODEL)
    assert "--data" in refused(2, *eval_)
    assert "not a method" in refused(2, *eval_, "--data", qa_file, "--methods", "full,fulll")
    assert "0.05..0.30/6" in refused(2, *eval_, "--data", qa_file, "--methods", "reuse:0.1..x/3")
    assert "there is no such task" in refused(2, *eval_, "--data", "ruler:hard")
    assert "shuffle:3" in refused(2, *eval_, "--data", qa_file, "--order", "random")
    assert "relaxkv-multi-value" in refused(2, *eval_, "--preset", "nothing")
    assert "zstd -dc" in refused(1, *eval_, "--data", "x.jsonl.zst")
    assert "two tasks" in refused(2, *eval_, "--data", qa_file, "--data", qa_file)
    bad = tmp_path / "bad.jsonl"
    bad.write_text(qa_file.read_text() + '{"question": "x"}\n')
    assert f"{bad}:5: answers: is missing" in refused(1, *eval_, "--data", bad)
    assert "no such file" in refused(1, "plot", tmp_path / "none.json").lower()
    assert "nothing to draw" in refused(2, "plot")
    assert str(bad) in refused(1, "plot", bad)


def test_longbench(tmp_path):
    path = tmp_path / "lb.jsonl"
    line = {"_id": "1", "dataset": "musique", "input": "who?", "answers": ["Ada"], "length": 9, "language": "en",
            "context": "Passage 1:\nOne.\n\nPassage 2:\nTwo three four five.\n", "all_classes": None}
    path.write_text(json.dumps(line) + "\n")
    (passages, *_) = rows_of("--data", path, "--template", "longbench", "-n", "1", "--methods", "reuse")
    (words, *_) = rows_of("--data", path, "--template", "longbench", "-n", "1", "--methods", "reuse", "--chunk", "6")
    assert passages["task"] == "musique" and set(passages["metrics"]) == {"f1", "nll"}
    assert passages["n_documents"] == 2 < words["n_documents"]


@pytest.mark.skipif("LOOSELEAF_SMOLLM2" not in os.environ, reason="LOOSELEAF_SMOLLM2 names no model")
def test_a_real_model_finds_a_single_needle():
    done = looseleaf("eval", os.environ["LOOSELEAF_SMOLLM2"], "--json", "--data", "ruler:single", "--length", "400",
                     "--documents", "3", "--limit", "3", "-n", "32", "--methods", "full,prefix,reuse")
    assert done.returncode == 0, done.stderr
    full, prefix, reuse = json.loads(done.stdout)[:3]
    assert full["metrics"]["recall"]["mean"] >= 2 / 3
    assert prefix["metrics"]["kl_answer"]["max"] < 1e-3 < reuse["metrics"]["kl_answer"]["mean"]
