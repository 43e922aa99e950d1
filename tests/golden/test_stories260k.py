"""A trained model that others made golden answers for: llama2.c's stories260K, fed token ids.

Looked for in the folder that LOOSELEAF_TEST_DATA names; skipped where it is not there.
"""
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

BINARY = os.environ.get("LOOSELEAF_BIN", "build/bin/looseleaf")
HERE = Path(__file__).resolve().parent
STORIES = Path(os.environ.get("LOOSELEAF_TEST_DATA") or "nowhere") / "models" / "stories260K"
TOLERANCE = 2e-3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    if not (STORIES / "stories260K.bin").exists():
        pytest.skip("no models/stories260K in LOOSELEAF_TEST_DATA")
    out = tmp_path_factory.mktemp("stories260K")
    subprocess.run([sys.executable, HERE / "convert_stories260k.py", STORIES / "stories260K.bin", out], check=True)
    return out


def test_every_golden_case(folder, tmp_path):
    cases = json.loads((folder / "golden.json").read_text())["cases"]
    assert cases
    for case in cases:
        prompt = case["header"] + sum(case["documents"], []) + case["tail"]
        body = {"prompt": prompt, "max_tokens": len(case["steps"]), "temperature": 0, "logprobs": 8, "method": "full",
                "ignore_eos": True}
        (tmp_path / "body.json").write_text(json.dumps(body))
        done = subprocess.run([BINARY, "run", folder, "--request", tmp_path / "body.json", "--json", "--exact"],
                              stdout=subprocess.PIPE, text=True, check=True)
        answer = json.loads(done.stdout)
        assert answer["tokens"] == [step["greedy"] for step in case["steps"]], case["name"]
        for got, step in zip(answer["logprobs"], case["steps"], strict=True):
            top = dict(map(tuple, got["top"]))
            for token, logprob in step["top"]:
                assert abs(top.get(token, -1e9) - logprob) < TOLERANCE, (case["name"], token)
