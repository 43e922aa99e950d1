"""The cases: random token ids laid out in the ways that a prompt of documents can be laid out.

Imported by make_golden.py; nothing to run here. `answer` is shared with smollm2.py.
"""

import itertools
import math
import random

import torch

import oracle
import specs

STEPS = 6
TOP = 8
AGREE = 1e-9  # the two implementations, in log-probability
MIN_MARGIN = 0.03  # nats by which each greedy token leads the second
MIN_EFFECT = (
    0.05  # nats by which reuse changes some log-probability of the first step, against full
)


def make(name, kind, header, documents, tail, encoding_prefix=(), offsets=None, tail_offset=None):
    """A case without its steps. Without explicit offsets the pieces follow each other."""
    if offsets is None:
        ends = list(itertools.accumulate([len(header)] + [len(d) for d in documents]))
        offsets, tail_offset = ends[:-1], ends[-1]
    return {
        "name": name,
        "kind": kind,
        "encoding_prefix": list(encoding_prefix),
        "header": list(header),
        "header_offset": 0,
        "documents": [list(d) for d in documents],
        "offsets": offsets,
        "tail": list(tail),
        "tail_offset": tail_offset,
    }


def common(ids):
    """For every model. `ids(n)` draws n token ids; id 1 stands for BOS."""
    yield lambda: [make("full_short", "full", [1, *ids(2)], [ids(5), ids(9)], ids(4))]
    yield lambda: [make("reuse_bos", "reuse", [1, *ids(3)], [ids(6), ids(11)], ids(5), [1])]
    yield lambda: [make("reuse_no_prefix", "reuse", [1, *ids(3)], [ids(6), ids(11)], ids(5))]
    yield lambda: [make("reuse_long", "reuse", [1, *ids(3)], [ids(70), ids(33)], ids(5), [1])]
    yield lambda: [
        make("reuse_gaps", "reuse", [1, *ids(3)], [ids(9), ids(12)], ids(5), [1], [40, 5000], 5040)
    ]


def orders(ids):
    """One question over three documents in all six orders; 40 tokens cross a page of 32."""
    header, tail = [1, *ids(4)], ids(6)
    documents = {"a": ids(7), "b": ids(40), "c": ids(1)}
    for order in itertools.permutations(documents):
        yield make(
            "order_" + "".join(order), "reuse", header, [documents[d] for d in order], tail, [1]
        )


def distant(ids):
    """Positions with a gap between header and document."""
    for offset in (1, 65600, 99990):
        header = [1] if offset == 1 else [1, *ids(2)]
        yield make(
            f"offset_{offset}", "reuse", header, [ids(20)], ids(5), [1], [offset], offset + 20
        )


def at_the_limit(ids, original):
    """Prompts of exactly the original length, whose answers grow past it, and of one token more."""
    for name, extra in (("limit", 0), ("limit_passed", 1)):
        documents = [ids(20), ids(original - 33 + extra)]
        yield lambda name=name, documents=documents: [
            make(name, "reuse", [1, *ids(3)], documents, ids(9), [1])
        ]
        yield lambda name=name, documents=documents: [
            make(name + "_full", "full", [1, *ids(3)], documents, ids(9))
        ]


def long_full(ids):
    yield lambda: [make("full_beyond", "full", [1, *ids(2)], [ids(50), ids(33)], ids(5))]


def many(ids):
    """For the two models that carry the breadth."""
    yield lambda: list(orders(ids))
    yield lambda: list(distant(ids))
    yield lambda: [make("full_no_documents", "full", [], [], [1, *ids(12)])]
    yield lambda: [make("full_long", "full", [1, *ids(2)], [ids(150), ids(33)], ids(10))]

    def duplicates():
        x, y = ids(9), ids(34)
        return [make("duplicates", "reuse", [1, *ids(3)], [x, y, x], ids(5), [1])]

    yield duplicates
    yield lambda: [
        make("single_tokens", "reuse", [1, *ids(1)], [ids(1) for _ in range(4)], ids(3), [1])
    ]
    yield lambda: [make("tail_of_one", "reuse", [1, *ids(2)], [ids(8), ids(3)], ids(1), [1])]

    def header_prefix():
        header = [1, *ids(2)]
        return [make("header_prefix", "reuse", header, [ids(10), ids(15)], ids(5), header)]

    yield header_prefix
    yield lambda: [make("no_header", "reuse", [], [ids(12), ids(5)], ids(4), [1])]
    yield lambda: [make("no_header_no_prefix", "reuse", [], [ids(12), ids(5)], ids(4))]
    yield lambda: [
        make("page_edges", "reuse", [1, *ids(3)], [ids(n) for n in (32, 31, 33, 64)], ids(5), [1])
    ]
    yield lambda: [make("long_documents", "reuse", [1, *ids(3)], [ids(150), ids(70)], ids(8), [1])]
    yield lambda: [
        make(
            "far_apart", "reuse", [1, *ids(3)], [ids(10), ids(18)], ids(5), [1], [500, 65600], 65700
        )
    ]


def answer(ours, theirs, case):
    """Adds `steps` to the case, computed in both ways, which must agree; returns its effect."""
    logprobs = ours.greedy(case, STEPS)
    difference = (logprobs - oracle.greedy(theirs, case, STEPS)).abs().max().item()
    assert difference < AGREE, (case["name"], difference)
    case["steps"] = []
    for row in logprobs:
        values, ids = row.topk(TOP)
        case["steps"].append(
            {
                "top": [[i, round(v, 8)] for i, v in zip(ids.tolist(), values.tolist())],
                "greedy": int(ids[0]),
                "margin": round((values[0] - values[1]).item(), 8),
            }
        )
    return effect(ours, case, logprobs[0])


def effect(ours, case, first):
    """Nats by which `first` differs from a full prefill; infinite where it need not differ."""
    if case["kind"] == "full":
        return math.inf
    difference = (ours.greedy(case | {"kind": "full"}, 1)[0] - first).abs().max().item()
    alone_behind_its_prefix = (
        len(case["documents"]) == 1 and case["header"] == case["encoding_prefix"]
    )
    if alone_behind_its_prefix and case["offsets"] == [len(case["header"])]:
        assert difference < AGREE, (case["name"], difference)  # reuse of such a document is exact
        return math.inf
    return difference


def draw(spec, ours, theirs):
    """All cases of a model, with their steps. A group is drawn again until it is decisive."""
    rng = random.Random(spec.seed)

    def ids(n):
        return [rng.randrange(spec.vocab) for _ in range(n)]

    groups = list(common(ids))
    if spec.many_cases:
        groups += many(ids)
    if spec.rope["rope_type"] == "longrope":
        groups += at_the_limit(ids, spec.rope["original_max_position_embeddings"])
    if spec.rope["rope_type"] == "dynamic":
        groups += long_full(ids)
    out = []
    with torch.no_grad():
        for group in groups:
            for _ in range(300):
                cases = [case for case in group() if case["kind"] in spec.kinds]
                if not cases:
                    break
                effects = [answer(ours, theirs, case) for case in cases]
                margins = [step["margin"] for case in cases for step in case["steps"]]
                if min(margins) >= MIN_MARGIN and min(effects) >= MIN_EFFECT:
                    break
            else:
                raise AssertionError((spec.name, margins, effects))
            out += cases
    return out
