#!/usr/bin/env bash
# The judgement of CSA as a user meets it. Run from the project's folder; BUILD has the programs (default build).
set -u

judge=${BUILD:-build}/judge
program=$judge
# shellcheck source=tests/check.bash
. tests/check.bash

refuses "vgg17" MODEL=vgg17
refuses "no/such.csv" MODEL=vgg16,no/such.csv
refuses "pdp11" MACHINE=pdp11
refuses "pool*" MODEL=tests/data/three.csv LAYERS='pool*'
refuses "JOBS" JOBS=0
refuses "CACHE" CACHE=tepid
refuses "f32_1x1" UKR=f32_1x1
refuses "'avx1024'" UKR=avx1024
refuses "Z80" CORE=Z80
for sample in 0 200% x; do
    refuses "SAMPLE=$sample" "SAMPLE=$sample"
done
refuses "unknown option 'REPS=3'; " REPS=3
refuses "results" MODEL=tests/data/three.csv MACHINE=toy RESULTS=/dev/null/results

cp tests/data/three.csv "$work/all.csv"
refuses "all.csv: the folder 'all' is for other results" MODEL="$work/all.csv" MACHINE=toy
mkdir "$work/elsewhere"
sed '$d' tests/data/three.csv >"$work/elsewhere/three.csv"
refuses "two tables are called 'three'" MACHINE=toy "MODEL=tests/data/three.csv,$work/elsewhere/three.csv"

run() { # run MACHINE MODEL ARGUMENTS...: succeeds; $dir is where the results are
    local machine=$1 model=$2
    shift 2
    "$judge" "RESULTS=$work/results" "MACHINE=$machine" "MODEL=$model" MORE=1 "$@" >"$work/out" 2>"$work/err"
    status=$?
    check "$machine $model $*: exit status $status: $(tail -1 "$work/err")" [ "$status" -eq 0 ]
}

cell() { # cell FILE COLUMN ROW: one field; rows from 1
    csv_rows "$dir/$1" | awk -F, -v name="$2" -v row="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        NR == row + 1 { print $c }'
}

dir=$work/results/power10/judgement/three
run power10 tests/data/three.csv LAYERS= CORE=
for file in verdict.txt layers.csv models.csv ratios.csv speedups.csv machine.cfg judge_schedules.png judge_schedules.svg judge_speedups.png judge_speedups.svg; do
    check "$file is missing" test -s "$dir/$file"
done
check "a row per layer" [ "$(grep -cv '^#' "$dir/layers.csv")" -eq 4 ]
check "a row for the model and one for all" [ "$(grep -cv '^#' "$dir/models.csv")" -eq 3 ]
check "no number without a reason" bash -c "! grep -E ',(nan|inf|-nan)' '$dir'/*.csv"
for row in 1 2 3; do
    check "layer $row: regret is the choice less the better one" awk -v i="$(cell layers.csv is_l1_l2_lines $row)" \
        -v w="$(cell layers.csv ws_l1_l2_lines $row)" -v c="$(cell layers.csv chosen $row)" \
        -v r="$(cell layers.csv regret_l1_l2_lines $row)" 'BEGIN { best = i < w ? i : w; exit !(r == (c == "is" ? i : w) - best) }'
done
check "models.csv sums the layers" [ "$(cell models.csv is_l2_l3_lines 1)" -eq \
    $(($(cell layers.csv is_l2_l3_lines 1) + $(cell layers.csv is_l2_l3_lines 2) + $(cell layers.csv is_l2_l3_lines 3))) ]
check "estimates say that they are" grep -q "ESTIMATED" "$work/out"
check "verdict.txt is what the run ends with" cmp -s "$dir/verdict.txt" <(tail -n "$(wc -l <"$dir/verdict.txt")" "$work/out")
check "without times, they are unproven" grep -q 'nothing was measured on power10' "$dir/verdict.txt"
check "and what is known of their error elsewhere is said" grep -q 'elsewhere .*On zen3 (timed at commit [0-9a-f]\+, the fastest of [0-9]\+' "$dir/verdict.txt"
check "the paper's numbers are for its models" [ -z "$(cell models.csv paper_won_percent 2)" ]
cp "$dir/layers.csv" "$work/first"
run power10 tests/data/three.csv JOBS=1
check "threads change nothing" cmp -s "$work/first" "$dir/layers.csv"

