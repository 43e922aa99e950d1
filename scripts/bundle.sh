#!/usr/bin/env bash
# bundle.sh BUILD TARGET: a folder that runs on a bare Ubuntu 24.04, with its GPU where CUDA 13 is installed: the
# command, the CUDA module if it was built, and every library but those of the C library and of CUDA.
set -euo pipefail

build=$1 target=$2
rm -rf "$target"
mkdir -p "$target"
install -s "$build/bin/looseleaf_bundled" "$target/looseleaf"
[ ! -e "$build/bin/looseleaf-cuda.so" ] || install -s "$build/bin/looseleaf-cuda.so" "$target/"

# NAME => PATH (address); what has no arrow is the kernel's or the loader.
ldd "$target/looseleaf" | while read -r name arrow path _; do
  [ "$arrow" = "=>" ] || continue
  case "$name" in
    libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.*) continue ;;
  esac
  [ -e "$path" ] || { echo "bundle: $name is not there" >&2; exit 1; }
  install -m 644 "$path" "$target/$name"
done

archive=$target.tar.gz
tar -C "$(dirname "$target")" -czf "$archive" "$(basename "$target")"
bytes=$(stat -c %s "$archive")
echo "$archive: $((bytes / 1024)) KiB"
[ "$bytes" -le $((25 << 20)) ] || { echo "bundle: more than 25 MiB" >&2; exit 1; }
