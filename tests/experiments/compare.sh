#!/usr/bin/env bash
# Two runs compared, as a user meets it. Run from the project's folder; BUILD has the programs (default build).
set -u

compare=${BUILD:-build}/compare
program=$compare
# shellcheck source=tests/check.bash
. tests/check.bash

first=results/reference/clx4208/vgg16

refuses "A is missing" B=$first
refuses "B is missing" A=$first
refuses "'$work/none' has no results of 'make experiment'" A=$first "B=$work/none"
refuses "'reference/zen3' has no results of 'make experiment': no layers.csv with layers and algorithms; give the folder" A=$first B=reference/zen3
refuses "'$first/layers.csv' is a file; give the folder that holds layers.csv" A=$first B=$first/layers.csv
refuses "; did you mean results/${first#results/}" A=$first "B=${first#results/}"
refuses "has no results of 'make experiment'" A=$first B=results/reference/power10/judgement
refuses "FAIL_IF: 'spedup<-3%': unknown metric 'spedup', did you mean speedup?" A=$first B=$first FAIL_IF='spedup<-3%'
refuses "nothing to compare: no layer of '$first'" A=$first B=results/reference/power10/resnet18
refuses "unknown option 'C=x'" A=$first B=$first C=x

tensors=${BUILD:-build}/tensors
program=$tensors
refuses "RUNS is missing"
refuses "$work/none/layers.csv" "RUNS=$first,$work/none"
program=$compare

# A pair has a folder of its own: the next pair does not replace the folder.
compares() { # compares STATUS B [ARGUMENT...]: $first with that folder; what it says is in $work/out
    dir=$work/results/host/compare/$(tr / '~' <<<"$first..$2")
    "$compare" MORE=1 "A=$first" "B=$2" "RESULTS=$work/results" "${@:3}" >"$work/out" 2>"$work/err"
    local status=$?
    check "$2 ${*:3}: exit status $status, not $1: $(tail -1 "$work/err")" [ $status -eq "$1" ]
    for file in compare.csv compare.html; do check "$2: no $file" test -s "$dir/$file"; done
}
says() { check "'$1' is not in: $(cat "$work/out")" grep -qE -- "$1" "$work/out"; }
verdicts() { columns "$dir/compare.csv" metric b_is | sort | uniq -c | awk -v metric="$1" '$2 == metric { printf "%s %s ", $1, $3 }'; }

untimed=results/reference/power10/resnet18
refuses "FAIL_IF: 'speedup<-3%': both runs must have speedup" A=$untimed B=$untimed FAIL_IF='speedup<-3%'
refuses "FAIL_IF: 'goto.loads>0': both runs must have loads" A=$first B=$first FAIL_IF='loads>0,goto.loads>0'

# A run and itself.
compares 0 $first FAIL_IF='speedup<0%,layer.speedup<0%,layer.gain<0%,l1_misses>0,layer.l1_misses>0'
says "none of the conditions of FAIL_IF is met"
check "a run differs from itself" [ -z "$(columns "$dir/compare.csv" change_percent | grep -vx 0)" ]
check "no time of it is certain: $(verdicts speedup)" [ "$(verdicts speedup)" = "56 open " ]
check "its misses are equal: $(verdicts l1_misses)" [ "$(verdicts l1_misses)" = "56 equal " ]
for figure in png svg; do check "no figure: $figure" test -s "$dir/compare_layers.$figure"; done
check "the page has a bar of A and of B for each layer and algorithm" [ "$(grep -c '<div class="bar pale" data-a=' "$dir/compare.html") $(grep -c '<div class=bar data-a=' "$dir/compare.html")" = "56 56" ]
check "... as SVG, with numbers" grep -q '<div class=bar data-a="sconv_ws".*data-v="1.69[0-9]*,[0-9.]*,[0-9.]*,[0-9.]*,1,[0-9.]*,[0-9.]*,".*<svg.*<rect class=k .*<span>1.70 ms' "$dir/compare.html"
check "... that leads to the layer" grep -q '<h5><a href="#layer-1">conv1_1</a> <small>no difference' "$dir/compare.html"
check "... which is there" grep -q '<summary><b>conv1_1</b> <span>no difference</span>.*<div class=inside id="layer-1">' "$dir/compare.html"
check "the page is larger than 1.2 MB" [ "$(stat -c %s "$dir/compare.html")" -lt 1200000 ]
check "the page has no figure" grep -q '<img class=plot .*data:image/svg' "$dir/compare.html"

