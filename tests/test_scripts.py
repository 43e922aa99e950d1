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
