"""What a person runs first, with a tiny model: the demo and the table of times to first token."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = os.environ.get("LOOSELEAF_BIN", str(ROOT / "build/bin/looseleaf"))
MODEL = str(ROOT / "tests/golden/models/llama_f32.gguf")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env={**os.environ, "LOOSELEAF_BIN": BINARY})
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def test_demo_fits_a_screen_and_shows_that_chunks_were_reused():
    done = run(str(ROOT / "scripts/demo.sh"), MODEL)
    assert done.stderr == ""
    lines = done.stdout.splitlines()
    assert len(lines) < 40
    assert any(line.startswith("1. reuse") and " 0 of 10 " in line for line in lines)
    assert any(line.startswith("2. reuse") and " 10 of 10 " in line for line in lines)
    assert any(line.startswith("3. full") for line in lines)


def test_bench_reports_every_cell(tmp_path):
    report = tmp_path / "report.json"
    done = run(sys.executable, str(ROOT / "bench/ttft.py"), "--model", MODEL, "--bin", BINARY, "--reps", "2", "--docs", "4",
               "--words", "80", "--json", str(report))
    assert done.stdout.count("\n| `") == 5
    rows = json.loads(report.read_text())["rows"]
    assert [row["method"].split(":")[0] for row in rows] == ["full", "prefix", "prefix", "block", "reuse"]
    full, same, new, block, reuse = (row["computed_tokens"] / row["prompt_tokens"] for row in rows)
    assert max(same, block, reuse) < 0.3 < 0.7 < min(full, new)


FAKE_BENCH = """#!/usr/bin/env python3
print('[{"avg_ts": 0.5}]')
"""
FAKE_SERVER = """#!/usr/bin/env python3
import http.server, json, sys

class Handler(http.server.BaseHTTPRequestHandler):
    def reply(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")
    do_GET = reply
    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        assert len(body["prompt"]) > 50 and body["n_predict"] == 1
        self.reply()
    def log_message(self, *args):
        pass

assert "--cache-reuse" in sys.argv
http.server.HTTPServer(("127.0.0.1", int(sys.argv[sys.argv.index("--port") + 1])), Handler).serve_forever()
"""


def test_bench_beside_a_peer(tmp_path):
    for name, text in [("llama-bench", FAKE_BENCH), ("llama-server", FAKE_SERVER)]:
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    samples = tmp_path / "samples.jsonl"
    command = [sys.executable, str(ROOT / "bench/cpu.py"), MODEL, "--bin", BINARY, "--peer", str(tmp_path), "--docs", "4",
               "--words", "20", "--only", "decode", "--only", "first token, documents cached, new order",
               "--samples", str(samples)]
    run(*command, "--reps", "2")
    kept = [json.loads(line) for line in samples.read_text().splitlines()]
    assert [(s["test"].split(",")[0], s["who"]) for s in kept] == [
        ("decode", "looseleaf"), ("decode", "llama.cpp"), ("decode", "llama.cpp"), ("decode", "looseleaf"),
        *[("first token", "looseleaf")] * 2, *[("first token", "llama.cpp")] * 2]
    again = run(*command, "--reps", "0").stdout
    assert again.count("| llama_f32.gguf |") == 2 and "0.5 (0.5 to 0.5)" in again


def test_attention_beside_peers_that_are_not_here(tmp_path):
    script = [sys.executable, str(ROOT / "bench/peers/attention.py"), "--bin", BINARY]
    planned = run(*script, "--dry-run").stdout.splitlines()
    assert len(planned) == 11 and all(line.endswith("| sdpa-flash | sdpa-cudnn | flashinfer") for line in planned)
    report = tmp_path / "report.json"
    done = run(*script, "--device", "cpu", "--reps", "1", "--heads", "4", "--kv-heads", "2", "--head-dim", "32", "--row",
               "4/40/16", "--row", "2x2/3/1.0", "--peers", "flashinfer", "--json", str(report))
    entries = json.loads(report.read_text())
    assert [entry["kernel"] for entry in entries if entry["shape"]["phase"] == "prefill"] == [
        "reuse", "floor", "rotate-keys", "copy", "flashinfer"]
    assert entries[-1]["shape"]["row"] == "2x2/3/1.0/512"
    assert all("note" in entry for entry in entries if entry["kernel"] == "flashinfer" and "us" not in entry)
    assert done.stdout.count("4/40/16") == 5
    refused = subprocess.run([*script, "--row", "4x"], capture_output=True, text=True)
    assert refused.returncode == 2 and "ROWS/CACHED/CHUNK" in refused.stderr
