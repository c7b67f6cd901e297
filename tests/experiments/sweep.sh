#!/usr/bin/env bash
# Sweeps as a user meets them. Run from the project's folder; BUILD has the programs (default build).
set -u

sweep=${BUILD:-build}/sweep
program=$sweep
# shellcheck source=tests/check.bash
. tests/check.bash

three='MODEL=tests/data/three.csv'
grid='VARY=L1.size=1K,2K L2.ways=2,4'
refuses "MODEL is missing" VARY=L1.size=16K
refuses "vgg17" MODEL=vgg17 "$grid"
refuses "VARY is missing" "$three" MACHINE=toy
refuses "VARY: 1000000000000 points; at most 10000" "$three" MACHINE=toy VARY='nc=1..10000 k2=1..10000 k3=1..10000'
refuses "VARY: 1e+19 points" "$three" MACHINE=toy VARY='nc=1..9999999999999999999'
refuses "are 7860000 simulations; at most 1000000" MODEL=all MACHINE=toy VARY='nc=1..100 k2=1..100' ALGO=sconv
refuses "L1.size=1K" "$three" MACHINE=toy VARY='L1.size=1K L1.ways=3'
refuses "the machine has no cache, TLB or [core] of that name: 'L9.size'" "$three" MACHINE=toy VARY=L9.size=1K
refuses "a cache or TLB has no such key: 'L1.colour'" "$three" MACHINE=toy VARY=L1.colour=red
refuses "a core has no such key: 'core.windo'" "$three" MACHINE=zen3 VARY=core.windo=9
refuses "the machine has no cache, TLB or [core] of that name: 'core.window'" "$three" MACHINE=toy VARY=core.window=9
refuses "a cache or TLB has no such key: 'L1.sise', did you mean L1.size?" "$three" MACHINE=toy VARY=L1.sise=1K
refuses "without a unit these are bytes: is L2.size=25K meant?" "$three" MACHINE=toy VARY=L2.size=25..100*2
refuses "a machine has no such key: 'L2', is L2.size meant?" "$three" MACHINE=toy VARY=L2=1K
refuses "L1.size: a blank comes between keys, not a comma: 'L2.size=4K'" "$three" MACHINE=toy VARY=L1.size=1K,L2.size=4K
refuses "a machine has no such key: 'speed'" "$three" MACHINE=toy VARY=speed=9
refuses "'L1.size' comes twice" "$three" MACHINE=toy VARY='L1.size=1K L1.size=2K'
refuses "'{' without '}'" "$three" MACHINE=toy VARY='L1.prefetch={stream'
refuses "'4..1' is no range" "$three" MACHINE=toy VARY=nc=4..1
for sample in 0 200% x; do
    refuses "SAMPLE=$sample" "$three" MACHINE=toy VARY=nc=4 "SAMPLE=$sample"
done
refuses "nc: must be a whole number from 1, not 'many'" "$three" MACHINE=toy VARY=nc=many
refuses "cores: must be at most 256, not 1000" "$three" MACHINE=toy VARY=cores=1,1000
refuses "cores: the last level includes the others of machine toy" "$three" MACHINE=toy VARY='cores=2 L3.inclusion=inclusive'
refuses "VARY: nc: must be from 1 to 512 for these layers, not 9999" MODEL=vgg16 LAYERS=conv5_1 MACHINE=clx4208 VARY='nc=16,9999'
refuses "unknown micro-kernel 'f9'" "$three" MACHINE=toy VARY=ukr=f9
refuses "SHARE: must be as 0/8" "$three" MACHINE=toy "$grid" SHARE=8/8
refuses "STORE must name" "$three" MACHINE=toy "$grid" SHARE=0/8
echo "no database" >"$work/text.sqlite"
refuses "text.sqlite: not a results store, or damaged" "$three" MACHINE=toy "$grid" STORE="$work/text.sqlite"
refuses "none.sqlite: cannot open: No such file" "$three" MACHINE=toy "$grid" STORE="$work/other.sqlite" KNOWN="$work/none.sqlite"
refuses "no/such/folder/s.sqlite: cannot open" "$three" MACHINE=toy "$grid" STORE="$work/no/such/folder/s.sqlite"
refuses "SHARE: must be as 0/8, up to 7/8, not '1/18446744073709551616'" "$three" MACHINE=toy "$grid" SHARE=1/18446744073709551616 STORE="$work/other.sqlite"
refuses "SHARE: must be as 0/8, up to 7/8, not '18446744073709551617/8'" "$three" MACHINE=toy "$grid" SHARE=18446744073709551617/8 STORE="$work/other.sqlite"
refuses "SHARE: must be as 0/8" "$three" MACHINE=toy "$grid" SHARE=1//8 STORE="$work/other.sqlite"
for taken in store.sqlite store.sqlite.parts report.html; do
    sed "s/^name = .*/name = $taken/" sim/machines/toy.cfg >"$work/taken.cfg"
    refuses "the machine is called '$taken', as a file of results" "$three" MACHINE="$work/taken.cfg" "$grid" STORE=no
