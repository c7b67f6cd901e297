#!/usr/bin/env bash
# The comparison with peers as a user meets it. Run from the project's folder; BUILD has the programs (default build).
set -u

peers=${BUILD:-build}/peers
program=$peers
# shellcheck source=tests/check.bash
. tests/check.bash

refuses "vgg17" MODEL=vgg17
refuses "no/such.csv" MODEL=vgg16,no/such.csv
refuses "REPS" MODEL=tests/data/three.csv REPS=0
refuses "HOT" MODEL=tests/data/three.csv HOT=some
refuses "CLOCK" MODEL=tests/data/three.csv CLOCK=moon
refuses "unknown micro-kernel 'sse'" MODEL=tests/data/three.csv UKR=sse
foreign=mma
[ "$(uname -m)" != ppc64le ] || foreign=avx512
refuses "cannot execute f32_" MODEL=tests/data/three.csv UKR=$foreign
refuses "pool*" MODEL=tests/data/three.csv LAYERS='pool*'
refuses "did you mean REPS?" GREPS=3
refused_job MODEL=tests/data/three.csv REPS=2 HOT=0
refuses "ALGO: base is missing" MODEL=tests/data/three.csv ALGO=sconv
refuses "unknown algorithm 'moon'" MODEL=tests/data/three.csv ALGO=base,moon

grep -v '^#' experiments/models/vgg16.csv | head -1 >"$work/header"
# A layer whose input alone has 8 GiB.
{ cat "$work/header"; awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) name[i] = $i; n = NF } END {
    for (i = 1; i <= n; i++) {
        v = name[i] == "name" ? "huge" : name[i] == "in_c" ? 512 : name[i] ~ /^in_/ ? 2048 : name[i] ~ /^pad/ ? 0 : 1
        printf "%s%s", v, i < n ? "," : "\n" } }' "$work/header"; } >"$work/huge.csv"
refuses "GiB" MODEL="$work/huge.csv" ALGO=base,sconv

check "three layers" "$peers" MORE=1 "RESULTS=$work/results" MODEL=tests/data/three.csv REPS=2 HOT=1 RULER=0 >"$work/out" 2>"$work/err"
dir=$work/results/host/peers/three
for file in verdict.txt layers.csv model.csv samples.csv phases.csv host.txt peers_speedups.png peers_phases.svg peers_roofline.png; do
    check "$file is missing" test -s "$dir/$file"
done
rows() { grep -v '^#' "$dir/$1" | tail -n +2 | wc -l; }
check "layers.csv: a row per layer, method and cache state" [ "$(rows layers.csv)" -eq $((3 * 13 * 2)) ]
check "every layer has SConv's plan" [ "$(grep -c ',sconv,network,.*nc=' "$dir/layers.csv")" -eq 3 ]
check "and the one with OpenBLAS's micro-kernel" [ "$(grep -c ',sconv_openblas,network,.*openblas_' "$dir/layers.csv")" -eq 3 ]
check "every layer has tuned SConv's plan" [ "$(grep -c ',sconv_tuned,network,.*\(in place\|packed\|direct rows\)' "$dir/layers.csv")" -eq 3 ]
if cc -dumpmachine >/dev/null 2>&1; then
    check "generated code has the same plan" \
        [ "$(grep -c ',sconv_gen,network,.*nc=' "$dir/layers.csv")" -eq 3 ]
    check "openblas_rows, a plug-in, is timed in every layer" [ "$(grep -c ',openblas_rows,network,[01],[0-9]*,[0-9.]*,[0-9]' "$dir/layers.csv")" -eq 3 ]
    [ ! -e /usr/include/oneapi/dnnl/dnnl.h ] ||
        check "so are oneDNN's three forms" [ "$(grep -c ',onednn_[a-z]*,warm,[01],[0-9]*,[0-9.]*,[0-9]' "$dir/layers.csv")" -eq 9 ]
fi
check "the verdict is printed" [ "$(tail -n 1 "$work/out")" = "$(cat "$dir/verdict.txt")" ]
check "... with every method beside Base" [ "$(grep -oE ' %[)]| was not timed: ' "$dir/verdict.txt" | wc -l)" -eq 12 ]
check "no number without a reason" bash -c "! grep -E ',(nan|inf|-nan)' '$dir'/*.csv"
check "the table has a line for each method" [ "$(sed -n '/^three  *speed-up/,/^$/p' "$work/out" | grep -cE '^[a-z_]+ +[0-9.-]+ ')" -eq 13 ]
check "... and where the time goes" [ "$(grep -cE '^(base|sconv[a-z_]*) .*( +[0-9.-]+){11}$' "$work/out")" -eq 5 ]