# Machines with prefetchers: kept simulations change no table.
for stored in none 0 9; do
    run zen3 tests/data/three.csv "STORE=$([ $stored = none ] && echo no || echo "$work/store.sqlite")"
    grep -v '^# ' "$work/results/zen3/judgement/three"/*.csv >"$work/tables"
    [ $stored = none ] && cp "$work/tables" "$work/zen3"
    check "$stored of 9 from the store change nothing" cmp -s "$work/zen3" "$work/tables"
    [ $stored = none ] || check "$stored are said to be from the store" grep -q "^$stored of 9 simulations from the store" "$work/out"
done

# Times of make experiment, as far as judge reads them: SConv needs twice Base's time, by either schedule.
times=$work/results/power10/three
mkdir -p "$times"
{
    echo layer_index,layer,macs,algo,ukr,caches,measured_is_machine,measured_time_ns,measured_speedup_vs_base,measured_speedup_low,measured_speedup_high
    columns "$dir/layers.csv" layer_index layer macs | awk '{ for (i = 0; i < 2; i++) print $1 "," $2 "," $3 "," (i ? "sconv_ws" : "sconv_is") ",f32_16x8__mma,cold,1,200,0.5,0.49,0.51" }'
} >"$work/times"
cp "$work/times" "$times/layers.csv"
run power10 tests/data/three.csv
check "times stand beside estimates" [ "$(cell models.csv measured_speedup 1)" = 0.5 ]
check "of all layers" [ "$(cell models.csv measured_loses_layers 1)" = 3 ]
check "the verdict begins with the choices by the clock" grep -q 'CSA chose the faster schedule in 3 of 3 layers, as often as a constant' <(tr -s '\n ' ' ' <"$dir/verdict.txt")
check "and an estimate on the wrong side is withdrawn" grep -q 'estimated *withdrawn: .*, but 0.50 measured' "$dir/verdict.txt"
sed 's/,cold,1,/,cold,0,/' "$work/times" >"$times/layers.csv"
run power10 tests/data/three.csv
check "another computer's times are not taken" grep -q 'nothing was measured on power10' "$dir/verdict.txt"
sed 's/^2,/4,/' "$work/times" >"$times/layers.csv"
run power10 tests/data/three.csv
check "nor those of another layer" [ "$(cell models.csv measured_layers 1)" = 2 ]
echo layer >"$times/layers.csv"
run power10 tests/data/three.csv
check "a file without times says what it lacks" grep -q "layer_index.*layers.csv\|layers.csv.*layer_index" "$dir/layers.csv"
# Times of some layers: the experiment's times with equal LAYERS, else the whole model's times.
cp "$work/times" "$times/layers.csv"
dir=$dir,pointwise
run power10 tests/data/three.csv LAYERS=pointwise
check "some layers have the times of the whole model" [ "$(cell models.csv measured_speedup 1) $(cell models.csv measured_layers 1)" = "0.5 1" ]
mkdir "$times,pointwise"
sed 's/,200,0.5,0.49,0.51/,50,2,1.9,2.1/' "$work/times" >"$times,pointwise/layers.csv"
run power10 tests/data/three.csv LAYERS=pointwise
check "... unless an experiment was about just them" [ "$(cell models.csv measured_speedup 1)" = 2 ]
rm -r "$times" "$times,pointwise"

dir=$work/results/toy/judgement/three
run toy tests/data/three.csv
check "without issue rates, estimates say why" grep -q ': the machine.s file does not state mac_rows' "$dir/layers.csv"
check "and no figure is made of them" [ ! -e "$dir/judge_speedups.png" ]
check "lines are counted all the same" [ "$(cell layers.csv is_l1_l2_lines 1)" -gt 0 ]

sed 's/^size = .*/size = 2 KiB/' sim/machines/toy.cfg >"$work/other.cfg"
"$judge" "RESULTS=$work/results" "MACHINE=$work/other.cfg" MODEL=tests/data/three.csv >"$work/out" 2>"$work/err"
check "another machine of that name: exit status $?, not 2" [ $? -eq 2 ]
check "another machine of that name: one line" grep -q "^judge: .* another machine called 'toy', of sim/machines/toy.cfg" "$work/err"
"$judge" "RESULTS=$work/results" MACHINE=toy "MODEL=$work/elsewhere/three.csv" >"$work/out" 2>"$work/err"
check "another table of that name: exit status $?, not 2" [ $? -eq 2 ]
check "another table of that name: one line" grep -q "^judge: .* another layer table called 'three', of tests/data/three.csv" "$work/err"
"$judge" "RESULTS=$work/results" MACHINE=toy MODEL=tests/data/three.csv >/dev/full 2>"$work/err"
check "a table that nobody takes: exit status $?, not 2" [ $? -eq 2 ]
check "a table that nobody takes: says so" grep -q "^judge: cannot write to standard output: No space left" "$work/err"

dir=$work/results/power10/judgement/resnet18
run power10 resnet18
check "Table 2 stands beside" [ "$(cell models.csv paper_speedup 1)" = 1.46 ]
run power10 resnet18 LAYERS='conv0'
dir=$dir,conv0
check "some layers leave the results of all" [ "$(grep -cv '^#' "$dir/layers.csv") $(grep -cv '^#' "${dir%,*}/layers.csv")" = "2 $(($(wc -l <experiments/models/resnet18.csv)))" ]
check "but not beside some of the layers" [ -z "$(cell models.csv paper_speedup 1)" ]