# scaled COLUMN FACTOR PATTERN TABLE: the table, with the column multiplied in rows that match
scaled() {
    awk -F, -v OFS=, -v name="$1" -v factor="$2" -v pattern="$3" '
        /^#/ { print; next }
        !at { for (i = 1; i <= NF; i++) if ($i == name) at = i; print; next }
        $0 ~ pattern { $at = sprintf("%.0f", $at * factor) }
        { print }' "$4"
}

# A run whose weight-stationary SConv takes a tenth longer, all else equal.
slower=$work/slower
cp -r $first "$slower"
scaled time_ns 1.1 ',sconv_ws,' $first/samples.csv >"$slower/samples.csv"
scaled measured_time_ns 1.1 ',sconv_ws,' $first/layers.csv >"$slower/layers.csv"
compares 1 "$slower" FAIL_IF='speedup<-3%'
says "^sconv_ws +speedup +-9.09 %  worse  p 0.0"
says "^sconv_is +speedup +\+0.00 %  open"
check "the page says what differs most in a layer" grep -qE '>conv1_2</a> <small>SConv WS: B has 2.6[0-9] ms more, 0.91× \[0.[0-9]*, 0.[0-9]*\]: worse' "$dir/compare.html"
says "FAIL_IF speedup<-3%: speedup of sconv_ws, the model, went from"
compares 0 "$slower" FAIL_IF='speedup<-10%'
compares 0 "$slower" FAIL_IF='sconv_is.speedup<-3%,base.speedup<-3%'
compares 1 "$slower" FAIL_IF='layer.speedup<-9%'
says "FAIL_IF layer.speedup<-9%: and [0-9]+ more"

# Without rounds nothing is certain, however large.
grep '^#\|^layer_index' $first/samples.csv >"$slower/samples.csv"
compares 0 "$slower" FAIL_IF='speedup<-3%,layer.speedup<-3%'
says "^sconv_ws +speedup +-9.09 %  open"
check "why there is no p is said" grep -q ': one of the runs has no rounds in samples.csv' "$dir/compare.csv"

# One simulated miss more in a layer.
more=$work/more
cp -r $first "$more"
misses=$(columns $first/layers.csv layer algo simulated_l1_load_misses | awk '$1 == "conv3_1" && $2 == "base" { print $3 }')
sed -i "/,conv3_1,base,/s/,$misses,/,$((misses + 1)),/" "$more/layers.csv"
compares 1 "$more" FAIL_IF='base.l1_misses>0'
compares 0 "$more" FAIL_IF='base.l1_misses<0,base.l1_misses>1%'
compares 0 "$more" FAIL_IF='l1_misses>0,layer.l1_misses>0'
says "^base +l1_misses .* worse .* 0 better, 1 worse, 13 in all"

# Columns of another version, missing layers, different shapes.
mixed=$work/mixed
cp -r $first "$mixed"
awk -F, -v OFS=, '/^#/ { print; next } !at { for (i = 1; i <= NF; i++) { if ($i == "simulated_loads") at = i; if ($i == "in_h") h = i }; $at = "loads"; print; next }
    /,conv1_1,/ { next } /,conv1_2,/ { $h = 230 } { print }' $first/layers.csv | sed 's/^# commit: .*/# commit: 0123456/' >"$mixed/layers.csv"
compares 0 "$mixed"
says "^note: loads is not compared: B has no column simulated_loads, another version made it"
says "^note: 4 rows are only in A: the first is conv1_1 with base"
says "^note: 4 rows are of other shapes in A and B and not compared: the first is conv1_2"
says "^note: commit differs: A has [0-9a-f]+, B has 0123456"
check "what is not compared is in the table" [ -z "$(csv_rows "$dir/compare.csv" | grep conv1_)" ]
sed -i 's/^model,.*/x,"/' "$mixed/layers.csv"
"$compare" "A=$first" "B=$mixed" "RESULTS=$work/results" >"$work/out" 2>"$work/err"
check "a broken table: not one line that names it: $(cat "$work/err")" [ "$(wc -l <"$work/err") $(grep -c "^compare: $mixed/layers.csv:[0-9]*: " "$work/err")" = "1 1" ]
check "the comparison before it is still there" test -s "$dir/compare.html"
check "each pair has a folder of its own" [ "$(find "$work/results/host/compare" -name compare.csv | wc -l)" -ge 3 ]

