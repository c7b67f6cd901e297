#!/usr/bin/env bash
# PolyDL's variants as a user meets them. Run from the project's folder; BUILD has the programs (default build).
set -u

polydl=${BUILD:-build}/polydl
program=$polydl
# shellcheck source=tests/check.bash
. tests/check.bash

blocked='MODEL=tests/data/blocked.csv'
refuses "unknown model 'vgg17'" MODEL=vgg17
refuses "unknown model 'alexnt': did you mean alexnet? PolyDL's are alexnet, fastrcnn, googlenetv1, googlenetv3, maskrcnn, mobilenet, overfeat, resnet, xception, yolov2, gemm" MODEL=resnet,alexnt
refuses "BATCH: must be a whole number from 1 to 1024, not '0'" "$blocked" BATCH=0
refuses "'ifm' must not be parallel: a dependence on output forbids it (read after write" "$blocked" VARIANTS='ofm ifm* oj kj ki'
refuses "'oj.5' does not divide oj, 12 here" "$blocked" VARIANTS='oj.5 ofm ifm oj kj ki'
refuses "'oj' is not walked to its end: loops leave 4 of it" "$blocked" VARIANTS='oj.4 ofm ifm kj ki'
refuses "dim one of img ofm ifm oj oi kj ki" "$blocked" VARIANTS='rows ofm ifm kj ki'
refuses "blocks of 16, 32 or 64 that divide both need padding" "$blocked" LAYERS=stem
refuses "no layer has variants; stem/7x7_s2: 3 channels" MODEL=tests/data/three.csv
refuses "UKR: must be ref, avx2, avx512 or libxsmm, not 'sse'" "$blocked" UKR=sse
refuses "THREADS: must be a whole number from 1 to 2, not '3'" "$blocked" THREADS=3

dir=$work/results/toy/polydl/blocked
run() { succeeds MORE=1 "$blocked" RULER=0 "$@"; }
rows() { csv_rows "$1/$2" | tail -n +2 | wc -l; }

# Simulated on a machine that is not this computer: no times.
run MACHINE=toy
says "stem is left out: 3 channels and 32 filters" err
says "not timed: this computer is not toy"
says "| blocked | three | not timed |"
n=$(rows "$dir" variants.csv)
check "5 to 21 variants of each layer that has blocks, not $n of three" [ "$n" -ge 15 ] && [ "$n" -le 63 ]
check "six baselines of each" [ "$(rows "$dir" baselines.csv)" -eq 18 ]
check "a reason stands for times" grep -q ': this computer is not toy' "$dir/variants.csv"
tables() { grep -v '^# ' "$dir"/{baselines,best,fusion,learning,picks,rankings,totals,variants}.csv; } # further tables have times of analyses
tables >"$work/tables"
csv_rows "$dir/variants.csv" >"$work/first"
check "layers of one shape have the same counts" \
    cmp -s <(grep ',three,' "$work/first" | cut -d, -f3-) <(grep ',again,' "$work/first" | cut -d, -f3-)

# Nothing is simulated twice, threads change nothing, nor does the store.
run MACHINE=toy JOBS=1
says "$(sed -n 's/^0 of \([0-9]*\) simulations.*/\1 of \1/p' "$work/out") simulations from the store"
check "nothing was simulated again: $(grep simulations "$work/out")" [ -z "$(grep '^0 of [1-9][0-9]* simulations' "$work/out")" ]
check "results from the store are the same" cmp -s "$work/tables" <(tables)
run MACHINE=toy STORE=no
check "results without a store are the same" cmp -s "$work/tables" <(tables)

# Some variants, timed here. Every table and the verdict name the commit.
host=$work/results/host/polydl/blocked,three,again
run LAYERS=three,again VARIANTS='oj.4 ofm oj ifm kj ki,ki kj oj ofm' BUDGET=5 COMMIT=abc1234
for file in variants baselines best rankings totals picks analyses printed fusion; do
    check "$file.csv names no commit" grep -q '^# .*commit abc1234' "$host/$file.csv"
