#!/usr/bin/env bash
# A whole network as a user meets it. Run from the project's folder; BUILD has the programs (default build).
# tests/data/small.onnx: six kinds of convolutions' surroundings in 19 nodes, weights at random, the input's height and
# width left open.
set -u

network=${BUILD:-build}/network
program=$network
# shellcheck source=tests/check.bash
. tests/check.bash

small=tests/data/small.onnx
size=INPUT=3x32x32

refuses "MODEL" MACHINE=toy
refuses "no/such.onnx" MODEL=no/such.onnx
refuses "three.csv" MODEL=tests/data/three.csv
refuses "small.onnx: " MODEL=$small
refuses "3x32" MODEL=$small INPUT=3x32
refuses "'c1_conv'" MODEL=$small INPUT=4x32x32
refuses "vgg" MODEL=$small $size ALGO=base,vgg
refuses "pdp11" MODEL=$small $size MACHINE=pdp11
refuses "FUSE" MODEL=$small $size FUSE=maybe
refuses "BATCH" MODEL=$small $size BATCH=0
refuses "THREADS" MODEL=$small $size THREADS=65
refuses "results" MODEL=$small $size MACHINE=toy TIMING=0 RESULTS=/dev/null/results
head -c 9000 $small >"$work/cut.onnx"
refuses "cut.onnx" MODEL="$work/cut.onnx" $size

run() { succeeds MORE=1 "MACHINE=$1" MODEL=$small $size PEER=no "${@:2}"; } # run MACHINE ARGUMENTS...

dir=$work/results/toy/network/small
run toy TIMING=0 COMMIT=abc
has_files "$dir" network.csv nodes.csv sequence.csv variants.csv kinds.csv skipped.csv memory.csv verdict.txt host.txt machine.cfg \
    trace.json report.html network_sequence.png network_sequence.svg
check "the terminal ends with the verdict" cmp -s "$dir/verdict.txt" <(tail -n "$(wc -l <"$dir/verdict.txt")" "$work/out")
check "no number is none" bash -c "! grep -E ',-?(nan|inf)' '$dir'/*.csv"
check "three algorithms, fused and not" [ "$(columns "$dir/network.csv" algo fused | tail -n +1 | sort -u | wc -l)" -eq 6 ]
check "a fused network has 11 steps" [ "$(columns "$dir/nodes.csv" algo step | awk '$1 == "base"' | wc -l)" -eq 11 ]
check "one that is not has 17" [ "$(columns "$dir/network.csv" algo fused steps | awk '$1 == "base" && $2 == 0 { print $3 }')" -eq 17 ]
check "batch normalisation is done by its convolution" grep -q ',n1_batchnormalization,BatchNormalization,a part of another step,c1_conv$' "$dir/skipped.csv"
check "a concatenation in place is no step" grep -q ',j_concat,Concat,' "$dir/skipped.csv"
check "without a clock, estimates say why" grep -q ': the machine.s file does not state mac_rows' "$dir/network.csv"
check "... and TIMING=0, times" grep -q ': TIMING=0 was asked for' "$dir/network.csv"
check "convolutions are replays, the others their own code" [ "$(columns "$dir/nodes.csv" op accesses | sort -u | awk '{ print $1 == "Conv", $2 }' | sort -u | paste -sd ' ')" = "0 its_own_code 1 replay_of_its_plan" ]

# Sums: tensors make steps, and steps the network.
check "what is added is another input" [ "$(columns "$dir/sequence.csv" node tensor alone_lines | awk '$2 == "other_input" && $3 > 0 { print $1 }' | sort -u)" = c3_conv ]
check "tensors make a step" [ -z "$(columns "$dir/sequence.csv" algo step level tensor sequence_lines | awk '
    $4 == "all" { all[$1, $2, $3] = $5; next } { sum[$1, $2, $3] += $5 } END { for (i in all) if (all[i] != sum[i] + 0) print i }')" ]
check "steps make the network" [ -z "$({
    columns "$dir/sequence.csv" algo level tensor sequence_lines alone_lines | awk '$3 == "all" { s[$1 " " $2] += $4; a[$1 " " $2] += $5 } END { for (i in s) print i, s[i], a[i] }'
    columns "$dir/variants.csv" algo level sequence_lines alone_lines variant | awk '$5 ~ /^as/ { print $1, $2, $3, $4 }'
} | sort | uniq -u)" ]
check "kinds make the network" [ -z "$({
    columns "$dir/kinds.csv" algo level fused sequence_lines | awk '$3 == 1 { s[$1 " " $2] += $4 } END { for (i in s) print i, s[i] }'
    columns "$dir/variants.csv" algo level sequence_lines variant | awk '$4 ~ /^as/ { print $1, $2, $3 }'
} | sort | uniq -u)" ]
check "what is of all levels stands once: steps of kinds make the network's" [ -z "$({
    columns "$dir/kinds.csv" algo fused steps | awk '$3 ~ /^[0-9]/ { s[$1 " " $2] += $3 } END { for (i in s) print i, s[i] }'
    columns "$dir/network.csv" algo fused steps | awk '$1 != "ONNX"'
} | sort | uniq -u)" ]
check "the first step finds nothing" [ -z "$(columns "$dir/sequence.csv" step sequence_lines alone_lines | awk '$1 == 1 && $2 != $3')" ]