check "without a ruler nothing is taken again" [ "$(grep -c ': no ruler stood beside it$' "$dir/samples.csv")" -eq "$(rows samples.csv)" ]
check "... which is said" grep -q '^three: 2 rounds: .*; no ruler stood beside the timings; ' "$work/out"

"$peers" --help >/dev/full 2>"$work/err"
check "help to a full disk: exit status $?, not 2" [ $? -eq 2 ]
cp tests/data/three.csv "$work/all.csv"
rm -rf "$work/kept" && mv "$work/results" "$work/kept" # refuses looks at it
refuses "all.csv: the folder 'all' is for other results" MODEL="$work/all.csv" ALGO=base,sconv
mv "$work/kept" "$work/results"

# Quiet or not, the ruler has read something beside each timing, and one line sums the readings up.
check "with a ruler" "$peers" MORE=1 "RESULTS=$work/ruled" MODEL=tests/data/three.csv REPS=1 HOT=1 LIMIT=2 >"$work/out" 2>"$work/err"
check "its readings are numbers" [ "$(grep -vc '^#' "$work/ruled/host/peers/three/samples.csv")" -eq \
    "$(grep -cE '^model|,[1-9][0-9]*,[1-9][0-9]*,[1-9][0-9]*,[1-9][0-9]*,[0-9]+(\.[0-9]+)?,[0-9]+,$' "$work/ruled/host/peers/three/samples.csv")" ]
check "how many timings were taken again is said" grep -qE '^three: (not measured: disturbed: )?1 rounds: .*[0-9]+ of [1-9][0-9]* timings were taken again' "$work/out"

check "the portable kernels" "$peers" "RESULTS=$work/ref" MODEL=tests/data/three.csv REPS=1 HOT=0 RULER=0 UKR=ref >/dev/null 2>"$work/err"
check "are in every plan" [ "$(grep -c '__ref' "$work/ref/host/peers/three/layers.csv")" -ge 6 ]

check "every column is documented" [ "$(cat "$dir"/{layers,samples,model,phases}.csv | grep -c '^# column')" \
    -eq "$("$peers" --columns | grep -c '^| `')" ]

# A right plug-in, and plug-ins that fail: the columns of the failing plug-ins say why.
if command -v cc >/dev/null; then
    failing=tests/data/plugins/failing.c
    check "plug-ins that fail" "$peers" MORE=1 "RESULTS=$work/failing" MODEL=tests/data/three.csv REPS=30 HOT=0 RULER=0 PLUGIN_LIMIT=5 \
        "ALGO=base,sconv_tuned,$failing:right,$failing:is_wrong,$failing:crashes,$failing:pointwise,$failing:fails_later" >"$work/out" 2>"$work/err"
    at=$work/failing/host/peers/three/layers.csv
    timed() { grep -c ",$1,network,[01],[0-9]*,[0-9.]*,[0-9]" "$at"; }
    check "... cost nothing else: $(timed base) $(timed sconv_tuned) $(timed failing_right)" [ "$(timed base)$(timed sconv_tuned)$(timed failing_right)" = 333 ]
    check "... but a shape" [ "$(timed points)" -eq 1 ]
    check "... or all" [ "$(timed failing_is_wrong)$(timed failing_crashes)" = 00 ]
    check "wrong values are the reason" grep -q ',failing_is_wrong,network,.*computes a wrong result: output element' "$at"
    check "so is an end in the middle" grep -q ',failing_fails_later,network,.*the plug-in crashed (Illegal instruction) in a timed run' "$at"
fi

# As after Ctrl-C, which a shell's background jobs ignore: the old results stay, nothing new is left.
before=$(md5sum <"$dir/layers.csv")
for seconds in 0.3 0.6 1 1.4 2; do # while checking, and while timing
    "$peers" "RESULTS=$work/results" MODEL=tests/data/three.csv REPS=1000 ALGO=base,sconv,sconv_tuned >/dev/null 2>&1 </dev/null &
    pid=$!
    sleep $seconds
    kill -TERM "$pid"
    wait "$pid"
    status=$?
    check "interrupted after $seconds s: status $status" [ "$status" -eq 143 ]
done
check "interrupted: the old results are gone" [ "$before" = "$(md5sum <"$dir/layers.csv")" ]
check "interrupted: something is left" [ -z "$(find "$work/results/host/peers" -name '.*partial*')" ]

echo "peers: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
