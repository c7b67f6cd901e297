#!/usr/bin/env bash
# Validation against recorded counts as a user meets it. Run from the project's folder; BUILD has the programs (default build).
set -u

validate=${BUILD:-build}/validate
program=$validate
# shellcheck source=tests/check.bash
. tests/check.bash

recorded=results/reference/zen3/counts
few="fire2/squeeze1x1,fire9/expand3x3" # layers of SqueezeNet: a pointwise one and a 3x3

# A folder with the counts of two layers; broken NAME SED-COMMAND: a copy with one file edited.
mkdir "$work/few"
cp "$recorded/host.txt" "$work/few/"
for file in plans counts; do
    awk -F, 'NR == 1 || $1 == "squeezenet" && $(FILENAME ~ /plans/ ? 2 : 3) ~ /^(2|25)$/' "$recorded/$file.csv" >"$work/few/$file.csv"
done
broken() {
    rm -rf "$work/broken"
    cp -r "$work/few" "$work/broken"
    sed -i "$2" "$work/broken/$1"
}
refuses_broken() { refuses "$1" "COUNTS=$work/broken" LAYERS="$few" "RESULTS=$work/results"; }

refuses "no/such" COUNTS=no/such
refuses "counts format" COUNTS=results/reference/clx4208/vgg16
refuses "vgg17" MODEL=vgg17
refuses "has no counts of 'inceptionv2'" MODEL=inceptionv2
refuses "pdp11" MACHINE=pdp11
refuses "unknown option 'UKR=avx2'" UKR=avx2
broken host.txt ''
ln -sf /dev/zero "$work/broken/host.txt"
refuses_broken "/host.txt': not a regular file"
broken host.txt ''
truncate -s 65M "$work/broken/host.txt"
refuses_broken "larger than 64 MiB"
broken host.txt 's/^counts format: 1/counts format: 99/'
refuses_broken "counts format: '99'; this program reads 1"
broken host.txt 's/ MACHINE=zen3//'
refuses_broken "names no machine: set MACHINE"
broken host.txt 's/ MACHINE=zen3/ MACHINE=zen33/'
refuses_broken "host.txt: replay with: unknown machine 'zen33'"
broken host.txt 's/ UKR=avx2/ UKR=avx9/'
refuses_broken "host.txt: replay with: unknown micro-kernel 'avx9'"
broken host.txt 's/ CORE=Haswell/ CORES=2/'
refuses_broken "unknown setting 'CORES=2'"
broken host.txt ''
sed 's/,packing,/,napping,/' "$recorded/stack.csv" >"$work/broken/stack.csv"
refuses_broken "validate: $work/broken/stack.csv:19: phase: 'napping'"
broken counts.csv '3s/[0-9]*$/-5/'
refuses_broken "counts.csv:3: "
broken counts.csv '4s/[0-9]*$//'
refuses_broken "counts.csv:4: "
broken counts.csv '5s/[0-9]*$/1.5/'
refuses_broken "counts.csv:5: "
broken counts.csv '3s/[a-z_0-9]*,\([0-9]*\)$/l9_lines,\1/'
refuses_broken "counts.csv:3: unknown quantity 'l9_lines'"
broken counts.csv '3s/cold/tepid/'
refuses_broken "counts.csv:3: caches: must be cold, warm or network, not 'tepid'"
broken counts.csv '3p'
refuses_broken "is there twice, in line 3 too"
broken counts.csv '2s/,2,base/,7,base/'
refuses_broken "counts.csv:2: plans.csv has no plan of layer 7 of 'squeezenet'"
broken plans.csv '2s,fire2/squeeze1x1,fire2/squeeze3x3,'
refuses_broken "plans.csv:2: layer 2 of 'squeezenet' is 'fire2/squeeze3x3'"
broken plans.csv '2s/,[0-9]*,base/,1,base/'
refuses_broken "with 1 multiply-adds there"

run() { # run ARGUMENTS...: succeeds; $dir is where the results are
    "$validate" "RESULTS=$work/results" "LAYERS=$few" MORE=1 "$@" >"$work/out" 2>"$work/err"
    status=$?
    check "$*: exit status $status: $(tail -1 "$work/err")" [ "$status" -eq 0 ]
}

cell() { # cell FILE COLUMN PATTERN: the field of the first row that matches
    grep -v '^#' "$dir/$1" | awk -F, -v name="$2" -v pattern="$3" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        $0 ~ pattern { print $c; exit }'
}
within() { awk -v x="$1" -v low="$2" -v high="$3" 'BEGIN { exit !(x != "" && x >= low && x <= high) }'; }