# ---- whose lines miss ----

"$tensors" "RUNS=$first,$untimed" "RESULTS=$work/results" >"$work/out" 2>"$work/err"
check "tensors: exit status $?: $(tail -1 "$work/err")" [ -s "$work/results/host/tensors/$(tr / '~' <<<"$first,$untimed")/tensors.csv" ]
dir=$work/results/host/tensors/$(tr / '~' <<<"$first,$untimed")
# Base's own rows in the run's table: misses of a tensor's lines at a level, per 1000 multiply-adds of the layers.
own() {
    columns $first/traffic.csv algo level tensor read_misses write_misses |
        awk -v macs="$(columns $first/layers.csv algo macs | awk '$1 == "base" { n += $2 } END { print n }')" -v t="$1" \
            '$1 == "base" && $2 == "L2" && (t == "" || $3 == t) { n += $4 + $5 } END { printf "%.4g\n", 1000 * n / macs }'
}
there() { columns "$dir/tensors.csv" machine level algo "$1" | awk '$1 == "clx4208" && $2 == "L2" && $3 == "base" { printf "%.4g\n", $4 }'; }
check "all misses: $(own '') $(there misses_per_1000_macs)" [ "$(own '')" = "$(there misses_per_1000_macs)" ]
check "of the input: $(own input) $(there input)" [ "$(own input)" = "$(there input)" ]
check "of the matrix: $(own im2col) $(there im2col)" [ "$(own im2col)" = "$(there im2col)" ]
check "SConv is what CSA chose" [ "$(columns "$dir/tensors.csv" machine level algo layers | grep -cE '^(clx4208|power10) L1 sconv [1-9]')" -eq 2 ]
chosen() { # what the run's own table has of the schedules that CSA chose, with columns of that number
    { columns $first/layers.csv layer_index algo chosen macs; columns $first/traffic.csv layer_index algo level read_misses write_misses; } |
        awk '$3 == 1 && NF == 4 { is[$1 " " $2] = 1; macs += $4 } NF == 5 && $3 == "L2" && is[$1 " " $2] { n += $4 + $5 } END { printf "%.4g\n", 1000 * n / macs }'
}
of_sconv() { columns "$dir/tensors.csv" machine level algo misses_per_1000_macs | awk '$1 == "clx4208" && $2 == "L2" && $3 == "sconv" { printf "%.4g\n", $4 }'; }
check "... layer by layer: $(chosen) $(of_sconv)" [ "$(chosen)" = "$(of_sconv)" ]
check "... and no schedule" [ "$(columns "$dir/tensors.csv" algo | grep -c 'sconv_[iw]s')" -eq 0 ]
check "the figure" test -s "$dir/tensors_machines.png"
check "the answer: $(cat "$work/out")" grep -q '^clx4208, L1: .* lines per 1000 multiply-adds, .* of them of .*' <(unwrapped "$dir/verdict.txt")

# A slower memory changes cycles and no count.
sed 's/^memory_latency_cycles = 380 /memory_latency_cycles = 500 /' sim/machines/zen3.cfg >"$work/slow.cfg"
for machine in zen3 "$work/slow.cfg"; do
    "${BUILD:-build}/experiment" MODEL=tests/data/three.csv LAYERS=pointwise "MACHINE=$machine" UKR=avx2 ALGO=sconv_ws TIMING=0 OBSERVE=0 STORE=no \
        "RESULTS=$work/of.${machine##*/}" >"$work/out" 2>"$work/err"
done
"$compare" MORE=1 "A=$work/of.zen3/zen3/three,pointwise" "B=$work/of.slow.cfg/zen3/three,pointwise" "RESULTS=$work/results" >"$work/out" 2>"$work/err"
check "simulated cycles are compared: $(cat "$work/out")" grep -q '^sconv_ws  *simulated_cycles  *+[0-9.]* %  *worse' "$work/out"
check "... and no count differs" grep -q '^7 sums of simulated or predicted numbers are equal' "$work/out"

finish
