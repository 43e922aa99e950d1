#!/usr/bin/env bash
# What tests can say on a machine with a GPU. BIN and TESTS name the folders of the programs.
set -euo pipefail

: "${BIN:?}" "${TESTS:?}"
export LD_LIBRARY_PATH=$BIN${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
failed=0
# Each operation, type and odd size, on this GPU and on the CPU.
"$TESTS/test_compute" --gtest_brief=1 --gtest_filter='*Device*' || failed=1
# The engine on it: golden models in float32 within the CPU's bound and in bf16 within its rounding, repairs, determinism.
LOOSELEAF_TEST_DEVICE=cuda "$TESTS/test_engine" --gtest_brief=1 || failed=1
# Attention in every way that the bench compares.
"$BIN/looseleaf" bench attention --check --device cuda || failed=1
exit $failed