dir=$work/results/zen3/validation/squeezenet,$(tr "*?/[]" "~~~~~" <<<"$few")
run "COUNTS=$work/few"
for file in verdict.txt targets.csv agreement.csv simulated_vs_measured.csv machine.cfg simulated_vs_measured.png simulated_vs_measured.svg; do
    check "$file is missing" test -s "$dir/$file"
done
check "a layer is not comparable: $(grep -m1 'not comparable' "$work/out")" [ "$(grep -c 'not comparable' "$work/out")" -eq 0 ]
check "the targets are printed" grep -q 'l1_lines_in_by_demand .* reached\|error of .* reached' "$work/out"
check "verdict.txt is what the run ends with" cmp -s "$dir/verdict.txt" <(tail -n "$(wc -l <"$dir/verdict.txt")" "$work/out")
check "no number without a reason" bash -c "! grep -E ',(nan|inf|-nan)' '$dir'/*.csv"
check "counts are those of the folder" [ "$(cell simulated_vs_measured.csv measured 'squeeze1x1,base,loads')" = \
    "$(awk -F, '/cold,2,base,loads,/ { print $NF }' "$work/few/counts.csv")" ]
# The present agreement, held: loads of Base, whose stream is the library's own.
check "loads of Base: $(cell agreement.csv error_percent 'all,base,loads')" within "$(cell agreement.csv error_percent 'all,base,loads')" -5 5
check "stores of Base: $(cell agreement.csv error_percent 'all,base,stores')" within "$(cell agreement.csv error_percent 'all,base,stores')" -15 15
check "cycles are simulated: $(cell cycles.csv percent '^error_median')" within "$(cell cycles.csv percent '^error_median')" 0.1 30
check "... of every row" [ "$(cell cycles.csv of '^error_median')" -eq 10 ]
check "... and ordered: $(cell cycles.csv reached '^side_of_base')" [ "$(cell cycles.csv reached '^side_of_base')" != 'not compared' ]
check "... beside what CSA and csa2 choose, of the same pairs" [ "$(cell cycles.csv of '^faster_schedule_csa2,')" -eq "$(cell cycles.csv of '^faster_schedule,')" ]
check "... and a constant, which says its share" grep -q "pairs of schedules the faster one is chosen by CSA .*, always WS in [0-9.]* %" "$dir/verdict.txt"
check "... the verdict begins with cycles, beside rivals without caches" grep -q '^Simulated cycles differ from .* by [0-9.]* % in the median of 10 rows; a constant .* by [0-9.]* %, a fit .* by [0-9.]* %[.]$' "$dir/verdict.txt"
check "... which are in the table" [ "$(cell cycles.csv of '^error_median_fit')" -eq 10 ]
check "no two of these are equal, and nothing is said of equals" bash -c "! grep -q 'equal convolutions' '$dir/verdict.txt'"
check "what cycles cost: $(cell cycles.csv percent '^cost')" within "$(cell cycles.csv percent '^cost')" 80 150
check "... of five replays" [ "$(cell cycles.csv of '^cost')" -eq 5 ]
check "... as the verdict says" grep -q "^simulated cycles .* reached" "$dir/verdict.txt"
check "ratios have one denominator" awk -v m="$(cell simulated_vs_measured.csv measured 'squeeze1x1,base,l1_lines_in,')" \
    -v l="$(cell simulated_vs_measured.csv measured 'squeeze1x1,base,loads')" \
    -v p="$(cell simulated_vs_measured.csv measured_percent_of_loads 'squeeze1x1,base,l1_lines_in,')" \
    'BEGIN { d = p - 100 * m / l; exit !(d < 1e-9 && d > -1e-9) }'
cp "$dir/simulated_vs_measured.csv" "$work/first"
as_planned=$(cell simulated_vs_measured.csv as_machine 'squeeze1x1,sconv_is,loads')
beside=$(cell simulated_vs_measured.csv as_machine 'expand3x3,sconv_is,loads')
run "COUNTS=$work/few" JOBS=1
check "threads change nothing" cmp -s "$work/first" "$dir/simulated_vs_measured.csv"

# A plan that has changed since is replayed as counted.
broken plans.csv '/,2,.*sconv_is/s/ nc=[0-9]*/ nc=7/'
run "COUNTS=$work/broken"
check "another plan is replayed: $(grep '^plans:' "$work/out")" grep -q "^plans: [1-9][0-9]* of 10 would be other ones today" "$work/out"
check "... and makes another stream" [ "$(cell simulated_vs_measured.csv as_machine 'squeeze1x1,sconv_is,loads')" != "$as_planned" ]
check "another layer's plan is its own" [ "$(cell simulated_vs_measured.csv as_machine 'expand3x3,sconv_is,loads')" = "$beside" ]