done
check "verdict.txt names no commit" grep -q 'commit abc1234' "$host/verdict.txt"
check "the best variant of both layers, on one thread and on two" [ "$(rows "$host" best.csv)" -eq 4 ]
check "the verdict comes last" comes_after "$work/out" '^VERDICT' 'What does fusing bring'
says "No verdict: a comparison with the clock's own repeat wants 5 layers"
fastest=$(csv_rows "$host/variants.csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
    $c["layer"] == "three" && (!best || $c["measured_time_min_ns"] < best) { best = $c["measured_time_min_ns"]; name = $c["variant"] } END { print name }')
says "| blocked | three | \`$fastest\` |"
check "a row for each variant of both layers" [ "$(rows "$host" variants.csv)" -eq 4 ]
check "a number has as many" grep -q ',ki kj oj ofm,' "$host/variants.csv"
check "each is timed on one thread and on two: $(head -c 300 "$work/err")" [ -z "$(csv_rows "$host/variants.csv" | grep 'not available')" ]
share=$(csv_rows "$host/baselines.csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { print $c["measured_share"] }' | sort -u)
check "small layers' baselines run whole, not $share" [ "${share%%$'\n'*}" = 1 ]
check "some baselines are timed" [ "$(csv_rows "$host/baselines.csv" | grep -cE ',(loops|microkernel|sconv_tuned),[^,]*,[0-9]')" -eq 6 ]
run LAYERS=three,again VARIANTS='oj.4 ofm oj ifm kj ki,ki kj oj ofm' BUDGET=5 BATCH=3
says "What does fusing bring? 3 images of each layer"
bytes=$(csv_rows "$host/fusion.csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { print $c["images"], $c["output_bytes"] % 3, ($c["fused_time_min_ns"] > 0) }' | sort -u)
check "the outputs of three images are fused, and timed: $bytes" [ "$bytes" = "3 0 1" ]
says "1 of 1 layers' times from the store"
check "seven rankings, of two threads as well, judge both layers" [ "$(rows "$host" rankings.csv)" -eq 28 ]
check "no pick is faster than the fastest variant" \
    [ -z "$(csv_rows "$host/totals.csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } !($c["worst_share"] > 0 && $c["worst_share"] <= 1)')" ]
says "PolyDL-DNN is missing on 1 thread: the net wants 10 layers"
fails_with 2 "(TIMING=0): set another RESULTS" "$polydl" "RESULTS=$work/results" "$blocked" LAYERS=three,again TIMING=0
check "... because of the times: $(cat "$work/err")" grep -q "^polydl: '.*' holds times, " "$work/err"
check "the figure is drawn" [ -s "$host/polydl_rankings.png" ]
run LAYERS=strided VARIANTS=7 THREADS=1 BUDGET=1 UKR=ref STORE=no RULER=1
check "disturbed or not, how many timings were taken again is said last: $(tail -n 1 "$work/out")" \
    eval 'tail -n 1 "$work/out" | grep -qE "(not measured: disturbed: |^Of this run, with one thread, )[0-9]+ of [0-9]+ timings were taken again"'
run LAYERS=strided VARIANTS=7 THREADS=1 BUDGET=1 UKR=ref STORE=no
check "a number says how many" [ "$(rows "${host%three,again}strided" variants.csv)" -eq 7 ]
if ! grep -q "built without LIBXSMM" "$work/out"; then
    run LAYERS=strided VARIANTS=2 THREADS=1 BUDGET=1 UKR=libxsmm STORE=no
    says "micro-kernel libxsmm, replayed as"
fi
"$polydl" "RESULTS=$work/results" MODEL=gemm LAYERS='*_128_*' VARIANTS='i.64 j.64 k.64' TIMING=0 MACHINE=toy >"$work/out" 2>"$work/err"
check "a GEMM is simulated: $(tail -1 "$work/err")" [ "$(rows "$work/results/toy/polydl/gemm,~_128_~" variants.csv)" -eq 1 ]

finish
