#!/usr/bin/env bash
# The question vyasa as a user meets it: a small run with all its files, tables that name the model, slips. Run from the
# project's folder; BUILD has the programs (default build).
set -u

program=${BUILD:-build}/vyasa
# shellcheck source=tests/check.bash
. tests/check.bash

refuses "no workload of experiments/models/vyasa/workloads.csv is called 'cv-1x1'" WORKLOAD=cv-1x1
refuses "PARAMS: the core has no parameter 'speed'" PARAMS=speed=2
refuses "PARAMS: recurrence must be a number from 1 to 15" PARAMS=recurrence=0
refuses "PARAMS: load_latency must be a number from 1 to 15" PARAMS=load_latency=8x
refuses "PARAMS: recurrence must be at most mac_latency" PARAMS=recurrence=7
refuses "do not fit 16 KB of memory" WORKLOAD='cv-5x5' PARAMS=memory_bytes=16384
refuses "do not fit the program memory of 12" WORKLOAD='cv-5x5' PARAMS=program_bundles=12
refuses "VARY" VARY=2

"$program" MORE=1 WORKLOAD='*3x3' CODE=1 VARY=0 COMMIT=test "RESULTS=$work/results" >"$work/out" 2>"$work/err"
check "a run: exit status $?: $(tail -1 "$work/err")" [ -s "$work/results/host/vyasa/vyasa.csv" ]
results=$work/results/host/vyasa
has_files "$results" vyasa.csv numbers.csv readings.csv exact.csv schedules.md verdict.txt report.html cv-3x3-{16.c,32.txt} vyasa_macs.png
check "no sensitivity was asked for" [ ! -e "$results/sensitivity.csv" ]
check "all outputs are right" grep -q 'outputs of 8 of 8 workloads equal plain loops' "$results/verdict.txt"
check "all 22 published numbers are there" [ "$(grep -vc '^#' "$results/numbers.csv")" -eq 23 ]
check "what cannot be compared says why" grep -q ": the experts' codes are not public" "$results/numbers.csv"
check "every column of cycles is labelled" [ "$(grep -c '^# column [a-z_]*cycles \[model cycles\]' "$results/vyasa.csv")" -eq 2 ]
check "rows meet in the tuned 3 x 3" grep -q '^VI,cv-3x3,16,.*row pairs' "$results/vyasa.csv"
check "a kernel shows bundles and registers" grep -qE '^ +0 [#.]{16} .*vld' "$results/schedules.md"
check "parameters name their sources" grep -q '`load_latency` | 8 .* llvm-aie' "$results/schedules.md"

"$program" MORE=1 WORKLOAD='cv-3x3' VARY=0 PARAMS=recurrence=2,mac_latency=7 "RESULTS=$work/results" >"$work/out" 2>"$work/err"
check "another core: exit status $?: $(tail -1 "$work/err")" grep -q '`recurrence` | 2' "$results/schedules.md"

finish
