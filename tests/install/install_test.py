#!/usr/bin/env python3
"""Builds and runs the README's C++ example against an installed copy of Looseleaf.

The example is the ```cpp block that follows MARKER: a whole program whose main takes a model's path and prints an
answer. The copy is installed in one place and moved to another before it is used, so the package must not remember
where it was made.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MARKER = "<!-- built and run by tests/install -->"
CMAKE_LISTS = """\
cmake_minimum_required(VERSION 3.22)
project(example LANGUAGES CXX)
find_package(looseleaf REQUIRED)
add_executable(example example.cc)
target_link_libraries(example PRIVATE looseleaf::looseleaf)
"""


def example_of(readme):
    match = re.search(re.escape(MARKER) + r"\s*```cpp\n(.*?)^```", readme, re.DOTALL | re.MULTILINE)
    if not match:
        sys.exit(f"install test: README.md has no ```cpp block after '{MARKER}'")
    return match.group(1)


def run(*command):
    """Runs a command and returns what it wrote to standard output; its failure ends the test."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}\ninstall test: '{' '.join(map(str, command))}' ended with {done.returncode}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    for name in ("cmake", "build", "source", "model"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()

    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        run(args.cmake, "--install", args.build, "--prefix", scratch / "made")
        prefix = (scratch / "made").rename(scratch / "moved")

        example = scratch / "example"
        example.mkdir()
        (example / "CMakeLists.txt").write_text(CMAKE_LISTS)
        (example / "example.cc").write_text(example_of((pathlib.Path(args.source) / "README.md").read_text()))
        run(args.cmake, "-S", example, "-B", example / "build", f"-DCMAKE_PREFIX_PATH={prefix}")
        print(run(args.cmake, "--build", example / "build"))
        for package in prefix.rglob("*.cmake"):
            assert str(scratch) not in package.read_text(), f"{package.name} holds an absolute path"

        # The tiny model's words are random: that the program answers, and the same twice, is what can be known.
        answers = [run(example / "build" / "example", args.model) for _ in range(2)]
        print(answers[0])
        assert answers[0].strip(), "the example printed nothing"
        assert answers[0] == answers[1], "the example answered differently the second time"
        failed = subprocess.run([example / "build" / "example", os.devnull], capture_output=True, text=True)
        assert failed.returncode > 0, "the example must report a model that cannot be loaded"

        methods = run(prefix / "bin" / "looseleaf", "methods")
        assert "reuse" in methods, methods


if __name__ == "__main__":
    main()
