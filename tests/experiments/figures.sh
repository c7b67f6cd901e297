#!/usr/bin/env bash
# No figure hides a datum: nothing is drawn outside of the axes. All figures are drawn again, by scripts that also write
# down the drawn data (axes_script.awk); axes_judge.awk compares the data with the axes. Drawn are the committed
# references, runs on a machine with prefetchers, and tables whose numbers lie far apart. Run from the project's folder;
# BUILD has the programs (default build).
set -u

redraw=$(realpath -s "${BUILD:-build}/redraw")
experiment=${BUILD:-build}/experiment
sweep=${BUILD:-build}/sweep
program=$redraw
# shellcheck source=tests/check.bash
. tests/check.bash

scripts=$work/scripts
mkdir "$scripts"
find experiments -name '*.gp' -exec cp {} "$scripts/" \;
axes=tests/experiments
results=$work/results
mkdir -p "$results"

# ---- the results to draw ----

cp -r results/reference "$results/reference"

# The tests' machine with a prefetcher: levels beyond the prefetcher see other tensors than the first level does.
sed '/^\[cache L2\]/a prefetch = next_line degree=4' sim/machines/toy.cfg | sed 's/^name = toy/name = fetching/' >"$work/fetching.cfg"
sed 's/^pointwise/100%/; s/^depthwise/50 %s/; s/^stem.7x7_s2/%/' tests/data/three.csv >"$work/percent.csv"
for model in tests/data/three.csv "$work/percent.csv"; do
    "$experiment" MODEL="$model" MACHINE="$work/fetching.cfg" TIMING=0 "RESULTS=$results" >"$work/out" 2>"$work/err"
    status=$?
    check "experiment $model: exit status $status: $(tail -1 "$work/err")" [ "$status" -eq 0 ]
done
"$sweep" MODEL=tests/data/three.csv MACHINE=toy VARY='L1.size=1K,2K L2.ways=2,4' "RESULTS=$results" >"$work/out" 2>"$work/err"
status=$?
check "sweep: exit status $status: $(tail -1 "$work/err")" [ "$status" -eq 0 ]
"$sweep" MORE=1 MODEL=tests/data/three.csv MACHINE=toy VARY='nc=1,2 k2=1,2' ALGO=sconv_ws "RESULTS=$work/tiles" >"$work/out" 2>&1
status=$?
check "sweep of tiles: exit status $status: $(tail -1 "$work/out")" [ "$status" -eq 0 ]
check "what more cache buys is not asked where tiles vary" grep -q 'sweep_pareto .*not drawn: the caches are of one size' "$work/out"

# table FOLDER FILE: a table from standard input, whose columns are separated by blanks; '-' is a reason
table() {
    mkdir -p "$results/$1"
    sed -E 's/ +/,/g; s/,-(,|$)/,not available: none\1/g' >"$results/$1/$2"
}
# recipe FOLDER LINE...: writes the recipe of a folder's figures; the names of algorithms are those of a reference
recipe() {
    { printf '%s\n' "${@:2}" && grep -E '^(algo_|[a-z]+_algos:)' results/reference/clx4208/vgg16/figures.txt; } >"$results/$1/figures.txt"
}

table compare compare.csv <<'END'
layer_index layer algo metric change_percent b_is
0 model base speedup 3 better
1 one base speedup -99 worse
1 one sconv_is speedup 4000 better
2 two% sconv_ws speedup 0 open
1 one base l1_misses 1e6 worse
2 two% sconv_is l2_misses -100 better
2 two% base l3_misses 0.001 open
END
recipe compare 'figure: compare_layers' 'what: A: one; B: other'

