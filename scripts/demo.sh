#!/usr/bin/env bash
# scripts/demo.sh MODEL: one question over examples/documents, three times: documents met for the first time, the same
# documents in another order, and that order prefilled in the ordinary way.
set -euo pipefail
cd "$(dirname "$0")/.."

model=${1:?usage: scripts/demo.sh MODEL.gguf}
looseleaf=${LOOSELEAF_BIN:-build/bin/looseleaf}
# A model this small answers few questions: this one it gets right in every method and in both orders.
question="In one sentence, what is the school newspaper called?"
first_order=0,1,2,3,4,5,6,7,8,9
other_order=2,0,9,1,5,3,7,8,6,4

answers=$(mktemp)
trap 'rm -f "$answers"' EXIT
# The CPU everywhere, so that all see the same; LOOSELEAF_ARG_DEVICE=auto takes a GPU where there is one.
export LOOSELEAF_ARG_DEVICE=${LOOSELEAF_ARG_DEVICE:-cpu}
ask() { "$looseleaf" run "$model" --docs examples/documents --json -n 48 "$@" >>"$answers"; }

cat <<TEXT

$(basename "$model" .gguf) on the CPU, ten documents in examples/documents, one question:
  $question

1. reuse: each document is read once, alone, and its keys and values are kept
2. reuse: the same documents in another order, found where they are
3. full:  that order in the ordinary way, every document read again in its place
TEXT
ask --method reuse -q "$question" -q "$question" --order $first_order --order $other_order
ask --method full -q "$question" --order $other_order

python3 - "$answers" $first_order $other_order $other_order <<'PYTHON'
import json, sys

def size(count):
    return f"{count / 2**20:.1f} MiB" if count else "none"

rows = [json.loads(line) for line in open(sys.argv[1])]
full_ms = rows[-1]["looseleaf"]["ttft_ms"]
line = "{:3}{:8}{:21}{:>10}{:>13}{:>12}{:>14}{:>9}"
print()
print(line.format("", "", "", "documents", "KV shared", "KV of the", "time to", "against"))
print(line.format("", "method", "order of documents", "reused", "by requests", "request", "first token", "full"))
for number, (order, row) in enumerate(zip(sys.argv[2:], rows), 1):
    info = row["looseleaf"]
    reused = sum(chunk["source"] != "computed" for chunk in info["chunks"])
    print(line.format(f"{number}.", info["method"], order.replace(",", " "), f"{reused} of 10",
                      size(info["kv_bytes"]["chunks"]), size(info["kv_bytes"]["private"]),
                      f"{info['ttft_ms']:,.0f} ms", f"{full_ms / info['ttft_ms']:.1f}x"))
print()
for number, row in enumerate(rows, 1):
    print(f"{number}. {row['text'].strip()}")
PYTHON

cat <<TEXT

Now yours:  $looseleaf run $model --docs FOLDER -q "..." --timings
TEXT
