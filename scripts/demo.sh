#!/usr/bin/env bash
# scripts/demo.sh MODEL: one question over examples/documents, three times: documents met for the first time, the same
# documents in another order, and that order prefilled in the ordinary way.
set -euo pipefail
cd "$(dirname "$0")/.."

model=${1:?usage: scripts/demo.sh MODEL.gguf}
looseleaf=${LOOSELEAF_BIN:-build/bin/looseleaf}
question="What is the telescope of the observatory called? Answer in one sentence."
first_order=0,1,2,3,4,5,6,7,8,9
other_order=6,3,9,0,8,1,5,2,7,4

answers=$(mktemp)
trap 'rm -f "$answers"' EXIT
echo
echo "Ten short documents from examples/documents, $(basename "$model" .gguf) on the CPU. The question:"
echo "  $question"
echo
echo "Working: reuse, twice in one process, then full for comparison ..." >&2
ask=("$looseleaf" run "$model" --docs examples/documents --json -n 48)
"${ask[@]}" --method reuse -q "$question" -q "$question" --order $first_order --order $other_order >"$answers"
"${ask[@]}" --method full -q "$question" --order $other_order >>"$answers"

python3 - "$answers" <<'PYTHON'
import json, sys

def size(count):
    return f"{count / 2**20:.1f} MiB" if count else "0"

rows = [json.loads(line) for line in open(sys.argv[1])]
full_ms = rows[-1]["looseleaf"]["ttft_ms"]
print(f"{'method':8}{'order of documents':23}{'reused':>8}{'KV shared':>12}{'KV of its own':>15}{'first token':>13}")
for name, order, row in zip(("reuse", "reuse", "full"), ("0 1 2 3 4 5 6 7 8 9", "6 3 9 0 8 1 5 2 7 4") + ("6 3 9 0 8 1 5 2 7 4",), rows):
    info = row["looseleaf"]
    reused = sum(chunk["source"] != "computed" for chunk in info["chunks"])
    speed = full_ms / info["ttft_ms"]
    print(f"{name:8}{order:23}{reused:>5}/{len(info['chunks'])}{size(info['kv_bytes']['chunks']):>12}"
          f"{size(info['kv_bytes']['private']):>15}{info['ttft_ms']:>10.0f} ms{f'  {speed:.0f}x sooner' if speed > 1.5 else ''}")
    print(f"  -> {row['text'].strip()}")
PYTHON