table study predictions.csv <<'END'
machine caches measured_is_ws csa_is_ws csa2_is_ws
zen3 cold 0.01 90 0.02
spr warm 30 0.003 1
here cold 1 1 77
END
table study methods.csv <<'END'
machine part method speed_percent worst_tenth_percent
clx4208 all halving 80 20
power10 all other 70 0
here others halving 130 100
here others third% 30 1
END
table study micro_kernels.csv <<'END'
macs_per_cycle what misses base_packing_percent sconv_packing_percent speedup
1 slow% hit 1 0 0.2
1 slow% wait 99 50 9
4096 fast hit 100 1 30
4096 fast wait 3 2 1
64 between measured 40 20 1.4
END
table study rates.csv <<'END'
machine macs_per_cycle base_packing_percent sconv_packing_percent speedup
zen3 1 2 3 0.1
zen3 2048 99 98 5
spr 1 0 0 1
spr 2048 50 20 0.01
END
recipe study 'figure: study_choices' 'figure: study_tilings' 'figure: study_micro_kernels' 'figure: study_rates' 'what: tables of a test'

table jury jury.csv <<'END'
layer algo speedup simulated_speedup
a_1 base 1 1
a_2 base 1 1
a_1 sconv_ws 0.01 1
a_2 sconv_ws 40 -
a_1 sconv_tuned - 2
a_2 sconv_tuned 1 3
END
recipe jury 'figure: jury_speedups' 'is_timed: 1' 'what: tables of a test'

table polydl totals.csv <<'END'
ranking part model threads near_best_percent
polydl convolutions all 1 50
polydl_dnn convolutions all 1 0
END
table polydl picks.csv <<'END'
model layer part place threads worst best loops pick_default_order pick_polydl pick_polydl_dnn pick_haystack microkernel onednn base top5_polydl top5_polydl_dnn
fastrcnn one training 1 1 1 10 0.5 30 10 9 40 30 300 1 10 10
fastrcnn two held_out 2 1 1 10 0.5 1 10 9 0.2 3 3 1 10 10
resnet one held_out 1 1 2 3 1 1 2 3 2 - 4 1 3 3
maskrcnn one training 1 1 2 3 1 1 2 3 2 9 4 1 3 3
gemm small% training 1 1 2 10 1 1 5 3 2 18 4 1 3 3
gemm large training 2 1 2 10 1 1 5 3 2 0.1 99 - 30 11
END
table polydl printed.csv <<'END'
figure workload metric printed ours
Figure_19 gemm polydl_dnn_fraction_of_max 0.95 1
END
table polydl learning.csv <<'END'
threads epoch loss held_out_loss
1 1 0.7 3
1 300 0.0001 40
2 1 0.5 0.6
2 2 0.4 -
END
table polydl fusion.csv <<'END'
operators output_bytes speedup_over_apart speedup_over_onednn
bnorm_relu 1024 0.01 90
bnorm_relu 1e9 12 0.5
conv_relu6 4096 1 1
conv_relu6 8192 1.1 -
END
recipe polydl 'figure: polydl_rankings' 'figure: polydl_speeds' 'figure: polydl_spread' 'figure: polydl_haystack' 'figure: polydl_gemm_speeds' \
    'figure: polydl_gemm_spread' 'figure: polydl_learning' 'figure: polydl_fusion' 'what: tables of a test' \
    'ranking_names: polydl polydl_dnn haystack exact' 'ranking_titles: "PolyDL" "PolyDL-DNN" "HayStack" "exact"'

table paper speedups.csv <<'END'
view heading arch algo layers rank speedup
here this_computer x86 sconv_openblas all 1 0.01
here this_computer x86 sconv_openblas all 2 40
here this_computer x86 sconv_openblas pointwise 1 3
power10_cold POWER10 P10 sconv_openblas all 1 1
power10_cold POWER10 P10 sconv_openblas pointwise 1 0.2
clx4208_parts parts_of_it x86 sconv_openblas all 1 2
END
table paper models.csv <<'END'
view heading arch algo model model_index base_packing_percent base_kernel_percent packing_percent kernel_percent base_l1_miss_percent l1_miss_percent l1_miss_ratio base_l2_miss_percent l2_miss_percent l2_miss_ratio base_l3_miss_percent l3_miss_percent l3_miss_ratio
clx4208_cold Xeon x86 sconv_openblas vgg16 1 30 60 1 98 18 9 2 1 3 0.5 0.01 0.001 10
clx4208_cold Xeon x86 sconv_openblas 100% 2 100 0 0 100 100 99 2 - - - 90 100 1
power10_network POWER10 P10 sconv_openblas vgg16 1 30 - 1 - 3 30 0.1 0 0 - 0 0 -
END
table paper numbers.csv <<'END'
metric arch published
max_conv_speedup x86 50
conv_wins_percent x86 90
max_conv_speedup P10 0.1
conv_wins_percent P10 1
base_packing_share_percent_avg x86 40
sconv_packing_share_percent_avg x86 5
base_l1_hit_percent_of_loads x86 20
sconv_l1_hit_percent_of_loads x86 99
END
recipe paper 'figure: paper_figure8' 'figure: paper_figure9' 'figure: paper_figure10' 'figure: paper_figure11' 'what: tables of a test' 'paper_algo: sconv_openblas'