# A plan that this program cannot make: left out, with both plans; all further plans stand.
broken plans.csv '/,2,.*sconv_is/s/f32_16x6/f32_17x6/'
run "COUNTS=$work/broken"
check "a plan differs: $(grep 'not comparable' "$work/out")" grep -q "not comparable: 1 of 10; .*with sconv_is: plan differs: counted 'f32_17x6.*', planned today '" "$work/out"
check "its row says so" grep -q "squeeze1x1,sconv_is,loads,.*: plan differs" "$dir/simulated_vs_measured.csv"
check "another layer's row does not" within "$(cell simulated_vs_measured.csv as_machine 'expand3x3,sconv_is,loads')" 1 1e12

# Counts with a reason instead of numbers, and a machine file in the folder.
broken counts.csv 's/\(base,stores,\)[0-9]*$/\1not available: the PMU is shy/'
cp sim/machines/toy.cfg "$work/broken/machine.cfg"
sed -i 's/MACHINE=zen3/MACHINE=machine.cfg/' "$work/broken/host.txt"
dir=$work/results/toy/validation/${dir##*/}
run "COUNTS=$work/broken"
check "a machine without a core has no cycles" grep -q '^error_median,.*,0,not compared$' <(csv_rows "$dir/cycles.csv")
check "... and the verdict says why" grep -q '^No cycles are compared: toy has no \[core\]\.' "$dir/verdict.txt"
check "a missing count stays missing" grep -q '^squeezenet,2,fire2/squeeze1x1,base,stores,not available: the PMU is shy,' <(csv_rows "$dir/simulated_vs_measured.csv")

# Without counts, times stand in for cycles: of equal plans, at the clock that host.txt names.
rm -rf "$work/broken"
mkdir "$work/broken"
sed 's/^counts format.*/&\nran at GHz: 2.5/' "$recorded/host.txt" >"$work/broken/host.txt"
awk -F, '/^#/ || /^model,/ || $1 == "squeezenet" && $3 ~ /^(2|25)$/' results/reference/zen3/times/times.csv >"$work/broken/times.csv"
cp -r "$work/broken" "$work/times"
dir=$work/results/zen3/validation/squeezenet,$(tr "*?/[]" "~~~~~" <<<"$few")
run "COUNTS=$work/times"
check "all rows have cycles: $(grep 'not comparable' "$work/out")" [ "$(cell cycles.csv of '^error_median')" -eq 10 ]
check "cycles that were counted are taken" [ "$(cell simulated_vs_measured.csv measured 'expand3x3,base,cycles')" = "$(awk -F, '/cold,25,.*,base,/ { print $NF }' "$work/times/times.csv")" ]
check "counted cycles have their targets" grep -q '^cycles of each row: p90 of the absolute error  *15 %  *8 % ' "$work/out"
check "lines that nobody counted are no table" [ "$(grep -c 'l1_lines_in\|^No counts of loads, stores and lines are compared' "$work/out")" -eq 1 ]
cp "$dir/simulated_vs_measured.csv" "$work/first"
sed -i 's/^\(squeezenet,cold,25,.*,base,.*\),[0-9]*$/\1,/' "$work/broken/times.csv"
run "COUNTS=$work/broken"
check "else times are, at that clock" [ "$(cell simulated_vs_measured.csv measured 'expand3x3,base,cycles')" = \
    "$(awk -F, '/cold,25,.*,base,/ { print int($(NF - 2) * 2.5) }' "$work/broken/times.csv")" ]
sed -i -e '/^model,/s/$/,ghz/' -e '/^squeezenet,/s/$/,3.5/' "$work/broken/times.csv"
run "COUNTS=$work/broken"
check "... or at the clock beside the time" [ "$(cell simulated_vs_measured.csv measured 'expand3x3,base,cycles')" = \
    "$(awk -F, '/cold,25,.*,base,/ { print int($(NF - 3) * 3.5) }' "$work/broken/times.csv")" ]
check "... whose errors have targets of their own" grep -q '^cycles of each row: p90 of the absolute error  *20 %  *10 % ' "$work/out"
rm -rf "$work/results"
sed -i '/^squeezenet,/s/3\.5$/35/' "$work/broken/times.csv"
refuses_broken "times.csv:3: ghz: must be above 0 and below 10"
sed -i -e '/^model,/s/,ghz$//' -e '/^squeezenet,/s/,35$//' "$work/broken/times.csv"
sed -i '/^ran at/d' "$work/broken/host.txt"
refuses_broken "times.csv:8: no cycles, and host.txt has no line 'ran at GHz: ...'"
sed -i 's/^counts format.*/&\nran at GHz: fast/' "$work/broken/host.txt"
refuses_broken "host.txt: ran at GHz: 'fast'; expected a number above 0 and below 10"
cp "$work/times"/* "$work/broken/"
sed -i 's/,cold,/,tepid,/' "$work/broken/times.csv"
refuses_broken "times.csv:3: caches: must be cold, warm or network, not 'tepid'"
cp "$work/times"/* "$work/broken/"
sed -i 's,fire2/squeeze1x1,fire2/squeeze3x3,' "$work/broken/times.csv"
refuses_broken "times.csv:3: layer 2 of 'squeezenet' is 'fire2/squeeze3x3' there, and 'fire2/squeeze1x1' in"
refuses "has no counts with warm caches" "COUNTS=$work/few" CACHE=warm

# ---- advice, among the recorded algorithms ----

"$validate" "RESULTS=$work/results" MODEL=squeezenet,googlenet LAYERS='fire2/squeeze*,inception_5a/1x1' MORE=1 >"$work/out" 2>"$work/err"
check "two models: exit status $?: $(tail -1 "$work/err")" [ -s "$work/out" ]
check "each model is advised by the errors of the other one" grep -q 'with the errors of the other models: 2 layers$' "$work/out"
check "... beside constants" [ "$(grep -cE '^always sconv_(tuned|ws) ' "$work/out")" -eq 2 ]
check "the errors of each pair of algorithms are a table" \
    [ "$(cat "$work"/results/zen3/validation/squeezenet+googlenet*/gains.csv | grep -c '^zen3,[a-z_]*,[a-z_]*,2,')" -eq 20 ]