mv "$dir" "$work/first"
run toy TIMING=0 COMMIT=abc JOBS=1
rm "$work/first/"{host.txt,report.html} "$dir/"{host.txt,report.html} # which say how long it took
check "threads change nothing: $(diff -rq "$work/first" "$dir")" [ -z "$(diff -rq "$work/first" "$dir")" ]
run power10 TIMING=0 SIMULATE=sequence
check "only the run in sequence is simulated" [ "$(columns "$work/results/power10/network/small/variants.csv" variant sequence_lines | awk '$2 ~ /^[0-9]/ { print $1 }' | sort -u)" = as_asked ]
run clx4208 TIMING=0 SIMULATE=sequence ALGO=sconv
check "estimates without Base's have no speed-up" grep -q 'Base was not simulated' "$work/results/clx4208/network/small/network.csv"
check "... and estimated" grep -q 'an estimate of .* million cycles' "$work/results/power10/network/small/verdict.txt"
run toy TIMING=0 ALGO=sconv FUSE=no
check "not fused, every node is a step but views" [ "$(columns "$dir/nodes.csv" algo step | awk '$1 == "sconv"' | wc -l)" -eq 17 ]
check "without Base there is no speed-up, and a reason" grep -q 'Base was not timed\|TIMING=0' "$dir/network.csv"

# ---- a machine with prefetchers, and times ----

sed '/^\[cache L2\]/a prefetch = next_line degree=4' sim/machines/toy.cfg | sed 's/^name = toy/name = fetching/' >"$work/fetching.cfg"
dir=$work/results/fetching/network/small
run "$work/fetching.cfg" REPS=4 ALGO=base,sconv_tuned
check "caches alone, and the machine as it is" [ "$(columns "$dir/sequence.csv" caches | sort -u | paste -sd ' ')" = "as_it_is caches_alone" ]
check "both are timed" [ "$(columns "$dir/network.csv" fused measured_time_ns measured_conv_time_ns | awk '$1 == 1 && $2 > 0 && $3 > 0 && $2 > $3' | wc -l)" -eq 2 ]
check "steps have times" [ "$(columns "$dir/nodes.csv" measured_time_ns | awk '$1 > 0' | wc -l)" -eq 22 ]
check "what was checked is said" bash -c "tr -s ' \n' ' ' <'$dir/verdict.txt' | grep -q 'Checked against plain loops: base: 11 steps, .* values, the worst at .* of its bound; sconv_tuned: 11 steps'"
"$network" "RESULTS=$work/results" "MACHINE=$work/fetching.cfg" MODEL=$small $size TIMING=0 >"$work/out" 2>"$work/err"
check "times are not replaced by none: exit status $?, not 2" [ $? -eq 2 ]
check "... in one line: $(cat "$work/err")" grep -q "^network: '$dir' holds times, .*TIMING=0" "$work/err"
run "$work/fetching.cfg" REPS=1 ALGO=base THREADS=2 CHECK=0 SIMULATE=no PEER=no/such/library
check "two threads run" [ "$(columns "$dir/network.csv" algo fused measured_time_ns | awk '$1 == "base" && $2 == 1 && $3 > 0' | wc -l)" -eq 1 ]
check "a library that is not there is said" grep -q ': .*no/such/library' "$dir/network.csv"

# ---- ONNX Runtime: faults in its own process do not end the study ----

if ${CC:-cc} -shared -fPIC -o "$work/fake.so" tests/data/fake_peer.c 2>"$work/err"; then
    beside() { # beside WHAT WANTED: a fault of the library, and the verdict's words about the fault
        FAKE_PEER=$1 run "$work/fetching.cfg" REPS=6 ALGO=base SIMULATE=no PEER="$work/fake.so" PEER_LIMIT=1
        check "ONNX Runtime that does $1: $(tr -s ' \n' ' ' <"$work/out")" bash -c "tr -s ' \n' ' ' <'$work/out' | grep -q '$2'"
        check "... and ours is timed" [ "$(columns "$dir/network.csv" algo fused measured_time_ns | awk '$1 == "base" && $2 == 1 && $3 > 0' | wc -l)" -eq 1 ]
    }
    beside "" 'ONNX Runtime 0.fake takes '
    beside load-crashes 'without ONNX Runtime: ONNX Runtime crashed while it was loaded: '
    beside session-fails 'fused, 1 thread: with base'
    check "what it says is cleaned" bash -c "grep -q 'the fake  .31mfailed' '$dir/network.csv'"
    beside run-ends 'without ONNX Runtime: ONNX Runtime called exit(.) while it was compared'
    beside later-crashes 'without ONNX Runtime: ONNX Runtime crashed in a run: '
    beside later-fails 'without ONNX Runtime: .*small.onnx: the fake'
    beside later-hangs 'without ONNX Runtime: ONNX Runtime did not come back in a run: it was ended after 1 s'