table validation simulated_vs_measured.csv <<'END'
algo quantity measured_percent_of_loads caches_alone_percent_of_loads as_machine_percent_of_loads
base l1_lines_in_by_demand 10 0.001 90
sconv_is l1_lines_in_by_demand 12 13 14
base l1_lines_in 10 11 10
sconv_is l1_lines_in 10.5 10 10
base l2_lines_in 0.01 0.1 100
base memory_lines_in 3 0 -
END
recipe validation 'figure: simulated_vs_measured' 'what: counted by a test'

table peers layers.csv <<'END'
model layer method cache pointwise measured_speedup_vs_base measured_gflops flop_per_byte
alexnet one base network 1 1 0.01 900
alexnet two base network 0 1 0.01 900
alexnet one base_rows network 1 1 1 900
alexnet two base_rows network 0 0.1 1 900
alexnet one sconv network 1 1 900 0.001
alexnet two sconv network 0 - 900 0.001
alexnet one sconv_ahead network 1 70 900 0.001
alexnet two sconv_tuned network 0 90 3 10
alexnet two onednn_blocked network 0 90 3 10
END
table peers phases.csv <<'END'
model number method im2col_percent packing_percent ukr_percent other_percent steps_to_call
50% 1 base 10 10 70 10 9
50% 1 sconv 0 10 80 10 0.5
50% 1 sconv_ahead 0 1 98 1 3
50% 1 sconv_openblas 0 1 98 1 -
50% 1 sconv_tuned 0 1 98 1 0.1
END
cp results/reference/zen4/peers/all/figures.txt "$results/peers/"

table tensors tensors.csv <<'END'
model machine level algo layers misses_per_1000_macs input filter output packed_input packed_filter im2col workspace
three clx4208 L1 base 3 900 100 100 100 100 100 400 0
three clx4208 L1 sconv 3 0.001 0.001 0 0 0 0 0 0
three clx4208 L2 base 3 0 0 0 0 0 0 0 0
three clx4208 L2 sconv 2 7 1 1 1 1 1 1 1
three toy L1 sconv 3 90 10 10 10 10 20 10 20
END
recipe tensors 'figure: tensors_machines' 'what: tables of a test'

table clocked layers.csv <<'END'
model layer_index layer algo chosen in_c simulated_cycles simulated_computing_cycles simulated_packing_cycles simulated_calls_cycles simulated_wait_l2_cycles simulated_wait_l3_cycles simulated_wait_memory_cycles simulated_wait_tlb_cycles simulated_wait_stores_cycles taken_cycles
three 1 one base 0 3 100 60 10 1 1 1 10 7 10 9000
three 1 one sconv_is 0 3 - - - - - - - - - 9000
three 1 one sconv_ws 1 3 4000 10 10 10 10 10 10 10 3930 1
three 2 100% base 0 4 1e6 999993 1 1 1 1 1 1 1 -
three 2 100% sconv_is 1 4 8 1 1 1 1 1 1 1 1 -
END
recipe clocked 'figure: simulated_cycles' 'machine: toy: of a test' 'simulator: a test' 'host: a test' 'levels: L1 L2 L3' 'shape_columns: in_c'
mkdir "$results/untimed"
sed '1!s/[^,]*$/not available: none/' "$results/clocked/layers.csv" >"$results/untimed/layers.csv"
cp "$results/clocked/figures.txt" "$results/untimed/"

