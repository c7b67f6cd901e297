#!/usr/bin/env bash
# The jury as a user meets it, on small tables of the tests' own. Run from the project's folder; BUILD has the programs (default build).
set -u

build=${BUILD:-build}
program=$build/jury
# shellcheck source=tests/check.bash
. tests/check.bash

tables=tests/data/jury
small=(MACHINE=zen3 UKR=f32_16x24__avx512 CORE=Haswell TIMING=0 STORE=no)

# ---- bad input: one line, and nothing left ----

broken() { # broken SED-COMMAND: a copy of the tables, one of them edited
    rm -rf "$work/tables"
    cp -r "$tables" "$work/tables"
    sed -i "$1" "$work/tables/regular.csv"
}
refuses "TABLES" "${small[@]}"
refuses "cannot open 'no/such'" TABLES=no/such "${small[@]}"
refuses "pdp11" TABLES=$tables MACHINE=pdp11
refuses "unknown algorithm 'winograd'" TABLES=$tables ALGO=winograd
refuses "SAMPLE_LAYERS" TABLES=$tables SAMPLE_LAYERS=-3
refuses "SHARE" TABLES=$tables SHARE=9/8 "STORE=$work/s.sqlite"
mkdir "$work/none"
refuses "there is no layer table, *.csv, in the folder '$work/none'" "TABLES=$work/none" "${small[@]}"
broken '3s/,5,5,3,3,/,6,5,3,3,/'
refuses "$work/tables/regular.csv:3: layer 'regular_2', the output is said to be 6x5, but its sizes make 5x5" "TABLES=$work/tables" "${small[@]}"
broken '1s/,WPRIGHT,/,WRIGHT,/'
refuses "$work/tables/regular.csv:1: column missing, 'WPRIGHT'" "TABLES=$work/tables" "${small[@]}"
broken '6s/,16,0$/,5,0/'
refuses "$work/tables/regular.csv:6: layer 'regular_5', " "TABLES=$work/tables" "${small[@]}"
broken '6s/^5,1,16,/5,1,x,/'
refuses "$work/tables/regular.csv:6: CI, 'x'" "TABLES=$work/tables" "${small[@]}"

# ---- shapes that no memory holds are listed and left out ----

broken '$a 8,1,4294967296,4294967296,4294967296,1,1,4294967296,4294967296,1,1,0,0,0,0,1,1,1,1,1,1\n9,1,4000,100000,100000,1,9,100000,100000,1,1,0,0,0,0,1,1,1,1,1,9'
succeeds "TABLES=$work/tables" "${small[@]}"
says "regular.csv: skipped 1, shapes of more bytes than memory has: line 9" err
check "a layer beyond this memory is left out, and named" grep -q "^left out: layer 'regular_9': " "$work/results/zen3/jury/tables/verdict.txt"

# ---- simulated alone ----

dir=$work/results/zen3/jury/jury
succeeds "TABLES=$tables" "${small[@]}"
has_files "$dir" jury.csv losses.csv kinds.csv targets.csv verdict.txt machine.cfg jury_speedups.png output.txt
check "a row for each shape and algorithm" [ "$(csv_rows "$dir/jury.csv" | wc -l)" -eq $((1 + 11 * 4)) ]
check "no number without a reason" bash -c "! grep -E ',(nan|inf|-nan)' '$dir'/*.csv"
for kind in grouped plane patch few_channels strided ragged pointwise other; do
    check "kind $kind has a shape" grep -q "^$kind," "$dir/kinds.csv"
done
check "nothing is timed, and it says so" grep -q '^Nothing is timed: TIMING=0' "$dir/verdict.txt"
check "no target is compared" [ "$(csv_rows "$dir/targets.csv" | grep -c ',not compared$')" -eq 6 ]
check "a row of one file is named by file and number" grep -q '^regular_6,' "$dir/jury.csv"
check "the whole output ends with the verdict" cmp -s "$dir/verdict.txt" <(tail -n "$(wc -l <"$dir/verdict.txt")" "$dir/output.txt")
cp -r "$dir" "$work/once"
succeeds "TABLES=$tables/regular.csv,$tables/elementwise.csv" "${small[@]}"
check "two files are one jury" cmp -s <(csv_rows "$work/once/jury.csv" | grep -v layer_index | cut -d, -f1,4- | sort) \
    <(csv_rows "$work/results/zen3/jury/regular+elementwise/jury.csv" | grep -v layer_index | cut -d, -f1,4- | sort)

# ---- draws ----

