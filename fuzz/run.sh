#!/usr/bin/env bash
# run.sh BUILD SECONDS [NAME...]: makes the seeds, then runs each fuzzer that is built for SECONDS. What it learns stays in
# BUILD/corpus, what it finds in BUILD/findings; the first finding ends the run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$1 seconds=$2
shift 2
python3 "$here/make_seeds.py" "$build/seeds"
mkdir -p "$build/findings"

names=("$@")
if [ ${#names[@]} -eq 0 ]; then
  for program in "$build"/fuzz/fuzz_*; do
    [ -f "$program" ] && [ -x "$program" ] && names+=("$(basename "$program" | sed s/^fuzz_//)")
  done
fi
for name in "${names[@]}"; do
  mkdir -p "$build/corpus/$name" "$build/seeds/$name"
  log=$build/findings/$name.log
  flags=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -malloc_limit_mb=128 -max_len=65536
         -artifact_prefix="$build/findings/$name-" -print_final_stats=1 -verbosity=0)
  case $name in
    *_json) flags+=(-dict="$here/json.dict") ;;
    template) flags+=(-dict="$here/template.dict") ;;
  esac
  # Sanitizers stop at what they find; leaks are looked for at the end of the run.
  code=0
  UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 ASAN_OPTIONS=detect_stack_use_after_return=1:quarantine_size_mb=64 \
      "$build/fuzz/fuzz_$name" "${flags[@]}" "$build/corpus/$name" "$build/seeds/$name" >"$log" 2>&1 || code=$?
  if [ "$code" -eq 72 ]; then  # libFuzzer's own for a signal from outside
    echo "fuzz: $name: interrupted" >&2
    exit 1
  elif [ "$code" -ne 0 ]; then
    cat "$log" >&2
    echo "fuzz: $name: a finding; its input is $build/findings/$name-*" >&2
    exit 1
  fi
  runs=$(sed -nE 's/^stat::number_of_executed_units: +([0-9]+)/\1/p' "$log")
  echo "fuzz: $name: $runs runs in $seconds s, $(find "$build/corpus/$name" -type f | wc -l) inputs kept, nothing found"
done