# Speed-ups of a timed run that are far apart.
mkdir "$results/timed"
cp results/reference/clx4208/vgg16/{layers.csv,model.csv,figures.txt} "$results/timed/"
awk -F, -v OFS=, '/^#/ { print; next } !at { for (i = 1; i <= NF; i++) if ($i == "measured_speedup_vs_base") at = i; print; next }
    $at ~ /^[0-9]/ && NR % 3 == 0 { $at *= 9 } { print }' results/reference/clx4208/vgg16/layers.csv >"$results/timed/layers.csv"

# A question may bring tables that its figures are drawn from here: experiments/<room>/sample/.
for sample in experiments/*/sample experiments/papers/*/sample; do
    [ ! -d "$sample" ] || cp -r "$sample" "$results/sample-$(basename "${sample%/sample}")"
done

# ---- data outside ----

# drawn SCRIPTS FOLDER: draws the results in a folder by scripts that write down the drawn data
drawn() {
    mkdir -p "$work/place/experiments/figures" "$work/place/experiments/models" "$work/place/sim/machines" # a project's folder
    for script in "$1"/*.gp; do
        awk -f $axes/axes_script.awk "$script" >"$work/place/experiments/figures/${script##*/}"
    done
    find "$results" -name '*.drawn' -delete
    (cd "$work/place" && "$redraw" "RESULTS=$2") >"$work/out" 2>"$work/err"
}
outside() { # outside FIGURE: each datum of it that is outside, in all folders
    find "$results" -name "$1.png.partial.drawn" -exec awk -f $axes/axes_judge.awk {} \; | grep -v '^plots:'
}
points() { # points FIGURE: how many data were looked at
    find "$results" -name "$1.png.partial.drawn" -exec awk -f $axes/axes_judge.awk {} \; | awk '/^plots:/ { n += $2 ? $4 : 0 } END { print n + 0 }'
}
drawn $scripts "$results"
status=$?
check "redraw: exit status $status: $(tail -1 "$work/err")" [ "$status" -eq 0 ]
n=0
for script in "$scripts"/*.gp; do
    figure=$(basename "$script" .gp)
    case $figure in style | bars | points | common | *_common) continue ;; esac
    n=$((n + 1))
    check "$figure has no question, or no caption" [ "$(awk '/^# (question|caption) / { print $2 }' "$script" | sort -u | wc -l)" -eq 2 ]
    check "$figure is drawn nowhere" [ "$(points "$figure")" -gt 0 ]
    check "$figure hides data: $(outside "$figure" | head -3)" [ -z "$(outside "$figure")" ]
done
check "all figures were looked at, not only $n" [ "$n" -ge 30 ]
check "layers' names may have percent signs" test -s "$results/fetching/percent/misses_layers.png" -a -s "$results/fetching/percent/miss_rates_layers.png"

# A figure speaks of measuring as far as somebody did.
of_measuring() { # of_measuring FOLDER: the legend's mark of simulated heights, and what was not available
    grep -oE '>simulated<|not available( in part)?' "$results/$1/simulated_cycles.svg" | xargs
}
check "of some measured layers: $(of_measuring clocked)" [ "$(of_measuring clocked)" = "not available in part >simulated<" ]
check "of no measured layer: $(of_measuring untimed)" [ "$(of_measuring untimed)" = "not available" ]

# ---- the test itself: hidden data are found ----

hides() { # hides FIGURE FOLDER KIND LIMITS: the figure hides data within these limits of an axis, and that is found
    rm -rf "$work/hiding"
    cp -r $scripts "$work/hiding"
    sed -i "s|^load figures.\"/$3.gp\"|limits = \"$4\"\\n&|" "$work/hiding/$1.gp"
    drawn "$work/hiding" "$results/$2"
    check "$1 hides data outside of '$4', which is not found" [ -n "$(outside "$1")" ]
}
hides misses_tensors fetching bars 0:0.0001
hides study_tilings study bars 0:100
hides compare_layers compare bars 1:2
hides simulated_cycles clocked bars 0:80
hides polydl_fusion polydl points 1:2

finish
