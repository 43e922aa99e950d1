#!/usr/bin/env python3
"""Attention beside its peers on one GPU: python3 bench/peers/attention.py --bin build/bin/looseleaf [--row ROW]...

Each row is measured by `looseleaf bench attention --json`, and right after that, on the same GPU, by what can be
imported of PyTorch's SDPA (flash and cuDNN) and FlashInfer: captured in a CUDA graph over inputs that together exceed
the L2 cache several times, medians of --reps replays with their range. What a peer cannot do is told, not left out.

Prefill rows, ROWS/CACHED/CHUNK: a peer has one sequence of CACHED + ROWS keys in one piece, as if nothing had to move.
Flash and FlashInfer mask causally; cuDNN has no mask for more keys than rows in SDPA, and computes all pairs.
Decode rows, REQUESTSxCHUNKS/POOL/ZIPF/TOKENS: SDPA has a private copy a request, FlashInfer pages of 32 tokens that
requests share, drawn by the same law; a shared page cannot stand at two positions there, but its reads are the same.
"""

import argparse
import importlib
import itertools
import json
import pathlib
import random
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Those of docs/kernels.md.
ROWS = ["64/16384/512", "64/131072/512", "2048/16384/2048", "2048/16384/512", "2048/16384/100", "4096/32768/512",
        "64x16/1000/1.0/512", "128x10/2000/1.2/512", "64x16/1000/0.0/512", "64x32/500/0.8/512", "1x32/1000/0.0/512"]
PEERS = ["sdpa-flash", "sdpa-cudnn", "flashinfer"]
PAGE = 32
WARM_UP = 3


def parse_row(text):
    """The shape that a row names, in the words of the JSON of `bench attention`."""
    decode = re.fullmatch(r"(\d+)x(\d+)/(\d+)/(\d+(?:\.\d+)?)(?:/(\d+))?", text)
    if decode:
        requests, each, pool, zipf, tokens = decode.groups()
        return {"phase": "decode", "requests": int(requests), "chunks": int(each), "pool": int(pool), "zipf": float(zipf),
                "chunk_tokens": int(tokens or 512)}
    prefill = re.fullmatch(r"(\d+)/(\d+)(?:/(\d+))?", text)
    if prefill:
        rows, cached, chunk = prefill.groups()
        return {"phase": "prefill", "rows": int(rows), "cached": int(cached), "chunk_tokens": int(chunk or 512)}
    raise argparse.ArgumentTypeError(f"'{text}' is neither REQUESTSxCHUNKS/POOL/ZIPF/TOKENS nor ROWS/CACHED/CHUNK")


def row_text(text):
    parse_row(text)
    return text


def peer_names(text):
    names = [name for name in text.split(",") if name]
    for name in names:
        if name not in PEERS:
            raise argparse.ArgumentTypeError(f"there is no peer '{name}'; there are: {', '.join(PEERS)}")
    return names


def command(args, row):
    return [str(args.bin), "bench", "attention", "--json", "--device", args.device, "--row", row, "--heads", str(args.heads),
            "--kv-heads", str(args.kv_heads), "--head-dim", str(args.head_dim), "--reps", str(args.reps), "--seed",
            str(args.seed)]


def own_rows(args, row):
    done = subprocess.run(command(args, row), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"bench: '{' '.join(command(args, row))}' ended with {done.returncode}:\n{done.stderr[-2000:]}")
    sys.stderr.write(done.stderr)  # ways that were left out
    return json.loads(done.stdout)


def draw_chunks(shape, seed):
    """Chunks of each request: different ones, drawn with probability proportional to rank^-zipf."""
    drawn = random.Random(seed)
    cumulative = list(itertools.accumulate((rank + 1) ** -shape["zipf"] for rank in range(shape["pool"])))
    requests = []
    for _ in range(shape["requests"]):
        taken = {}
        while len(taken) < shape["chunks"]:
            tries = drawn.choices(range(shape["pool"]), cum_weights=cumulative, k=64)
            free = (chunk for chunk in itertools.chain(tries, range(shape["pool"])) if chunk not in taken)
            taken[next(free)] = True
        requests.append(list(taken))
    return requests