else
    echo "network: tests of another runtime are skipped: there is no compiler: $(cat "$work/err")"
fi

# ---- plug-ins: a process for each plug-in, which shares the network's memory ----

if command -v cc >/dev/null; then
    plugins=tests/data/plugins/network.c
    run "$work/fetching.cfg" REPS=2 SIMULATE=no PLUGIN_LIMIT=1 \
        "ALGO=base$(for i in right turned wrong wrong_later skips crashes hangs refuses; do printf ",%s:%s" $plugins $i; done)"
    is() { # is NAME WANTED: the plug-in's time in network.csv, or why the time is missing
        local got
        got=$(columns "$dir/network.csv" algo fused measured_time_ns | awk -v a="network_$1" '$1 == a && $2 == 1 { print $3 }')
        check "the plug-in $1: '$got', not '$2'" grep -q "^$2" <<<"$got"
    }
    is right '[1-9]'
    is turned '[1-9]'
    is wrong "not_available:_tests/data/small.onnx:_node_'c1_conv'.*plain_loops_say"
    is wrong_later 'not_available:_.*a_timed_run_made_another'
    is skips 'not_available:_.*a_timed_run_made_another'
    is crashes "not_available:_node_'c3_conv':_the_plug-in_crashed_(Aborted)_in_a_run_of_a_network"
    is hangs 'not_available:_node_.*the_plug-in_did_not_come_back_in_a_run_of_a_network:_it_was_ended_after'
    is refuses 'not_available:_node_.*it_does_no_1x1'
    check "Base is timed beside them" [ "$(columns "$dir/network.csv" algo fused measured_time_ns | awk '$1 == "base" && $2 == 1 && $3 > 0' | wc -l)" -eq 1 ]
    run toy TIMING=0 SIMULATE=sequence ALGO=base,$plugins:right RESULTS="$work/plugins"
    dir=$work/plugins/toy/network/small
    check "what a plug-in accesses is in the tables" [ "$(columns "$dir/nodes.csv" algo op accesses | awk '$1 == "network_right" && $2 == "Conv" && $3 == "recorded_of_its_own_code"' | wc -l)" -eq 5 ]
    check "no process is left" [ -z "$(pgrep -s 0 -x network)" ]
else
    echo "network: tests of plug-ins are skipped: there is no compiler cc"
fi

# ---- test data beside a network ----

official=/usr/share/libonnx-testdata/data/node
if [ -d $official ]; then
    cp -r $official/test_basic_conv_without_padding "$work/conv"
    "$network" MORE=1 "RESULTS=$work/results" MACHINE=clx4208 MODEL=$official/test_flatten_axis1/model.onnx REPS=1 PEER=no >"$work/out" 2>"$work/err"
    status=$?
    check "a network without a step has results, too: $(tail -1 "$work/err")" [ $status -eq 0 ]
    given() { # given ARGUMENTS...: runs the network conv; $status is the exit status
        "$network" MORE=1 "RESULTS=$work/results" MACHINE=toy MODEL="$work/conv/model.onnx" SIMULATE=no REPS=1 PEER=no ALGO=base "$@" >"$work/out" 2>"$work/err" </dev/null
        status=$?
    }
    given
    check "no number of the verdict is none: $(cat "$work/out")" bash -c "! grep -q 'nan' '$work/out' && grep -q 'all algorithms run the same' '$work/out'"
    check "outputs that are given come out: $(tail -1 "$work/err")" [ $status -eq 0 ]
    check "... which is said: $(cat "$work/out")" bash -c "tr -s ' \n' ' ' <'$work/out' | grep -q 'base: 1 tensor, at most .* from $work/conv/test_data_set_0'"
    given DATA="$work/none"
    check "a folder without them is refused: $(cat "$work/err")" grep -q "^network: $work/none: neither input_0.pb" "$work/err"
    cp "$work/conv/test_data_set_0/output_0.pb" "$work/conv/test_data_set_0/input_0.pb"
    given
    check "what has another shape is refused: $(cat "$work/err")" grep -q "^network: $work/conv/test_data_set_0: what stands there for" "$work/err"
    head -c 20 "$work/conv/test_data_set_0/output_0.pb" >"$work/conv/test_data_set_0/output_1.pb"
    given
    check "a file that was cut is refused, with a way out: $(cat "$work/err")" grep -q "/output_1.pb: .*; DATA=no leaves it out" "$work/err"
    given DATA=no
    check "... unless nobody asks: $(cat "$work/err")" [ $status -eq 0 ]
fi

dir=$work/results/toy/network/small
rm "$dir/network_sequence.png"
"${network%network}redraw" "RESULTS=$dir" >"$work/out" 2>&1
check "the figure is drawn again from the tables" test -s "$dir/network_sequence.png"
"$network" MORE=1 "RESULTS=$work/results" MACHINE=toy MODEL=$small $size TIMING=0 >/dev/full 2>"$work/err"
check "a verdict that nobody reads: exit status $?, not 2" [ $? -eq 2 ]

finish
