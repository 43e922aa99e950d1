"""Writes constructs.golden.json: what Python's jinja2 makes of each template of constructs.txt.

    python3 tests/text/make_constructs.py

The unit tests compare with it where there is no Python; test_jinja.py compares it with the jinja2 that is installed.
"""

import json
from pathlib import Path

import python_jinja

FOLDER = Path(__file__).parent
GOLDEN = FOLDER / "constructs.golden.json"
CONTEXT = {
    "s": "Hello, World", "t": "  two  words \n", "e": "", "u": "Straße ÉCOLE 日本", "n": 7, "m": -3, "f": 2.5,
    "yes": True, "no": False, "nil": None, "list": [3, 1, 2], "words": ["b", "A", "c", "a"], "nested": [[1, 2], [3]],
    "d": {"b": 2, "A": 1, "items": "key", "c": None},
    "people": [{"name": "Ann", "age": 30, "at": {"city": "Ulm"}}, {"name": "bob", "age": 20, "at": {"city": "Aix"}},
               {"name": "Cy", "at": {}}],
}


def constructs():
    for line in (FOLDER / "constructs.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            yield json.loads(line) if line.startswith('"') else line


def golden():
    """`text` is null where jinja2 refuses."""
    return {"context": CONTEXT, "templates": [
        {"template": template, "text": python_jinja.render(template, CONTEXT)[0]} for template in constructs()]}


if __name__ == "__main__":
    made = golden()
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in made["templates"])
    GOLDEN.write_text(f'{{"context": {json.dumps(made["context"], ensure_ascii=False)},\n"templates": [\n{rows}\n]}}\n')
