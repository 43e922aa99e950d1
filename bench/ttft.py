#!/usr/bin/env python3
"""Time to first token by method, as in the README's table: python3 bench/ttft.py --model MODEL.gguf

One process answers everything, so the model is loaded once and all methods see the same machine. A repetition has a
cache salt of its own, so nothing is found that it did not put there itself:

    put there:  the documents in a first order, once by `prefix` and once by `reuse`
    measured:   full              the first order again; nothing of the documents is taken from a cache
                prefix, same      the first order again, another question
                prefix, new       another order that begins with another document: only the header is found
                block, new        chunks found, copied and re-rotated to another order
                reuse, new        chunks found and bound in another order

Every request asks its own question, and the methods take turns in going first. Each answer's own account of what was
cached is checked, and a cell in the wrong state ends the run. Prints a Markdown table, and JSON with --json.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import random
import shlex
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "examples" / "documents"
QUESTIONS = ["When does the ferry sail in winter?", "Who looks after the tide mill?", "What does a storm loaf cost?",
             "Where does the school bell come from?", "What is the oldest book in the library?"]
# (method, order of the documents, what is found in the cache)
CELLS = [("full", "any", "header"),
         ("prefix", "same again", "header and documents"),
         ("prefix", "new", "header"),
         ("block", "new", "header and chunks"),
         ("reuse", "new", "header and chunks")]


def make_documents(count, words_each):
    """Cuts the example texts, joined and read round and round, into documents of one length."""
    words = " ".join(path.read_text() for path in sorted(EXAMPLES.glob("*.md"))).replace("# ", "").split()
    return [{"title": f"Notes {i + 1}",
             "text": " ".join(words[(i * words_each + k) % len(words)] for k in range(words_each))}
            for i in range(count)]


def plan(documents, repetitions):
    """Returns the bodies in the order in which they are asked, each with its cell's index or None (not measured)."""
    draw = random.Random(1)
    steps = []

    def ask(cell, method, order, salt):
        number = len(steps) + 1
        question = f"{number}: {QUESTIONS[number % len(QUESTIONS)]}"
        steps.append((cell, {"messages": [{"role": "user", "content": question}], "method": method, "cache_salt": salt,
                             "documents": [documents[i] for i in order], "temperature": 0, "max_tokens": 1}))

    indices = list(range(len(documents)))
    for repetition in range(repetitions):
        salt = f"repetition {repetition}"
        first = draw.sample(indices, len(indices))
        orders = {"any": [first], "same again": [first]}
        # A rotation by k begins with another document than all others, so prefixes never meet beyond the header.
        orders["new"] = [first[k:] + first[:k] for k in draw.sample(indices[1:], 3)]
        ask(None, "prefix", first, salt)
        ask(None, "reuse", first, salt)
        turn = repetition % len(CELLS)
        for cell in list(range(turn, len(CELLS))) + list(range(turn)):
            method, order, _ = CELLS[cell]
            ask(cell, method, orders[order].pop(), salt)
    return steps


def run(binary, model, flags, steps):
    """Yields one answer a step."""
    with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as bodies:
        for _, body in steps:
            bodies.write(json.dumps(body) + "\n")
        bodies.flush()
        command = [binary, "run", model, "--requests", bodies.name, "--json", *flags]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for number, line in enumerate(process.stdout, 1):
                print(f"\rbench: {number} of {len(steps)} requests", end="", file=sys.stderr, flush=True)
                yield json.loads(line)
        print(file=sys.stderr)
        if process.returncode:
            sys.exit(f"bench: '{shlex.join(command)}' ended with {process.returncode}")


def check(cell, answer, header_tokens):
    """The cache must have held what the cell says: neither more nor less."""
    found = answer["usage"]["prompt_tokens_details"]["cached_tokens"]
    documents = sum(chunk["tokens"] for chunk in answer["looseleaf"]["chunks"])
    low = header_tokens + (documents if "and" in CELLS[cell][2] else 0)
    if not low <= found <= low + 4:  # the question's first words may be the same as another's
        sys.exit(f"\nbench: {CELLS[cell]}: {found} tokens were cached, not about {low}; nothing is reported")


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def commit():
    done = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip() or None


def markdown(report):
    machine = report["machine"]
    full = report["rows"][0]["ttft_ms"]["median"]
    lines = [f"{report['model']}, {machine['cpu']}, {machine['threads']} threads; {report['documents']['count']} documents "
             f"of {report['documents']['tokens']} tokens, {report['repetitions']} repetitions", "",
             "| method | order of the documents | found in the cache | tokens computed | time to first token, ms | |",
             "|---|---|---|---|---|---|"]
    for row in report["rows"]:
        ms = row["ttft_ms"]
        lines.append(f"| `{row['method']}` | {row['order']} | {row['cached']} | {row['computed_tokens']:,} of "
                     f"{row['prompt_tokens']:,} | {ms['median']:,.0f} ({ms['min']:,.0f} to {ms['max']:,.0f}) "
                     f"| {full / ms['median']:,.1f}x |")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", required=True)
    parser.add_argument("--bin", default=str(ROOT / "build/bin/looseleaf"))
    parser.add_argument("--reps", type=int, default=5)
    parser.add_argument("--docs", type=int, default=10, help="documents in a prompt (default 10)")
    parser.add_argument("--words", type=int, default=285, help="words in a document (default 285, some 400 tokens)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json", metavar="FILE", help="write the report there too; - for standard output")
    args = parser.parse_args()
    if args.docs < 4:
        parser.error("--docs: three new orders need at least 4 documents")

    steps = plan(make_documents(args.docs, args.words), args.reps)
    measured = [[] for _ in CELLS]
    header_tokens, tokens = 0, []
    for (cell, _), answer in zip(steps, run(args.bin, args.model, ["--threads", str(args.threads)], steps)):
        chunks = answer["looseleaf"]["chunks"]
        header_tokens, tokens = chunks[0]["offset"], [chunk["tokens"] for chunk in chunks]
        if cell is not None:
            check(cell, answer, header_tokens)
            measured[cell].append(answer)

    rows = []
    for (method, order, cached), answers in zip(CELLS, measured):
        times = [answer["looseleaf"]["ttft_ms"] for answer in answers]
        usage = answers[-1]["usage"]
        rows.append({"method": answers[-1]["looseleaf"]["method"], "order": order, "cached": cached,
                     "prompt_tokens": usage["prompt_tokens"],
                     "computed_tokens": usage["prompt_tokens"] - usage["prompt_tokens_details"]["cached_tokens"],
                     "ttft_ms": {"median": statistics.median(times), "min": min(times), "max": max(times), "all": times}})
    report = {"bench": "ttft", "date": datetime.date.today().isoformat(), "commit": commit(),
              "command": shlex.join(["bench/ttft.py", *sys.argv[1:]]), "model": pathlib.Path(args.model).name,
              "machine": {"cpu": cpu_name(), "cores": os.cpu_count(), "threads": args.threads},
              "documents": {"count": args.docs, "tokens": round(statistics.mean(tokens)), "header_tokens": header_tokens},
              "repetitions": args.reps, "rows": rows}
    if args.json == "-":
        print(json.dumps(report, indent=1))
        return
    print(markdown(report))
    if args.json:
        pathlib.Path(args.json).write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