# Samples: intervals hold the exact counts, a run repeats bit by bit, and the verdict says what is a sample.
sed -n 2p tests/data/three.csv >"$work/long.csv"
echo 'conv,64,56,56,96,3,3,1,1,1,1,1,1,1,1,1' >>"$work/long.csv"
sed -n 3p tests/data/three.csv >>"$work/long.csv"
dir=$work/results/zen3/judgement/long
run zen3 "$work/long.csv" STORE=no SAMPLE=exact
cp "$dir/layers.csv" "$work/exact.csv"
check "exact counts have no intervals" [ "$(cell layers.csv is_eq6_cycles_pm 1)" = 0 ]
check "exact counts are no samples" bash -c "! grep -q samples '$dir/verdict.txt'"
run zen3 "$work/long.csv" STORE=no SAMPLE=0.1%
check "short layers are exact, and the run says so: $(cat "$work/err")" grep -q 'replays are exact: too short' "$work/err"
check "an interval that is not reached is named" grep -q 'the widest is that of conv, .*: +- [0-9.]* % ' "$work/err"
check "the verdict says that replays are samples" grep -q '^ *samples  *the replays are samples' "$dir/verdict.txt"
cp "$dir/layers.csv" "$work/sampled.csv"
run zen3 "$work/long.csv" STORE=no SAMPLE=0.1%
check "samples repeat bit by bit" cmp -s <(csv_rows "$dir/layers.csv") <(csv_rows "$work/sampled.csv")
dir=$work
missed=0 # of 95 % intervals of a short stream, two in five may miss by little; a wide miss is a fault
for column in is_l1_l2_lines ws_l2_l3_lines ws_l3_memory_lines is_eq6_cycles ws_eq6_cycles; do
    awk -v e="$(cell exact.csv $column 1)" -v s="$(cell sampled.csv $column 1)" -v pm="$(cell sampled.csv ${column}_pm 1)" \
        'BEGIN { exit !(pm > 0 && s - e <= pm && e - s <= pm) }' || missed=$((missed + 1))
    check "$column: far from the exact count" awk -v e="$(cell exact.csv $column 1)" \
        -v s="$(cell sampled.csv $column 1)" -v pm="$(cell sampled.csv ${column}_pm 1)" \
        'BEGIN { exit !(pm > 0 && s - e <= 2 * pm && e - s <= 2 * pm) }'
    check "$column of a short layer is exact" [ "$(cell exact.csv $column 2) 0" = \
        "$(cell sampled.csv $column 2) $(cell sampled.csv ${column}_pm 2)" ]
done
check "$missed of five intervals do not hold the exact count" [ $missed -le 2 ]

# A sample that is interrupted, at any moment, leaves no tables; the next run has the counts of a whole run.
dir=$work/stopped/zen3/judgement/long
for signal in INT KILL; do
    rm -rf "$work/stopped"
    mkdir "$work/stopped"
    "$judge" "RESULTS=$work/stopped" MACHINE=zen3 "MODEL=$work/long.csv" "STORE=$work/stopped/store.sqlite" SAMPLE=0.1% >"$work/out" 2>"$work/err" &
    until [ -s "$work/stopped/store.sqlite" ] || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
    sleep 0.1
    kill -$signal $! 2>/dev/null
    wait $! 2>/dev/null
    status=$?
    check "SIG$signal, status $status: half of a result is kept" [ $status -eq 0 -o ! -e "$dir" ]
    "$judge" "RESULTS=$work/stopped" MACHINE=zen3 "MODEL=$work/long.csv" "STORE=$work/stopped/store.sqlite" SAMPLE=0.1% >"$work/out" 2>"$work/err"
    check "SIG$signal: the next run: exit status $?: $(tail -1 "$work/err")" [ $? -eq 0 ]
    check "SIG$signal: the next run has other counts" cmp -s <(csv_rows "$dir/layers.csv" | sed "s:$work/stopped:$work/results:g") <(csv_rows "$work/sampled.csv")
done

# The verdict names its models.
cp tests/data/three.csv "$work/other.csv"
"$judge" "RESULTS=$work/results" MACHINE=toy STORE=no MORE=1 "MODEL=tests/data/three.csv,$work/other.csv" >"$work/out" 2>"$work/err"
check "the verdict does not name two models: $(grep VERDICT "$work/out")" grep -q '^VERDICT for toy, three and other: ' "$work/out"

check "judge --help" bash -c "'$judge' --help | grep -q MODEL"
echo "judge: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
