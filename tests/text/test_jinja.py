"""The chat-template interpreter against Python's jinja2: the same text, or both refuse.

    LOOSELEAF_JINJA_RENDER=build/bin/jinja_render pytest tests/text

JINJA_SEED chooses the last part's random templates; without it they are new in every run, and the seed is printed.
"""

import itertools
import json
import os
import random
import re
import subprocess
from pathlib import Path

import pytest

jinja2 = pytest.importorskip("jinja2")

import make_constructs  # noqa: E402  (needs jinja2)
import python_jinja  # noqa: E402
from random_templates import Generator  # noqa: E402

BINARY = os.environ.get("LOOSELEAF_JINJA_RENDER") or str(
    Path(os.environ.get("LOOSELEAF_BIN", "build/bin/looseleaf")).with_name("jinja_render"))
FIXED_SEED = 20260704
RANDOM_TEMPLATES = 2000

# Python prints these with an address or as code; we refuse them.
WITHOUT_TEXT = re.compile(r"<generator object|<list_reverseiterator|<dict_reverse|<reversed|<bound method|<built-in|<Macro|"
                          r"<function|<class|<LoopContext|<Namespace|range\(|<range_iterator|<tuple_iterator")


def ours(cases):
    """For each (template, context): (text, None) or (None, error)."""
    lines = "".join(json.dumps({"template": t, "context": c}) + "\n" for t, c in cases)
    done = subprocess.run([BINARY], input=lines, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.split("\n") if line]
    assert len(answers) == len(cases)
    return [(a.get("text"), a.get("error")) for a in answers]


def difference(case, got, strict=True):
    """What is wrong with our answer, or None."""
    text, error = got
    wanted, raised = python_jinja.render(*case)
    if text is not None and text == wanted or error is not None and raised is not None:
        if error is not None and ("\n" in error or not re.match(r"(template, line \d+|context): ", error)):
            return f"{case}: the error is no line with its place: {error!r}"
        return None
    if error is not None and wanted is not None and not strict:
        if "64 bits" in error or "has no text" in error and WITHOUT_TEXT.search(wanted):
            return None
        # Namespaces hold values and are none: put into another value, or printed, they are refused by name.
        if "a Namespace inside another value is not supported" in error or "a Namespace has no text" in error:
            return None
    return f"{case[0]!r}\n  context {json.dumps(case[1])}\n  ours   {text!r} {error!r}\n  python {wanted!r} {raised!r}"


def assert_same(cases, strict=True):
    """How many of the cases rendered."""
    answers = ours(cases)
    wrong = [d for case, got in zip(cases, answers) if (d := difference(case, got, strict))]
    assert not wrong, f"{len(wrong)} of {len(cases)} differ:\n" + "\n".join(wrong[:5])
    return sum(text is not None for text, _ in answers)


# ---- templates of models


def chats():
    system = {"role": "system", "content": "  Be brief. "}
    asked = {"role": "user", "content": "\n Who counted? <|im_end|> \u3000"}
    thought = {"role": "assistant", "content": "<think>\nHm, 'who'?\n</think>\n\nThe librarian."}
    plain = {"role": "assistant", "content": "The \"librarian\".\n"}
    again = {"role": "user", "content": "When? ünïcode 日本"}
    call = {"role": "assistant", "content": None, "tool_calls": [
        {"id": "abcdefghi", "type": "function", "function": {"name": "find", "arguments": {"year": 1884, "é": [1, None]}}}]}
    found = {"role": "tool", "content": "{\"cards\": 12750}", "tool_call_id": "abcdefghi"}
    parts = {"role": "user", "content": [{"type": "text", "text": " One. "}, {"type": "text", "text": "Two."}]}
    yield from ([asked], [system, asked], [asked, plain, again], [system, asked, thought, again],
                [asked, thought], [asked, call, found], [system, asked, call, found, plain, again],
                [asked, asked], [plain, asked], [parts], [system, system, asked], [{"role": "user"}],
                [{"role": "critic", "content": "x"}], [found], [])


def contexts():
    tools = [{"type": "function", "function": {"name": "find", "description": "Finds\n\"it\".", "parameters": {
        "type": "object", "properties": {"year": {"type": "integer"}}, "required": ["year"]}}}]
    documents = [{"title": "One", "text": "A text\nof lines, which is longer than forty characters."}, {"text": "Two"}]
    special = {"bos_token": "<s>", "eos_token": "</s>"}
    for messages, answer in itertools.product(chats(), (True, False)):
        base = {"messages": messages, "add_generation_prompt": answer, "tools": None, "documents": None}
        yield base | special
        yield base
        yield base | special | {"tools": tools}
        yield base | special | {"documents": documents, "enable_thinking": False}


@pytest.mark.parametrize("path", sorted(python_jinja.TEMPLATES.glob("*.jinja")), ids=lambda path: path.stem)
def test_templates_of_models(path):
    cases = [(path.read_text(), context) for context in contexts()]
    rendered = assert_same(cases)
    assert rendered >= 8, "the chats hardly reach this template"


# ---- constructs one by one


def test_constructs():
    cases = [(template, make_constructs.CONTEXT) for template in make_constructs.constructs()]
    assert len(cases) > 200
    assert_same(cases)


def test_golden_constructs_are_what_jinja2_writes():
    assert json.loads(make_constructs.GOLDEN.read_text()) == make_constructs.golden()


# ---- random templates


def check_random(seed, count):
    generator = Generator(random.Random(seed))
    cases = [(generator.template(), generator.context()) for _ in range(count)]
    rendered = assert_same(cases, strict=False)
    assert rendered > count / 3, f"only {rendered} of {count} random templates render"


def test_random_templates():
    check_random(FIXED_SEED, RANDOM_TEMPLATES)


def test_fresh_random_templates():
    seed = int(os.environ.get("JINJA_SEED") or random.SystemRandom().randrange(2**32))
    print(f"JINJA_SEED={seed}")
    try:
        check_random(seed, RANDOM_TEMPLATES // 4)
    except AssertionError as wrong:
        raise AssertionError(f"JINJA_SEED={seed}: {wrong}") from None
