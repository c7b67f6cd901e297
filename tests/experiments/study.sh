#!/usr/bin/env bash
# The study of the cost models as a user meets it. Run from the project's folder; BUILD has the programs (default build).
set -u

study=${BUILD:-build}/study
program=$study
# shellcheck source=tests/check.bash
. tests/check.bash

refuses "vgg17" MODEL=vgg17
refuses "TIMING" TIMING=2
refuses "SAMPLE" SAMPLE=few
refuses "unknown option 'MACHINE=toy'" MACHINE=toy

dir=$work/results/host/study/squeezenet,fire~29~~~
"$study" "RESULTS=$work/results" MODEL=squeezenet LAYERS='fire[29]/*' SAMPLE=2 COMMIT=abc MORE=1 >"$work/out" 2>"$work/err"
status=$?
check "exit status $status: $(tail -1 "$work/err")" [ "$status" -eq 0 ]
for file in study.md choices.csv predictions.csv costs.csv terms.csv left_out.csv tilings.csv methods.csv hybrid.csv rates.csv micro_kernels.csv sensitivity.csv study_choices.png study_tilings.png study_micro_kernels.png study_rates.png; do
    check "$file is missing" test -s "$dir/$file"
done
check "tables and figures say whose layers they are of: $(grep '^what:' "$dir/figures.txt")" grep -q "^what: squeezenet, 6 convolutions; this computer ('here'): .*; commit abc" "$dir/figures.txt"
check "no number is none" bash -c "! grep -E ',-?(nan|inf)' '$dir'/*.csv"
cell() { columns "$dir/choices.csv" machine caches part rule "$1" | awk -v rule="$2" '$1 == "spr" && $2 == "cold" && $3 == "all" && $4 == rule { print $5 }'; }
check "every layer that was asked for is there" [ "$(cell layers csa2)" -eq 6 ]
check "a constant choice chooses one schedule" [ "$(cell input_stationary always_ws)" -eq 0 ]
check "... and the other" [ "$(cell input_stationary always_is)" -eq 6 ]
check "one of the two constants is right in each layer" awk -v a="$(cell right_percent always_is)" -v b="$(cell right_percent always_ws)" \
    'BEGIN { exit !(a + b > 99.99 && a + b < 100.01) }'
check "regret of what the clock itself says of the shape is small" awk -v r="$(cell regret_percent same_shape)" 'BEGIN { exit !(r >= 0 && r < 5) }'
terms() { columns "$dir/terms.csv" machine schedule equation left_out "$1" | awk -v e="$2" -v o="$3" '$1 == "clx4208" && $2 == "is" && $3 == e && $4 == o { print $5 }'; }
check "what is left out is missing" awk -v all="$(terms simulated eq7 nothing)" -v less="$(terms simulated eq7 packing)" 'BEGIN { exit !(less < all) }'
check "the best tiling found is no slower than any method's" [ -z "$(columns "$dir/methods.csv" speed_percent | awk '$1 > 100.0001')" ]
check "the better of both is no slower than either" [ -z "$(columns "$dir/hybrid.csv" best_cycles base_cycles sconv_cycles chosen_cycles | awk '$1 > $2 || $1 > $3 || $1 > $4')" ]
check "nor than who knows the shape's median or the second measure" [ -z "$(columns "$dir/hybrid.csv" best_cycles same_shape_cycles second_measure_cycles | awk '$1 > $2 || $1 > $3')" ]
check "packing's share grows with the micro-kernel's speed" [ "$(columns "$dir/rates.csv" machine base_packing_percent | awk '$1 == "spr" { if ($2 <= last) bad++; last = $2; n++ } END { print n + 0, bad + 0 }')" = "8 0" ]
check "the page answers first" grep -q "^By the clock, CSA's cost model .*: CSA is right in [0-9]* to [0-9]* % of the layers" <(sed -n 3p "$dir/study.md")
check "targets are judged" [ "$(grep -c '| \(reached\|missed.*\) |$' "$dir/study.md")" -ge 10 ]
check "without L1's other half, more lines move" awk -v all="$(columns "$dir/sensitivity.csv" variant ws_cycles | awk '$1 == "as_it_is" { print $2 }')" -v half="$(columns "$dir/sensitivity.csv" variant ws_cycles | awk '$1 == "l1_half" { print $2 }')" 'BEGIN { exit !(half >= all) }'
left_out() { columns "$dir/left_out.csv" machine schedule caches equation simulated | awk -v m="$1" -v c="$2" -v e="$3" '$1 == m && $2 == "is" && $3 == c && $4 == e { print $5 }'; }
above() { awk -v a="$1" -v b="$2" 'BEGIN { exit !(a > b) }'; }
check "where stores bring no lines, memory has packed panels to serve" above "$(left_out clx4208 no_store_lines eq7)" "$(left_out clx4208 as_it_is eq7)"
check "prefetchers leave less to wait for" above "$(left_out spr as_it_is eq6)" "$(left_out spr prefetchers eq6)"
check "machines without prefetchers have none to switch on" [ -z "$(left_out clx4208 prefetchers eq6)" ]
check "conflicts are a variant of their own" [ -n "$(left_out power10 no_conflicts eq14)" ]
micro() { columns "$dir/micro_kernels.csv" misses ukr base_packing_percent | awk '$1 == "hit" && $2 ~ /avx512/ { if ($3 <= last) bad++; last = $3; n++ } END { print n + 0, bad + 0 }'; }
check "the faster the replayed micro-kernel, the more packing decides" [ "$(micro)" = "4 0" ]
narrow() { columns "$dir/micro_kernels.csv" misses ukr base_packing_percent | awk '$1 == "hit_narrow" { if ($3 <= last[$2]) bad++; last[$2] = $3; n++ } END { print n + 0, bad + 0 }'; }
check "so it does with narrow elements" [ "$(narrow)" = "4 0" ]
measured() { columns "$dir/micro_kernels.csv" misses ukr macs_per_cycle speedup base_cycles | awk '$1 == "measured" { printf "%s %d %.2f;", $2, $3, $4 }'; }
check "measured points stand beside them, with the gains of results/reference/gnr/study: $(measured)" [ "$(measured)" = \
    "f32_16x6__avx2 16 1.14;f32_16x24__avx512 32 1.37;u8s8_16x24__avx512 128 1.88;bf16_32x32__amx 512 1.77;u8s8_32x32__amx 1024 2.77;" ]
