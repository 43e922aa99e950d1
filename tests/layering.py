#!/usr/bin/env python3
"""Checks the shape of the source tree: python3 tests/layering.py [ROOT].

- Folders of src/ are layers, and an #include points to its own layer or to one further right:
      cli -> eval -> capi -> server -> engine -> repair -> cache -> compute -> model -> text -> base
- The public headers may be included by engine and the layers above it; base wraps looseleaf/status.h for everybody else.
  They include each other and nothing of src/.
- No files include each other in a circle.
- No source file is longer than 500 lines.

Prints one line a violation and exits with 1 if there is any.
"""

import pathlib
import re
import sys

LAYERS = ["cli", "eval", "capi", "server", "engine", "repair", "cache", "compute", "model", "text", "base"]
PUBLIC_USERS = {"cli", "eval", "capi", "server", "engine"}
MAX_LINES = 500
SOURCES = {".h", ".cc", ".cu", ".cuh"}
COUNTED = SOURCES | {".py", ".sh", ".cmake"}
COUNTED_FOLDERS = ["src", "include", "tests", "bench", "scripts", "cmake", "examples", "fuzz"]
INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]')


def files(root, folders, suffixes):
    return sorted(path for folder in folders for path in (root / folder).rglob("*") if path.suffix in suffixes)


def includes(path, root):
    """Yields (line number, name as written, the project's file or None) of each #include."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if match := INCLUDE.match(line):
            name = match.group(1)
            candidates = (root / "src" / name, root / "include" / name, path.parent / name)
            yield number, name, next((c.resolve() for c in candidates if c.is_file()), None)


def layer_of(path, root):
    """A layer's name, "public" for include/, or None outside both."""
    parts = path.relative_to(root).parts
    if parts[0] == "include":
        return "public"
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def arrow_problem(source, target, target_name):
    if source == "public":
        return None if target == "public" else "a public header includes what is not installed"
    if target == "public":
        if source in PUBLIC_USERS or (source == "base" and target_name == "status.h"):
            return None
        return "public headers are for engine and the layers above it; use base/status.h for errors"
    if LAYERS.index(target) < LAYERS.index(source):
        return f"{source} must not know {target}"
    return None


def circles(graph):
    """Returns one line for each circle that a depth-first walk of the include graph closes."""
    found, done = [], set()

    def walk(node, trail):
        if node in trail:
            found.append(trail[trail.index(node):] + [node])
            return
        if node in done:
            return
        for target in graph.get(node, []):
            walk(target, trail + [node])
        done.add(node)

    for node in graph:
        walk(node, [])
    return found


def violations(root):
    root = root.resolve()
    problems, graph = [], {}
    for path in files(root, ["src", "include"], SOURCES):
        where = path.relative_to(root)
        source = layer_of(path, root)
        if source not in LAYERS and source != "public":
            problems.append(f"{where}: lies in no layer; src/ holds {', '.join(LAYERS)}")
            continue
        graph[path] = []
        for number, name, target in includes(path, root):
            if target is None:
                if name.split("/")[0] in LAYERS + ["looseleaf"]:
                    problems.append(f"{where}:{number}: includes {name}, which is not there")
                continue
            graph[path].append(target)
            target_layer = layer_of(target, root)
            if target_layer not in LAYERS and target_layer != "public":
                continue  # told where that file is visited
            if problem := arrow_problem(source, target_layer, target.name):
                problems.append(f"{where}:{number}: includes {name}: {problem}")
    for circle in circles(graph):
        problems.append("circle: " + " -> ".join(str(path.relative_to(root)) for path in circle))
    for path in files(root, COUNTED_FOLDERS, COUNTED):
        lines = path.read_text().count("\n")
        if lines > MAX_LINES:
            problems.append(f"{path.relative_to(root)}: {lines} lines; split it (at most {MAX_LINES})")
    return problems


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent.parent)
    problems = violations(root)
    print(*problems, sep="\n", end="\n" if problems else "")
    print(f"layering: {len(problems)} violations")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