done
refused_job "$three" MACHINE=toy "$grid" SHARES=2

# CSA's own tiles are marked: Nc 30 for this layer, as sconv-plan says.
own=$("$sweep" MORE=1 "RESULTS=$work/own" "$three" LAYERS=pointwise MACHINE=clx4208 UKR=f32_16x24__avx512 ALGO=sconv_ws STORE=no VARY=nc=10,30,15 2>"$work/err")
check "CSA's own tiles are named: $own" grep -q " CSA's own tiles are those of nc=30, which costs [0-9.]* % more than the best" <<<"$own"
csv() { csv_rows "$work/own/clx4208/sweep/three,pointwise/$1" | awk -F, -v column="$2" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { printf "%s ", $c[column] }'; }
check "... and marked, in one configuration" [ "$(csv configs.csv csa)" = "0 1 0 " ]
check "... of each layer" [ "$(csv sweep.csv csa)" = "0 1 0 " ]
check "... and beside the best" [ "$(csv best.csv csa)" = "$(csv best.csv nc | sed 's/30/1/; t; s/../0/')" ]
own=$("$sweep" MORE=1 "RESULTS=$work/none" "$three" LAYERS=pointwise MACHINE=clx4208 UKR=f32_16x24__avx512 ALGO=sconv_ws STORE=no VARY=nc=10,15 2>"$work/err")
check "... or are none of them" grep -q " None of them has CSA's own tiles in every layer" <<<"$own"
# Plans of the user's own stand beside the grid, and are simulated once.
refuses "ALGO=sconv_plan needs PLAN=file" "$three" MACHINE=toy "$grid" ALGO=sconv_plan
refuses "cannot open" "$three" MACHINE=toy "$grid" PLAN=no/such.json
"${BUILD:-build}/sconv-plan" MODEL=tests/data/three.csv LAYERS=pointwise MACHINE=clx4208 UKR=f32_16x24__avx512 SET=n_c=10,schedule=ws FORMAT=json OUT="$work/plan.json"
refuses "layer 'stem/7x7_s2': PLAN has no plan of its shape; LAYERS= chooses others" "$three" MACHINE=clx4208 UKR=f32_16x24__avx512 PLAN="$work/plan.json" VARY=nc=10
planned() { "$sweep" MORE=1 "RESULTS=$work/planned" "$three" LAYERS=pointwise MACHINE=clx4208 UKR=f32_16x24__avx512 PLAN="$work/plan.json" ALGO=sconv_ws STORE=no "$@" 2>"$work/err"; }
own=$(planned VARY=nc=10)
check "a plan is as far from the best as its tiles are: $own" grep -q '^three: what PLAN says costs 1.00 times what the best of SConv costs: SConv, weight stationary, nc=10.$' <<<"$own"
own=$(planned VARY=nc=10,30)
check "... and costs the same in all configurations: $own" grep -q 'SConv as the file of PLAN decides: .* in all 2.$' <<<"$own"
check "... and is simulated with its equal: $own" grep -q '^2 simulations' <<<"$own"
# The best plans of each layer are a file for PLAN, and cost there as much as here. On zen3 all the plans are weight
# stationary, but not if lines from memory cost the same in any order.
grep -v '^memory_scattered_cycles' sim/machines/zen3.cfg >"$work/zen3.cfg"
"$sweep" MORE=1 "RESULTS=$work/best" "$three" "MACHINE=$work/zen3.cfg" ALGO=sconv STORE=no VARY='ukr=f32_16x6__avx2; nc=4,8,16 k2=1,4,16' >"$work/out" 2>"$work/err"
plans=$work/best/zen3/sweep/three/plans.json
check "their costs are said: $(tail -1 "$work/out")" grep -q 'Each layer with its own best plan of SConv: [0-9.e+]* in all, [0-9.]* % less than as CSA chose, which is best in 2 of 3. plans.json has' "$work/out"
"${BUILD:-build}/experiment" "RESULTS=$work/best" "$three" "MACHINE=$work/zen3.cfg" TIMING=0 OBSERVE=0 STORE=no "PLAN=$plans" ALGO=base,sconv_plan >"$work/out" 2>"$work/err"
least() { columns "$work/best/zen3/sweep/three/best.csv" layer cost | awk '!($1 in least) || $2 < least[$1] { least[$1] = $2 } END { for (l in least) print l, least[l] }' | sort; }
check "they are replayed: $(tail -1 "$work/err")" cmp -s <(least) \
    <(columns "$work/best/zen3/three/layers.csv" layer algo simulated_cycles | awk '$2 == "sconv_plan" { print $1, $3 }' | sort)
check "... in both schedules" [ "$(grep -o '"schedule": "[a-z]*"' "$plans" | sort -u | wc -l) $(grep -c '"schedule"' "$plans")" = "2 3" ]
framed() { grep -oE "path stroke='rgb\(213, *94, *0\)' *d='[^']*Z" "$1/sweep_heat.svg" | wc -l; }
"$sweep" MORE=1 "RESULTS=$work/framed" "$three" LAYERS=pointwise MACHINE=clx4208 UKR=f32_16x24__avx512 ALGO=sconv_ws STORE=no VARY='L1.size=32K,48K nc=10,30,15' >"$work/out" 2>&1
check "CSA's own tiles are framed in the figure" [ "$(framed "$work/framed/clx4208/sweep/three,pointwise")" -eq 2 ]
"$sweep" MORE=1 "RESULTS=$work/cut" "$three" MACHINE=toy ALGO=sconv_ws STORE=no VARY='nc=1,12' >"$work/out" 2>"$work/err"
check "what some layers do not have is said: $(cat "$work/err")" grep -q '^VARY: nc=12 is more than [12] of 3 plans have: they take all that they have$' "$work/err"

dir=$work/results/toy/sweep/three
run() { succeeds MORE=1 MACHINE=toy "$three" "$@"; }
rows() { csv_rows "$dir/$1" | tail -n +2 | wc -l; }

run "$grid"
has_files "$dir" sweep.csv configs.csv best.csv verdict.txt machine.cfg models.txt figures.txt sweep_heat.{png,svg} sweep_pareto.png
check "... and plans of several machines are none" [ ! -e "$dir/plans.json" ]
check "... and where only caches vary nothing is" [ "$(framed "$dir")" -eq 0 ]
check "a row per layer, algorithm and configuration" [ "$(rows sweep.csv)" -eq 36 ]
check "a row per algorithm and configuration" [ "$(rows configs.csv)" -eq 12 ]
check "a row per layer and algorithm" [ "$(rows best.csv)" -eq 9 ]
cost_percents() { # that are 100 for the best configuration of an algorithm, and as much more for others as they cost more
    csv_rows "$dir/configs.csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
        { algo[NR] = $c["algo"]; cost[NR] = $c["cost"]; percent[NR] = $c["cost_percent"]; if ($c["best"] == 1) best[algo[NR]] = $c["cost"] }
        END { for (r in algo) { d = percent[r] - 100 * cost[r] / best[algo[r]]; wrong += d < -0.01 || d > 0.01; more += percent[r] > 100.01 }
              exit wrong || !more }'
}
check "costs are in percent of the best one's" cost_percents
check "keys are columns" grep -q ',config,L1.size,L2.ways,' "$dir/sweep.csv"
says "0 of 36 simulations from the store"
tables() { grep -v '^# ' "$dir"/*.csv; }
tables >"$work/first"

# Results in the store are not simulated again, and do not change; threads and shares change nothing, either.
run "$grid" JOBS=1
says "36 of 36 simulations from the store"
check "results from the store are the same" cmp -s "$work/first" <(tables)
run "$grid" STORE=no JOBS=1
says "36 simulations, none from a store"
check "results without a store are the same" cmp -s "$work/first" <(tables)
for i in 0 1 2; do run "$grid" SHARE=$i/3 STORE="$work/part.sqlite"; done
says "0 of 12 simulations from the store"
run "$grid" STORE="$work/part.sqlite"
says "36 of 36 simulations from the store"
check "results of shares are the same" cmp -s "$work/first" <(tables)
ln -s part.sqlite "$work/same.sqlite"
run "$grid" STORE="$work/part.sqlite" KNOWN="$work/same.sqlite"
says "36 of 36 simulations from the store"

# Latencies change estimates, and no counts.
run VARY='L2.latency_cycles=10,20,30 L1.size=1K'
check "a latency is not simulated" [ "$(sed -n 's/^[0-9]* of \([0-9]*\) simulations.*/\1/p' "$work/out")" -le 27 ]

# A configuration equals a machine file with the values.
sed '0,/^size = 1 KiB/s//size = 2 KiB/; s/^name = .*/name = changed/' sim/machines/toy.cfg >"$work/changed.cfg"
run VARY=L1.size=2K
without_config() { csv_rows "$1/sweep.csv" | cut -d, -f1-4,8- ; }
without_config "$dir" >"$work/first"
check "a changed machine" "$sweep" MORE=1 "RESULTS=$work/results" "MACHINE=$work/changed.cfg" "$three" VARY=L1.ways=2 STORE=no >"$work/out" 2>"$work/err"
check "VARY makes the machine of another file" cmp -s "$work/first" <(without_config "$work/results/changed/sweep/three" | sed 's/ changed has no / toy has no /g')

# Killed again and again, the sweep ends with equal results.
run "$grid" STORE=no
csv_rows "$dir/sweep.csv" >"$work/first"
for i in 1 2 3 4 5; do
    "$sweep" MORE=1 "RESULTS=$work/results" MACHINE=toy "$three" "$grid" STORE="$work/killed.sqlite" >/dev/null 2>&1 &
    sleep "0.0$((i * 2))"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
done
run "$grid" STORE="$work/killed.sqlite"
check "kills change nothing" cmp -s "$work/first" <(csv_rows "$dir/sweep.csv")

# Plain caches of one level that differ in their ways alone are counted in one pass, with the counts of separate passes.
sed '/cache L2/,$d; s/^name = .*/name = single/' sim/machines/toy.cfg >"$work/single.cfg"
single() { "$sweep" MORE=1 "RESULTS=$work/results" "MACHINE=$work/single.cfg" "$three" ALGO=base,sconv STORE=no "VARY=$1" >"$work/out" 2>"$work/err" </dev/null; }
single 'L1.sets=8 L1.ways=1..9 nc=1 k2=1 k3=1'
columns "$work/results/single/sweep/three/sweep.csv" L1.ways layer algo l1_load_misses memory_read_lines memory_written_lines >"$work/all"
for ways in 1 4 9; do
    single "L1.sets=8 L1.ways=$ways nc=1 k2=1 k3=1"
    check "$ways ways: $(tail -n 1 "$work/err")" cmp -s <(grep "^$ways " "$work/all") \
        <(columns "$work/results/single/sweep/three/sweep.csv" L1.ways layer algo l1_load_misses memory_read_lines memory_written_lines)
done
check "there are such rows" [ "$(grep -c '^9 ' "$work/all")" -eq 9 ]

# Machines with equal first levels simulate the levels once, and count as each machine alone.
shared() { "$sweep" MORE=1 "RESULTS=$work/results" MACHINE=toy "$three" STORE=no "VARY=$1 nc=1 k2=1 k3=1" >"$work/out" 2>"$work/err" </dev/null; }
counts() { columns "$dir/sweep.csv" L2.ways L3.ways layer algo l1_load_misses l2_load_misses l3_load_misses memory_read_lines memory_written_lines; }
shared 'L2.ways=2,4,8 L3.ways=4,16'
says "54 simulations, none from a store; 9 passes over plans' accesses serve all"
counts >"$work/all"
for ways in 2:4 2:16 4:16 8:4; do
    shared "L2.ways=${ways%:*} L3.ways=${ways#*:}"
    says "9 simulations, none from a store; 9 passes"
    check "L2 and L3 of $ways ways: $(tail -n 1 "$work/err")" cmp -s <(grep "^${ways/:/ } " "$work/all") <(counts)
done
check "configurations differ" [ "$(cut -d' ' -f6- "$work/all" | sort -u | wc -l)" -gt 15 ]

# make experiment keeps its replays in the store, too: by tensor and phase, of machines and of whole networks; cycles
# where there is a core.
experiment=${BUILD:-build}/experiment
replays() { # replays MACHINE ARGUMENTS...: prints all tables
    "$experiment" MORE=1 "RESULTS=$work/results" "$three" "MACHINE=$1" TIMING=0 OBSERVE=0 ALGO=auto "${@:2}" >"$work/out" 2>"$work/err" </dev/null || return
    grep -v '^# ' "$work/results/$1/three"/*.csv
}
for run in toy:cold:15 toy:network:5 zen3:cold:15; do
    IFS=: read -r machine cache n <<<"$run"
    replays "$machine" CACHE=$cache STORE=no >"$work/first"
    for stored in 0 "$n"; do
        replays "$machine" CACHE=$cache "STORE=$work/experiment.sqlite" >"$work/second"
        check "an experiment with a store, $run, $stored: $(diff "$work/first" "$work/second" | sed -n 's/^[<>] //p' | head -c 300)" \
            cmp -s "$work/first" "$work/second"
        check "$stored of the $run simulations are from the store: $(grep store "$work/out")" \
            grep -q "^$stored of $n simulations from the store" "$work/out"
    done
done
check "no table has cycles" grep -q '/layers.csv:three,' "$work/first"

# Cores with a common last level: a single core is the machine itself, several divide the work, and Base has no shares.
column() { csv_rows "$dir/configs.csv" | awk -F, -v name="$1" -v row="sconv_tuned,$2," 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
    index($0, row) { print $c }'; }
dir=$work/results/clx4208/sweep/three
run MACHINE=clx4208 VARY=cores=1,3 ALGO=base,sconv_tuned STORE=no
check "three cores: $(column cost 2) of $(column cost 1)" awk -v one="$(column cost 1)" -v three="$(column cost 2)" 'BEGIN { exit !(three > one / 3 && three < one / 1.5) }'
check "Base's threads are not modelled" grep -q 'base,2,3,.*the threads of OpenBLAS are not modelled' "$dir/configs.csv"
one=$(column l1_load_misses 1)
run MACHINE=clx4208 VARY=L1.latency_cycles=4 ALGO=sconv_tuned STORE=no
check "one core is the machine: $one" [ "$(column l1_load_misses 1)" = "$one" ]

check "a machine without a core has no cycles" grep -q ': clx4208 has no \[core\]' "$dir/configs.csv"

# A machine with a core is swept by the cycles, which equal the experiment's, and are kept. Configurations with equal
# accesses and first levels are simulated together, with the cycles of each alone.
dir=$work/clocked/zen3/sweep/three,pointwise
timed() { # timed VARY: of each configuration
    "$sweep" MORE=1 "RESULTS=$work/clocked" "$three" LAYERS=pointwise MACHINE=zen3 UKR=avx2 ALGO=sconv_ws "VARY=$1" STORE=no >"$work/out" 2>"$work/err"
    columns "$dir/configs.csv" L2.size memory_latency_cycles simulated_cycles l2_load_misses memory_read_lines
}
clocked() {
    timed 'L2.size=32K,64K memory_latency_cycles=380,700' >"$work/all"
    says "4 simulations, none from a store; 4 passes over plans' accesses serve all"
    for one in 32K:700 64K:380; do
        check "configuration $one by itself: $(cat "$work/all")" \
            cmp -s <(grep "^${one/:/ } " "$work/all") <(timed "L2.size=${one%:*} memory_latency_cycles=${one#*:}")
    done
    check "configurations take other cycles" [ "$(cut -d' ' -f3 "$work/all" | sort -u | wc -l)" -eq 4 ]
    # SConv's tiles differ by the size of L2, im2col's accesses do not: only the counted work keeps them apart.
    "$sweep" MORE=1 "RESULTS=$work/clocked" "$three" LAYERS=pointwise MACHINE=zen3 UKR=avx2 ALGO=base VARY=L2.size=32K,64K STORE=no >"$work/out" 2>"$work/err"
    check "sizes of L2 count differently" [ "$(columns "$dir/configs.csv" l2_load_misses | sort -u | wc -l)" -eq 2 ]
    # Machines with a common first level, with two clocks each, and one machine alone.
    for vary in 'L2.size=16K,1M memory_latency_cycles=340,300' 'L2.size=16K memory_latency_cycles=300'; do
        "$sweep" MORE=1 "RESULTS=$work/clocked" "$three" LAYERS=pointwise MACHINE=skx ALGO=base "VARY=$vary" STORE=no >"$work/out" 2>"$work/err"
        columns "$work/clocked/skx/sweep/three,pointwise/configs.csv" L2.size memory_latency_cycles simulated_cycles l2_load_misses >"$work/alone"
        [[ $vary == *,* ]] || continue
        says "4 simulations, none from a store; 1 passes over plans' accesses serve all"
        cp "$work/alone" "$work/shared"
    done
    check "configurations that share a first level: $(xargs <"$work/shared"), one alone: $(cat "$work/alone")" \
        awk 'NR == FNR { alone = $0; next } { found += $0 == alone; cycles[$3]; misses[$4] }
            END { exit !(found == 1 && length(cycles) == 4 && length(misses) == 2) }' "$work/alone" "$work/shared"
    timed 'L2.size=32K memory_latency_cycles=380 memory_scattered_cycles=0,23,46' >"$work/all"
    says "3 simulations, none from a store; 3 passes over plans' accesses serve all"
    check "scattered lines are counted where they cost something, and then cost alike: $(cut -d' ' -f3 "$work/all" | xargs)" \
        awk '{ c[NR] = $3 } END { a = c[2] - c[1]; b = c[3] - c[2]; exit !(a > 100 && (a - b) ^ 2 < 400) }' "$work/all"
    for stored in none both; do
        answer=$("$sweep" MORE=1 "RESULTS=$work/clocked" "$three" LAYERS=pointwise MACHINE=zen3 UKR=avx2 ALGO=sconv_ws VARY=memory_latency_cycles=380,700 \
            "STORE=$work/clocked.sqlite" 2>"$work/err")
        check "the cost is simulated cycles, $stored from the store: $answer" grep -q 'memory_latency_cycles=380, [0-9.e+]* simulated cycles; the worst' <<<"$answer"
        cycles=$(csv_rows "$dir/configs.csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { print $c["simulated_cycles"] == $c["cost"] ? $c["cost"] : "differ" }' | xargs)
        [ $stored = none ] && first=$cycles
        check "... the same, $stored from the store: $cycles, $first" [ "$cycles" = "$first" ]
    done
    "$sweep" MORE=1 "RESULTS=$work/clocked" "$three" LAYERS=pointwise MACHINE=zen3 UKR=avx2 ALGO=base,sconv VARY=L2.size=256K,512K STORE=no >"$work/out" 2>"$work/err"
    fastest=$(columns "$dir/configs.csv" config algo simulated_cycles | awk '!($1 in least) || $3 < least[$1] { least[$1] = $3; by[$1] = $2 }
        END { for (c in by) n[by[c]]++; for (a in n) print a " in " n[a] }' | sort | paste -sd ' ')
    check "who is fastest: $fastest is not in: $(tail -1 "$work/out")" [ "$(sed -n 's/^three: by simulated cycles, the fastest algorithm is \(.*\) of 2 configurations\.$/\1/p' "$work/out" |
        sed 's/, /\n/g' | sort | paste -sd ' ')" = "$fastest" ]
    "$experiment" "RESULTS=$work/clocked" "$three" LAYERS=pointwise MACHINE=zen3 UKR=avx2 ALGO=sconv_ws TIMING=0 OBSERVE=0 STORE=no >/dev/null 2>"$work/err"
    cycles=$(csv_rows "$work/clocked/zen3/three,pointwise/layers.csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { printf "%.0f", $c["simulated_cycles"] }')
    check "... and the experiment's: $cycles, $first" awk -v a="$cycles" -v b="${first%% *}" 'BEGIN { exit !(a && (a - b) ^ 2 <= 400) }'
}
"$sweep" MORE=1 "RESULTS=$work/clocked" "$three" LAYERS=pointwise MACHINE=zen3 UKR=avx2 ALGO=sconv_ws VARY=memory_latency_cycles=380 STORE=no >/dev/null 2>"$work/err"
if grep -q 'is not on record' "$dir/configs.csv"; then
    echo "$name: skipped: simulated cycles (make stack has not observed this compiler's code)"
else
    clocked
fi

# Samples: the store tells samples apart. An interval of 95 % may miss its exact cost, but not by the interval again.
sed -n 2p tests/data/three.csv >"$work/long.csv"
echo 'conv,64,56,56,96,3,3,1,1,1,1,1,1,1,1,1' >>"$work/long.csv"
for sample in exact 1% 1%; do
    "$sweep" "RESULTS=$work/results" "MODEL=$work/long.csv" MACHINE=zen3 ALGO=sconv_is VARY=L2.size=512K,1M "SAMPLE=$sample" \
        "STORE=$work/samples.sqlite" MORE=1 >"$work/out" 2>"$work/err"
    check "SAMPLE=$sample: exit status $?: $(tail -1 "$work/err")" [ $? -eq 0 ]
    cp "$work/results/zen3/sweep/long/configs.csv" "$work/${sample%\%}.csv"
    grep -o '^[0-9]* of [0-9]* simulations from the store' "$work/out" >>"$work/kept"
done
check "samples are kept apart, and once: $(cat "$work/kept")" cmp -s "$work/kept" <(printf '%s of 2 simulations from the store\n' 0 0 2)
check "exact costs are within twice the intervals" awk -F, '
    /^#/ { next }
    $1 == "model" { for (i = 1; i <= NF; i++) { c = $i == "cost" ? i : c; pm = $i == "cost_pm" ? i : pm }; next }
    FNR == NR { exact[$3] = $c; next }
    { d = $c - exact[$3]; n += $pm > 0 && (d < 0 ? -d : d) <= 2 * $pm }
    END { exit n != 2 }' <(csv_rows "$work/exact.csv") <(csv_rows "$work/1.csv")
check "equal costs of samples are open" grep -q 'It is open which costs' "$work/out"

finish
