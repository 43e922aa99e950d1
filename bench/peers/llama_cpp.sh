#!/usr/bin/env bash
# Builds llama-bench, llama-server and llama-quantize for this machine (native flags), from the sdist of
# llama-cpp-python by version and SHA-256, into a folder outside the tree, and prints that folder:
#
#     bench/peers/llama_cpp.sh [FOLDER]        default: ~/.cache/looseleaf/peers
#
# What is there already is not built again; an interrupted build goes on where it was. JOBS: compilers at a time.
set -eu -o pipefail

version=0.3.36
sha256=832db0699007f1be95a7e41ef12e88926b02ba836461e36a36372db2760c1a2e
root="${1:-${XDG_CACHE_HOME:-$HOME/.cache}/looseleaf/peers}"
home="$root/llama_cpp-$version"
archive="llama_cpp_python-$version.tar.gz"
targets=(llama-bench llama-server llama-quantize)

if [[ ! -f "$home/done" ]]; then
  mkdir -p "$home"
  if [[ ! -d "$home/source" ]]; then
    pins="$(mktemp)"
    trap 'rm -f "$pins"' EXIT
    echo "llama-cpp-python==$version --hash=sha256:$sha256" > "$pins"
    [[ -f "$home/$archive" ]] ||
      "${PYTHON:-python3}" -m pip download -q --no-binary :all: --no-deps --require-hashes -r "$pins" -d "$home" >&2
    echo "$sha256  $home/$archive" | sha256sum --check --quiet >&2
    rm -rf "$home/unpacked"
    mkdir "$home/unpacked"
    tar -xzf "$home/$archive" -C "$home/unpacked" --strip-components=1
    mv "$home/unpacked/vendor/llama.cpp" "$home/source"
    rm -rf "$home/unpacked"
  fi
  # Without the native flags, OpenMP or the release type the comparison would not be fair.
  cmake -G Ninja -S "$home/source" -B "$home/build" -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=ON -DGGML_OPENMP=ON \
    -DLLAMA_CURL=OFF -DLLAMA_BUILD_UI=OFF -DLLAMA_USE_PREBUILT_UI=OFF -DLLAMA_BUILD_TESTS=OFF >&2
  cmake --build "$home/build" -j "${JOBS:-$(nproc)}" --target "${targets[@]}" >&2
  touch "$home/done"
fi
echo "$home/build/bin"