class NotHere(Exception):
    """Why a peer has no number."""


def imported(name):
    try:
        return importlib.import_module(name)
    except Exception as problem:  # a broken install raises anything
        raise NotHere(f"{name} cannot be imported: {problem}") from problem


def sets_of_inputs(torch, bytes_of_one):
    """How many inputs are used in turn, so that none is found in the L2 cache again."""
    l2 = torch.cuda.get_device_properties(0).L2_cache_size
    return max(1, -(-4 * l2 // max(1, bytes_of_one)))


def replay_times(torch, calls, reps):
    """Microseconds of one call: all of them in a captured graph, replayed."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):  # allocations and choices of kernels happen here, not in the graph
        for call in calls * WARM_UP:
            call()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kept = [call() for call in calls]  # so that no result's memory is used for the next one
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    times = []
    for rep in range(-WARM_UP, reps):
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        if rep >= 0:
            times.append(1000 * begin.elapsed_time(end) / len(calls))
    del kept
    return times


def normal(torch, *shape):
    return torch.randn(shape, device="cuda", dtype=torch.bfloat16)


def sdpa_calls(torch, args, shape, backend):
    if shape["phase"] == "decode":
        batch, rows, keys = shape["requests"], 1, shape["chunks"] * shape["chunk_tokens"]
    else:
        batch, rows, keys = 1, shape["rows"], shape["cached"] + shape["rows"]
    causal = shape["phase"] == "prefill" and backend == "flash"
    attention = importlib.import_module("torch.nn.attention")
    bias = importlib.import_module("torch.nn.attention.bias").causal_lower_right(rows, keys) if causal else None
    kernel = {"flash": attention.SDPBackend.FLASH_ATTENTION, "cudnn": attention.SDPBackend.CUDNN_ATTENTION}[backend]

    def call(q, k, v):
        with attention.sdpa_kernel(kernel):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=bias, enable_gqa=True)

    sets = sets_of_inputs(torch, 4 * batch * keys * args.kv_heads * args.head_dim)
    calls = []
    for _ in range(sets):
        q = normal(torch, batch, args.heads, rows, args.head_dim)
        k, v = (normal(torch, batch, args.kv_heads, keys, args.head_dim) for _ in range(2))
        calls.append(lambda q=q, k=k, v=v: call(q, k, v))
    return calls, "" if causal or shape["phase"] == "decode" else "no mask"


def flashinfer_calls(torch, args, shape):
    flashinfer = imported("flashinfer")
    if shape["phase"] == "prefill":
        keys = shape["cached"] + shape["rows"]
        calls = []
        for _ in range(sets_of_inputs(torch, 4 * keys * args.kv_heads * args.head_dim)):
            q = normal(torch, shape["rows"], args.heads, args.head_dim)
            k, v = (normal(torch, keys, args.kv_heads, args.head_dim) for _ in range(2))
            calls.append(lambda q=q, k=k, v=v: flashinfer.single_prefill_with_kv_cache(q, k, v, causal=True))
        return calls, ""
    requests = draw_chunks(shape, args.seed)
    used = sorted({chunk for request in requests for chunk in request})
    each = -(-shape["chunk_tokens"] // PAGE)  # pages of a chunk
    if shape["chunk_tokens"] % PAGE:
        raise NotHere(f"only the last page of a request may be filled in part, and a chunk ends at {shape['chunk_tokens']}")
    first_page = {chunk: number * each for number, chunk in enumerate(used)}
    pages = [first_page[chunk] + page for request in requests for chunk in request for page in range(each)]
    page_bytes = 2 * PAGE * args.kv_heads * args.head_dim * 2
    integers = {"dtype": torch.int32, "device": "cuda"}
    calls = []
    for _ in range(sets_of_inputs(torch, len(used) * each * page_bytes)):
        cache = normal(torch, len(used) * each, 2, PAGE, args.kv_heads, args.head_dim)
        q = normal(torch, len(requests), args.heads, args.head_dim)
        workspace = torch.empty(256 << 20, dtype=torch.uint8, device="cuda")
        wrapper = flashinfer.BatchDecodeWithPagedKVCacheWrapper(workspace, "NHD", use_tensor_cores=True)
        starts = torch.arange(0, len(pages) + 1, shape["chunks"] * each, **integers)
        wrapper.plan(starts, torch.tensor(pages, **integers), torch.full((len(requests),), PAGE, **integers), args.heads,
                     args.kv_heads, args.head_dim, PAGE, q_data_type=torch.bfloat16, kv_data_type=torch.bfloat16)
        calls.append(lambda wrapper=wrapper, q=q, cache=cache: wrapper.run(q, cache))
    return calls, "shared pages"


def peer_row(args, shape, peer):
    """(times in microseconds, note), or NotHere."""
    torch = imported("torch")
    if not torch.cuda.is_available():
        raise NotHere("torch sees no GPU")
    torch.manual_seed(args.seed)
    try:
        if peer == "flashinfer":
            calls, note = flashinfer_calls(torch, args, shape)
        else:
            calls, note = sdpa_calls(torch, args, shape, peer.split("-")[1])
        with torch.inference_mode():
            return replay_times(torch, calls, args.reps), note
    except NotHere:
        raise
    except Exception as problem:  # a peer that refuses a shape is a result, not the end of the run
        raise NotHere(str(problem).strip().splitlines()[0] if str(problem).strip() else repr(problem)) from problem
    finally:
        calls = None
        torch.cuda.empty_cache()


def print_table(entries):
    print(f"{'row':<22} {'kernel':<14} {'median':>9} {'least':>9} {'most':>9} {'floor':>9} {'share':>6}")
    for entry in entries:
        row, kernel, note = entry["shape"]["row"], entry["kernel"], entry.get("note", "")
        if "us" not in entry:
            print(f"{row:<22} {kernel:<14} {'-':>9}  {note}")
            continue
        us = entry["us"]
        print(f"{row:<22} {kernel:<14} {us['median']:>9.1f} {us['min']:>9.1f} {us['max']:>9.1f} {entry['floor_us']:>9.1f} "
              f"{100 * entry['share']:>4.0f} %" + (f"  {note}" if note else ""))


def entries_of(args, row):
    own = own_rows(args, row)
    yield from own
    for peer in args.peers:
        name = own[0]["shape"]["row"] if own else row
        entry = {"kernel": peer, "shape": {**parse_row(row), "row": name, "heads": args.heads, "kv_heads": args.kv_heads,
                                           "head_dim": args.head_dim, "kv_type": "bf16"}}
        try:
            times, note = peer_row(args, parse_row(row), peer)
        except NotHere as reason:
            yield {**entry, "note": str(reason)}
            continue
        median = statistics.median(times)
        floor = own[0]["floor_us"] if own else 0.0  # of the row, the same for everybody
        yield {**entry, "us": {"median": median, "min": min(times), "max": max(times)}, "floor_us": floor,
               "share": floor / median, "note": note}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=pathlib.Path, default=ROOT / "build/bin/looseleaf", help="the looseleaf to measure")
    parser.add_argument("--device", default="cuda", help="of this project's numbers")
    parser.add_argument("--row", action="append", type=row_text, help="may be repeated; default: those of docs/kernels.md")
    parser.add_argument("--peers", type=peer_names, default=PEERS, help=f"default: {','.join(PEERS)}; '' for none")
    parser.add_argument("--heads", type=int, default=32)
    parser.add_argument("--kv-heads", type=int, default=8)
    parser.add_argument("--head-dim", type=int, default=128)
    parser.add_argument("--reps", type=int, default=50)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=pathlib.Path, help="also write every entry to this file")
    parser.add_argument("--dry-run", action="store_true", help="say what would be run, and stop")
    args = parser.parse_args()
    rows = args.row or ROWS
    if args.dry_run:
        for row in rows:
            print(" ".join(command(args, row)), *args.peers, sep=" | ")
        return
    entries = []
    for row in rows:
        entries.extend(entries_of(args, row))
        print(f"measured {row}", file=sys.stderr)
    print_table(entries)
    if args.json:
        args.json.write_text(json.dumps(entries, indent=1) + "\n")


if __name__ == "__main__":
    main()
