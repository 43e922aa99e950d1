#!/usr/bin/env python3
"""Writes metrics.json: texts with the scores that the benchmarks' own formulas give them.

    pip install rouge==1.0.1 && python3 make_metric_cases.py

F1 and exact match follow SQuAD's definition, in Python's own Unicode; ROUGE-L is the package that LongBench calls.
"""
import collections
import json
import pathlib
import random
import re
import string

from rouge import Rouge

WORDS = ("the a an The cat sat on mat Röntgen ÉCOLE école 42 3.5 don't state-of-the-art an-other theatre U.S. (the) "
         "naïve 東京 Straße – “quoted” a.b x_y the, \u00a0 ½ new\tline").split(" ")
FIXED = [
    ("Wilhelm Conrad Röntgen", "Wilhelm Conrad Röntgen"),
    ("The cat.", "cat"),
    ("a an the", "the"),
    ("", "cat"),
    ("the–cat", "cat"),
    ("Chief of Protocol of the United States", "Chief of Protocol"),
    ("seven seven seven", "seven seven"),
    ("Yes, it is.", "yes"),
    ("THE ÉCOLE", "école"),
    ("...", "cat"),
    ("the cat sat. it was black. ", "a cat sat down. it was not black."),
    ("w1 w2 w6 w7 w8. w1 w3 w8 w9 w5", "w1 w2 w3 w4 w5"),
    (" . ", "cat"),
]


def normalized(text):
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", text).split())


def f1(prediction, reference):
    p, r = normalized(prediction).split(), normalized(reference).split()
    common = sum((collections.Counter(p) & collections.Counter(r)).values())
    return 2 * common / (len(p) + len(r)) if common else 0.0


def rouge_l(prediction, reference):
    try:
        return Rouge().get_scores(prediction, reference)[0]["rouge-l"]["f"]
    except ValueError:  # a side without sentences; LongBench counts it as 0
        return 0.0


def main():
    rng = random.Random(7)
    cases = list(FIXED)
    for _ in range(300):
        pool = rng.sample(WORDS, 8)  # few words, so that the two sides share some
        cases.append(tuple("".join(rng.choice(pool) + rng.choice([" ", " ", " ", ". ", ", "])
                                   for _ in range(rng.randrange(1, 14))) for _ in range(2)))
    rows = [{"prediction": p, "reference": r, "normalized": normalized(p), "f1": f1(p, r),
             "em": int(normalized(p) == normalized(r)), "contains": int(r.lower() in p.lower()),
             "rouge_l": rouge_l(p, r)} for p, r in cases]
    path = pathlib.Path(__file__).parent / "models" / "metrics.json"
    path.write_text("[\n" + ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n]\n")
    print(f"{path}: {len(rows)} cases")


if __name__ == "__main__":
    main()