# Samples on random layers and machines: bad input, and a seed decides every number.
rm -rf "$work/results"
for sample in 0 200% x; do
    refuses "SAMPLE=$sample" "SAMPLE=$sample"
done
refuses "NESTS=4 judges samples: set SAMPLE" NESTS=4
refuses "NESTS" NESTS=0 SAMPLE=1%
for seed in 7 7 8; do
    "$validate" "COUNTS=$work/few" MODEL=squeezenet LAYERS="$few" SAMPLE=1% NESTS=4 "SEED=$seed" "RESULTS=$work/random" MORE=1 \
        >"$work/out" 2>"$work/err"
    check "NESTS=4 SEED=$seed: exit status $?: $(tail -1 "$work/err")" [ $? -eq 0 ]
    csv_rows "$work"/random/zen3/validation/*/sampled.csv >"$work/again.csv"
    check "the seed is printed" grep -q "^Random layers and machines: 4, seed $seed" "$work/out"
    [ -e "$work/first.csv" ] || cp "$work/again.csv" "$work/first.csv"
    [ "$seed" = 8 ] || check "a seed repeats bit by bit" cmp -s "$work/first.csv" "$work/again.csv"
done
check "another seed draws other layers" [ "$(cmp "$work/first.csv" "$work/again.csv" >"$work/out" 2>&1 && echo equal)" = "" ]

# Samples of models' long layers on machines by name: exact counts come from the store.
refuses "MACHINES=zen3 judges samples: set SAMPLE" MACHINES=zen3
mkdir "$work/long"
cp "$recorded/host.txt" "$work/long/"
for file in plans counts; do
    awk -F, 'NR == 1 || $1 == "squeezenet" && $(FILENAME ~ /plans/ ? 2 : 3) ~ /^(2|26)$/' "$recorded/$file.csv" >"$work/long/$file.csv"
done
long() { # long ARGUMENTS...: judges the samples of conv10
    "$validate" "COUNTS=$work/long" MODEL=squeezenet LAYERS=fire2/squeeze1x1,conv10 ALGO=base,sconv_ws SAMPLE=5% "RESULTS=$work/machines" \
        "STORE=$work/machines.sqlite" MORE=1 "$@" >"$work/out" 2>"$work/err"
}
long MACHINES=zen3,pdp11
check "MACHINES=zen3,pdp11: exit status $?, not 2" [ $? -eq 2 ]
check "an unknown machine is named: $(tail -1 "$work/err")" grep -q "^validate: unknown machine 'pdp11'" "$work/err"
for n in 1 2; do
    long MACHINES=zen3,clx4208-real
    check "MACHINES=: exit status $?: $(tail -1 "$work/err")" [ $? -eq 0 ]
    csv_rows "$work"/machines/zen3/validation/*/sampled.csv >"$work/machines$n.csv"
done
check "exact counts of the store are exact counts" cmp -s "$work/machines1.csv" "$work/machines2.csv"
check "samples of a machine have rows" grep -q "^zen3,squeezenet,conv10,base,as_machine,cycles," "$work/machines1.csv"
long MACHINES=zen3,clx4208-real SEED=2
csv_rows "$work"/machines/zen3/validation/*/sampled.csv >"$work/machines2.csv"
check "another seed draws other units" [ "$(cmp -s "$work/machines1.csv" "$work/machines2.csv" && echo equal)" = "" ]
check "both machines have tables" [ "$(grep -c '^zen3:$\|^clx4208-real:$' "$work/out")" -eq 2 ]

echo "validate: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