check "... on the page, too" grep -q '^| 1024 | AMX int8, gnr: u8s8_32x32__amx | 156 | ' "$dir/study.md"
check "the page says whether the paper's argument holds" grep -q "as the paper argues? By these replays \(yes\|no\)" "$dir/study.md"

three="MODEL=tests/data/three.csv"
time_three() { "$study" "RESULTS=$work/results" "$three" SAMPLE=0 TIMING=1 RULER=0 MORE=1 "$@" >"$work/out" 2>"$work/err"; status=$?; check "$*: exit status $status: $(tail -1 "$work/err")" [ "$status" -eq 0 ]; }
layers=$(csv_rows tests/data/three.csv | tail -n +2 | cut -d, -f1 | head -2 | paste -sd,)
time_three COMMIT=abc LIMIT=2 "LAYERS=$layers"
check "layers are timed" grep -q '^2 layers timed, 0 kept' "$work/out"
time_three COMMIT=abc LIMIT=3 # as long for each layer
check "times of a layer are kept, and no layer is timed twice" grep -q '^1 layers timed, 2 kept' "$work/out"
times=$(columns "$work/results/host/study/three/tilings.csv" machine layer ukr time_ns | grep '^here')
check "all runs have a time" [ -n "$times" ]
time_three COMMIT=abc LIMIT=3
check "kept times make the same table" [ "$times" = "$(columns "$work/results/host/study/three/tilings.csv" machine layer ukr time_ns | grep '^here')" ]
if grep -q ' f32_16x24__[a-z0-9]* ' <<<"$times"; then # a micro-kernel that a square one can be cut from
    check "a square micro-kernel is timed" grep -q ' f32_16x24__[a-z0-9]*/16 ' <<<"$times"
    check "choices of the square one are judged by all rules" [ "$(columns "$work/results/host/study/three/choices.csv" machine part rule | grep -c '16x16.*all.*simulated_\(lines\|eq6\)')" -eq 2 ]
fi
time_three COMMIT=abd LIMIT=3
check "another commit times anew" grep -q '^3 layers timed, 0 kept' "$work/out"

"$study" "RESULTS=$work/results" MODEL=tests/data/three.csv SAMPLE=0 >"$work/out" 2>"$work/err"
check "times are not replaced by none: exit status $?, not 2" [ $? -eq 2 ]
check "... in one line: $(cat "$work/err")" grep -q "^study: '.*/host/study/three' holds times, .*TIMING=1" "$work/err"
"$study" "RESULTS=$work/results" MODEL=tests/data/three.csv SAMPLE=2 TIMING=1 >"$work/out" 2>"$work/err"
check "a larger sample is not replaced by a smaller one: exit status $?, not 2" [ $? -eq 2 ]
check "... in one line: $(cat "$work/err")" grep -q "^study: '.*/host/study/three' holds results of SAMPLE=0, .* SAMPLE=2: set another" "$work/err"
"$study" "RESULTS=$work/untimed" MODEL=tests/data/three.csv SAMPLE=0 >"$work/out" 2>"$work/err"
status=$?
check "layers without times: exit status $status: $(tail -1 "$work/err")" [ "$status" -eq 0 ]
check "... are said to have none" grep -q "^No times of these layers are recorded" "$work/out"

echo "study: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