drawn() { csv_rows "$work/results/zen3/jury/jury,$1,seed$2/jury.csv" | cut -d, -f1 | sort -u; }
succeeds "TABLES=$tables" SAMPLE_LAYERS=5 SEED=3 "${small[@]}"
check "five layers are drawn" [ "$(drawn 5 3 | grep -cv '^layer$')" -eq 5 ]
drawn 5 3 >"$work/first"
succeeds "TABLES=$tables" SAMPLE_LAYERS=5 SEED=3 "${small[@]}"
check "the same layers by the same seed" cmp -s "$work/first" <(drawn 5 3)
succeeds "TABLES=$tables" SAMPLE_LAYERS=5 SEED=4 "${small[@]}"
check "others by another" bash -c "! cmp -s '$work/first' <(cut -d, -f1 '$work/results/zen3/jury/jury,5,seed4/jury.csv' | grep -v '^#' | sort -u)"

# ---- timed: by shares, resumed, and foretold ----

here=("TABLES=$tables" MACHINE=toy ALGO=base,sconv REPS=5 RULER=0 "STORE=$work/kept.sqlite")
for share in 0/2 1/2; do
    succeeds "${here[@]}" "SHARE=$share"
    check "a share leaves no tables" [ ! -e "$work/results/toy/jury" ]
done
succeeds "${here[@]}"
if grep -q 'Nothing is timed' "$work/results/toy/jury/jury/verdict.txt"; then
    echo "$name: SKIPPED: nothing is timed here: $(grep 'Nothing is timed' "$work/results/toy/jury/jury/verdict.txt")"
else
    check "all is from the shares" grep -q '^10 of 10 simulations and times of 11 of 11 layers from the store' "$work/results/toy/jury/jury/output.txt"
    check "rows are timed" [ "$(csv_rows "$work/results/toy/jury/jury/jury.csv" | awk -F, '$26 == 5' | wc -l)" -eq 33 ]
    check "times of another machine are no cycles" grep -q "^Times are this computer's, " "$work/results/toy/jury/jury/verdict.txt"
fi

# ---- times of an earlier run ----

# Writes jury.csv of a run of that many of the cycles that were simulated, at 2 GHz: times PERCENT
times() {
    csv_rows "$work/once/jury.csv" | awk -F, -v OFS=, -v CONVFMT=%.15g -v percent="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; n = split("layer layer_index batch in_c in_h in_w out_c k_h k_w stride_h stride_w " \
            "pad_top pad_bottom pad_left pad_right dilation_h dilation_w group algo rounds time_ns speedup speedup_low speedup_high ghz", name, " ") }
        { for (i = 1; i <= n; i++) {
              value = name[i] == "time_ns" ? $at["simulated_cycles"] * percent / 200 : name[i] == "ghz" ? 2 : name[i] ~ /^speedup/ ? 1.5 : name[i] == "rounds" ? 7 : $at[name[i]]
              printf "%s%s", NR == 1 ? name[i] : value, i < n ? "," : "\n" } }' >"$work/times.csv"
}
recorded=("TABLES=$tables" MACHINE=zen3 UKR=f32_16x24__avx512 CORE=Haswell STORE=no "TIMES=$work/times.csv")
column() { csv_rows "$dir/jury.csv" | awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) at = $i == name ? i : at; next } { printf "%.9g\n", $at }' | sort -u; }
times 80
succeeds "${recorded[@]}"
check "simulated cycles are judged by the times of the file" [ "$(column error_percent)" = 25 ]
check "at the clock of the file" [ "$(column ghz)" = 2 ]
check "rounds are those of the file" [ "$(column rounds)" = 7 ]
sed -i '/^regular_2,/d' "$work/times.csv"
succeeds "${recorded[@]}"
check "a layer without a row stays untimed" grep -q '^regular_2,.*TIMES has no row of it' "$dir/jury.csv"
rm -rf "$work/results"
times 80
sed -i 's/^\(regular_3,[0-9]*,1\),8,/\1,9,/' "$work/times.csv"
refuses "$work/times.csv: layer 'regular_3' has other sizes than in TABLES" "${recorded[@]}"
times -80
refuses "$work/times.csv:2: time_ns: must be above 0" "${recorded[@]}"
times 80
sed -n 2p "$work/times.csv" >>"$work/times.csv"
refuses "has two rows of base" "${recorded[@]}"
sed -i '1s/,algo,/,algorithm,/' "$work/times.csv"
refuses "$work/times.csv:1: column missing, 'algo'" "${recorded[@]}"
refuses "no/such.csv" "${recorded[@]}" TIMES=no/such.csv

printf '%s: %d passed, %d failed\n' "$name" "$passed" "$failed"
[ "$failed" -eq 0 ]
