#!/usr/bin/env python3
"""This project beside llama.cpp on the CPU at hand: python3 bench/cpu.py MODEL.gguf [MODEL.gguf ...]

Same GGUF, same threads; the two take turns, so that both see the same machine. Measured are prefill and decode
(llama-bench, looseleaf bench engine), and the time to the first token behind documents that are cached and come in a
new order (llama-server with --cache-reuse, looseleaf run; both get the very same token ids). Printed are medians with
their range, and what the machine does at most.

--samples FILE keeps every measurement, and a later run adds to it; --reps 0 prints what is there.
"""

import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import ttft
from peers import llama_server

ROOT = pathlib.Path(__file__).resolve().parent.parent
# name, tokens of prompt, tokens to generate, depth
SPEEDS = [("prefill 512", 512, 0, 0), ("prefill 4096", 4096, 0, 0), ("decode", 0, 64, 0), ("decode at 4096", 0, 64, 4096)]
FIRST_TOKEN = "first token, documents cached, new order"


def output_of(command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench: '{' '.join(map(str, command))}' ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return done.stdout


def looseleaf_speed(binary, model, threads, prompt, generated, depth):
    rows = json.loads(output_of([binary, "bench", "engine", model, "-p", prompt, "-n", generated, "-d", depth,
                                 "--reps", 1, "--threads", threads, "--json"]))
    return {"value": rows[0]["tokens_per_s"]["median"], "gbps": rows[0]["gbps"], "gflops": rows[0]["gflops"]}


def llama_speed(folder, model, threads, prompt, generated, depth):
    rows = json.loads(output_of([folder / "llama-bench", "-m", model, "-p", prompt, "-n", generated, "-d", depth,
                                 "-r", 1, "-t", threads, "-o", "json"]))
    return {"value": rows[0]["avg_ts"]}


def first_tokens(binary, folder, model, threads, count, words, orders):
    """Yields (who, ms) for prompts over the same documents, each in an order of its own."""
    steps = []
    documents = ttft.make_documents(count, words)
    for k in range(orders + 1):  # the first one puts the documents there
        question = f"{k + 1}: {ttft.QUESTIONS[k % len(ttft.QUESTIONS)]}"
        order = documents[k:] + documents[:k]
        steps.append((None, {"messages": [{"role": "user", "content": question}], "method": "reuse", "documents": order,
                             "temperature": 0, "max_tokens": 1}))
    answers = list(ttft.run(binary, model, ["--threads", str(threads), "--echo-tokens"], steps))
    for answer in answers[1:]:
        found = answer["usage"]["prompt_tokens_details"]["cached_tokens"]
        chunks = answer["looseleaf"]["chunks"]
        if found < chunks[0]["offset"] + sum(chunk["tokens"] for chunk in chunks) - 16:
            sys.exit(f"bench: only {found} tokens were cached; nothing is reported")
        yield "looseleaf", answer["looseleaf"]["ttft_ms"]
    with llama_server.running(folder, model, threads) as ask:
        for number, answer in enumerate(answers):
            ms = ask(answer["prompt_tokens_ids"])
            if number > 0:
                yield "llama.cpp", ms


def requantized(folder, model, kind):
    """The model with its matrices in another type, made once by llama-quantize beside llama.cpp's programs."""
    model = pathlib.Path(model)
    made = folder / f"{model.stem}.to-{kind}.gguf"
    if not made.exists():
        partial = made.with_suffix(".partial")
        output_of([folder / "llama-quantize", "--allow-requantize", model, partial, kind])
        partial.rename(made)
    return str(made)


def measure(args, folder, add):
    models = args.models + [requantized(folder, model, kind) for model in args.models for kind in args.requantize]
    for model in models:
        name = pathlib.Path(model).name
        for repetition in range(args.reps):
            for test, prompt, generated, depth in SPEEDS:
                if args.only and test not in args.only:
                    continue
                for who in (["looseleaf", "llama.cpp"], ["llama.cpp", "looseleaf"])[repetition % 2]:
                    speed = (looseleaf_speed(args.bin, model, args.threads, prompt, generated, depth)
                             if who == "looseleaf" else llama_speed(folder, model, args.threads, prompt, generated, depth))
                    add({"model": name, "test": test, "who": who, **speed})
        if args.reps and (not args.only or FIRST_TOKEN in args.only):
            for who, ms in first_tokens(args.bin, folder, model, args.threads, args.docs, args.words, args.reps):
                add({"model": name, "test": FIRST_TOKEN, "who": who, "value": ms})


def show(values):
    digits = 0 if statistics.median(values) >= 100 else 1
    return f"{statistics.median(values):,.{digits}f} ({min(values):,.{digits}f} to {max(values):,.{digits}f})"


def table(samples):
    by = collections.defaultdict(list)
    for sample in samples:
        by[sample["model"], sample["test"], sample["who"]].append(sample)
    lines = ["| model | | looseleaf | llama.cpp | | GB/s | GFLOP/s |", "|---|---|---|---|---|---|---|"]
    for model, test in dict.fromkeys((s["model"], s["test"]) for s in samples):
        ours, theirs = by[model, test, "looseleaf"], by[model, test, "llama.cpp"]
        if not ours or not theirs:
            continue
        values = [s["value"] for s in ours], [s["value"] for s in theirs]
        ratio = statistics.median(values[0]) / statistics.median(values[1])
        unit, ratio = ("ms", 1 / ratio) if test == FIRST_TOKEN else ("tokens/s", ratio)
        rates = [f"{statistics.median(s[key] for s in ours):.1f}" if key in ours[0] else "" for key in ("gbps", "gflops")]
        lines.append(f"| {model} | {test}, {unit} | {show(values[0])} | {show(values[1])} | {ratio:.2f}x | "
                     f"{rates[0]} | {rates[1]} |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--bin", default=str(ROOT / "build/bin/looseleaf"))
    parser.add_argument("--reps", type=int, default=3)
    parser.add_argument("--docs", type=int, default=10, help="documents in a prompt (default 10)")
    parser.add_argument("--words", type=int, default=310, help="words in a document (default 310, some 400 tokens)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", action="append", metavar="TEST", help="this test only; may be repeated")
    parser.add_argument("--peer", metavar="FOLDER", help="llama.cpp's programs; default: built by bench/peers/llama_cpp.sh")
    parser.add_argument("--requantize", action="append", default=[], metavar="TYPE",
                        help="the models in this type too, e.g. Q8_0, made by llama-quantize; may be repeated")
    parser.add_argument("--samples", metavar="FILE", help="add measurements to this file, and print all that it holds")
    args = parser.parse_args()

    samples = []
    kept = pathlib.Path(args.samples) if args.samples else None
    if kept and kept.exists():
        samples = [json.loads(line) for line in kept.read_text().splitlines()]

    def add(sample):
        samples.append(sample)
        print(f"bench: {sample}", file=sys.stderr, flush=True)
        if kept:
            with kept.open("a") as file:
                file.write(json.dumps(sample) + "\n")

    folder = pathlib.Path(args.peer or (output_of([ROOT / "bench/peers/llama_cpp.sh"]).strip() if args.reps else "."))
    if args.reps:
        measure(args, folder, add)
    print(f"{ttft.cpu_name()}, {args.threads} threads\n")
    if args.reps:
        print(output_of([args.bin, "bench", "engine", args.models[0], "-p", 0, "-n", 0, "--ceilings", "--threads",
                         args.threads]).splitlines()[0] + "\n")
    print(table(samples))


if __name__ == "__main__":
    main()
