#!/usr/bin/env bash
# Calibration as a user meets it: of recorded patterns, and of this computer. Run from the project's folder; CALIBRATE
# is the program (default build/calibrate), EXPERIMENT the program that uses the result (default build/experiment).
set -u

calibrate=${BUILD:-build}/calibrate
experiment=${BUILD:-build}/experiment
program=$calibrate
# shellcheck source=tests/check.bash
. tests/check.bash

refuses "FIT: must be a whole number from 0 to 9, not '10'" FIT=10
refuses "ROWS: must be yes or no, not 'maybe'" ROWS=maybe
refuses "unknown option 'PATERNS=x', did you mean PATTERNS?" PATERNS=x
refuses "pdp11" MACHINE=pdp11
refuses "no patterns are recorded of icx" MACHINE=icx
refuses "no/such" MACHINE=spr PATTERNS=no/such
times=results/reference/spr/prefetch/prefetch_by_time.csv
refuses_edited() { # refuses_edited WORDS SED-COMMAND: the times, edited
    sed "$2" "$times" >"$work/times.csv"
    refuses "$1" MACHINE=spr "PATTERNS=$work/times.csv"
}
refuses_edited "times.csv:3: a pattern that is not known, 'sideways'" '3s/^up/sideways/'
refuses_edited "times.csv:4: " '4s/^up,0,1,/up,0,0,/'
refuses_edited "times.csv:5: " '5s/[0-9]*$/fast/'
refuses_edited "column missing, 'median_cycles'" '1s/median_cycles/cycles/'
kept=$work/kept/host/calibration
mkdir -p "$kept"
refuses_less() { # refuses_less LINES ARGUMENTS...: where a calibration with these lines in its host.txt lies
    printf '%b' "$1" >"$kept/host.txt"
    refuses "/host/calibration' holds a calibration of LIMIT=" "RESULTS=$work/kept" "${@:2}"
    check "${*:2} replaces another" [ "$(ls "$kept")" = host.txt ]
}
refuses_less 'cpu: any\nlimit: 300\nfit: 0\n' LIMIT=299 FIT=0
refuses_less 'limit: 1\nfit: 3\n' LIMIT=1 # two sweeps
refuses_less 'rounds: 41\n' LIMIT=59
refuses_less 'rounds: 41\n' FIT=0
refuses "cannot write '$work/no/my.cfg'" MACHINE=spr ROWS=no "OUT=$work/no/my.cfg"

succeeds MORE=1 MACHINE=spr ROWS=no "OUT=$work/my.cfg"
check "what was recorded of spr: $(cat "$work/out")" grep -q '98\.[0-9] % of 5252; .*: aim reached$' "$work/out"
check "recorded patterns leave results" [ ! -e "$work/results" ]
check "my.cfg does not say where values are from" grep -q '^ways = 12 *# sim/machines/spr.cfg$' "$work/my.cfg"
succeeds MORE=1 "MACHINE=$work/my.cfg" "PATTERNS=$times"
check "my.cfg is not spr" grep -q '98\.[0-9] % of 5252' "$work/out"
check "no row for a pattern" grep -qE '^planes_12544 +0 +64 +200 +5 +[0-5]$' "$work/out"

# This computer, in as short a time as can be: noise is no failure, a wrong number would be.
"$calibrate" "RESULTS=$work/results" LIMIT=1 FIT=0 ROWS=no "OUT=$work/host.cfg" >"$work/out" 2>"$work/err" </dev/null
status=$?
dir=$work/results/host/calibration
if [ "$status" -eq 0 ]; then
    has_files "$dir" patterns.csv latencies.csv machine.cfg host.txt
    check "what it took is not said" [ "$(grep -cE '^(limit: 1|fit: 0)$' "$dir/host.txt")" -eq 2 ]
    check "OUT is not the machine of the results" cmp -s "$work/host.cfg" "$dir/machine.cfg"
    check "latencies are not said to be measured" grep -qE '^latency_cycles = [0-9.]+ +# measured$' "$dir/machine.cfg"
    cat "$dir/machine.cfg" >"$work/h.cfg"
    check "the machine cannot be simulated" "$calibrate" MORE=1 "MACHINE=$work/h.cfg" "PATTERNS=$dir/patterns.csv" ROWS=no >"$work/out"
    check "what was measured is not compared: $(cat "$work/out")" grep -q '% of [0-9]*; target' "$work/out"
    host() { "$experiment" MORE=1 MODEL=tests/data/three.csv LAYERS=pointwise TIMING=0 OBSERVE=0 "RESULTS=$work/results" 2>/dev/null; }
    host >"$work/out"
    check "the experiment does not use it: $(grep '^machine' "$work/out")" \
        grep -qE '^machine host: caches from hwloc; latencies calibrated on 20[0-9-]+;' "$work/out"
    check "... nor does its machine.cfg say so" grep -q '^calibrated = 20' "$work/results/host/three,pointwise/machine.cfg"
    sed -i 's/^calibrated = \([^,]*\), .*/calibrated = \1, Another CPU/' "$dir/machine.cfg"
    host >"$work/out"
    check "another computer's is used: $(grep '^machine' "$work/out")" \
        grep -q '^machine host: .*machine.cfg is of another computer, make calibrate' "$work/out"
    echo 'nonsense' >"$dir/machine.cfg"
    "$experiment" MODEL=tests/data/three.csv TIMING=0 OBSERVE=0 "RESULTS=$work/results" >/dev/null 2>"$work/err"
    check "a broken calibration is no error: $(cat "$work/err")" grep -q 'machine.cfg:1: ' "$work/err"
else
    check "this computer: exit status $status: $(cat "$work/err")" \
        grep -qE 'emulator|no instruction|times do not tell|not longer than|one level of caches' "$work/err"
    check "a calibration that failed left something behind" nothing_left
    echo "calibrate: skipped: $(tail -1 "$work/err")"
fi
rm -rf "$work/results"

# Interrupted, nothing is left.
"$calibrate" "RESULTS=$work/results" LIMIT=60 FIT=0 >/dev/null 2>&1 </dev/null &
sleep 0.5
kill -TERM $! 2>/dev/null
wait $! 2>/dev/null
check "an interrupted calibration left something behind" nothing_left

finish
