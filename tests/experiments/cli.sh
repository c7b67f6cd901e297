#!/usr/bin/env bash
# The experiment as a user meets it: the files left behind, and the messages to bad input. Run from the project's
# folder; BUILD has the programs (default build). EMULATED: the programs are for another CPU. Arguments: the parts to
# run, in the order below (default: all).
set -u

experiment=${BUILD:-build}/experiment
program=$experiment
here=$PWD
# shellcheck source=tests/check.bash
. tests/check.bash

header=name,in_c,in_h,in_w,out_c,k_h,k_w,stride_h,stride_w,pad_top,pad_left,pad_bottom,pad_right,group,dilation_h,dilation_w

# table ROW...: a layer table with the rows
table() {
    { echo "$header"; printf '%s\n' "$@"; } >"$work/bad.csv"
}

options() {
    refuses "vgg16" MODEL=vgg17
    refuses "unknown machine 'pdp11'; known: host " MODEL=vgg16 MACHINE=pdp11
    refuses "no/such.csv" MODEL=no/such.csv
    refuses "no/such.cfg" MODEL=vgg16 MACHINE=no/such.cfg
    refuses "unknown algorithm 'winograd'" MODEL=vgg16 ALGO=base,winograd
    refuses "pool*" MODEL=vgg16 LAYERS='pool*'
    refuses "REPS" MODEL=vgg16 REPS=0
    refuses "REPS" MODEL=vgg16 REPS=-3
    refuses "JOBS" MODEL=vgg16 JOBS=many
    refuses "TIMING" MODEL=vgg16 TIMING=2
    refuses "CACHE" MODEL=vgg16 CACHE=tepid
    refuses "CLASSES" MODEL=vgg16 CLASSES=4c
    refuses "unknown micro-kernel 'f32_1x1'" MODEL=vgg16 UKR=f32_1x1
    refuses "or the best of ref, avx2, avx512, mma" MODEL=vgg16 UKR=avx
    refuses "core 'Z80'" MODEL=vgg16 CORE=Z80
    refuses "OBSERVE" MODEL=vgg16 OBSERVE=some
    refuses "COLUMNS: layers.csv has no column 'simulated_load', did you mean simulated_loads?" MODEL=vgg16 COLUMNS=algo,simulated_load
    refuses "unknown option 'SPEED=11'; " MODEL=vgg16 SPEED=11
    refuses "unknown option 'LAYER=conv1', did you mean LAYERS?" MODEL=vgg16 LAYER=conv1
    refuses "unknown option '--colums', did you mean --columns?" --colums
    refuses "unknown option 'DTYPE=bf16': make experiment has TYPE=bf16 and TYPE=int8; all else runs in fp32, on CPUs, and forward alone" MODEL=vgg16 DTYPE=bf16
    refuses "unknown option 'THREADS=4': one thread is timed; for several, type make bench-threads, or make network THREADS=4" MODEL=vgg16 THREADS=4
    refuses "unknown machine 'H100': no GPUs are simulated; make lift runs on one" MODEL=vgg16 MACHINE=H100
    refuses "unknown micro-kernel 'int8': make experiment TYPE=bf16 and TYPE=int8 have others; these compute in fp32 alone" MODEL=vgg16 UKR=int8
    refuses "unknown model 'alexnet'; there is a table called so: MODEL=experiments/models/polydl/alexnet.csv" MODEL=alexnet
    refuses "at 'dtbf16'" MODEL=mb1ic64ih56oc64kh3dtbf16
    refuses "vgg16.csv twice: name the model once" MODEL=vgg16,vgg16
    refuses "MODEL is missing"
    program=$(dirname "$experiment")/network
    if [ -x "$program" ]; then # of programs for other CPUs the experiment alone is built
        refuses "'vgg16' is a layer table: 'make models MODEL=vgg16' writes a network of it" MODEL=vgg16
        refuses "'tests/data/three.csv' is no network (.onnx) but layers" MODEL=tests/data/three.csv
    fi
    program=$experiment
    refused_job MODEL=tests/data/three.csv MACHINE=toy
}

# make_says WORDS ARGUMENTS...: make refuses the arguments in one line that holds WORDS, before any work.
make_says() {
    local words=$1
    shift
    env -u VARIABLES_ARE_KNOWN -u MAKEFLAGS -u MAKELEVEL make "$@" >"$work/out" 2>"$work/err"
    check "make $*: exit status $?, not 2" [ $? -eq 2 ]
    check "make $*: not one line: $(cat "$work/err" "$work/out")" [ "$(cat "$work/err" "$work/out" | wc -l)" -eq 1 ]
    check "make $*: '$words' is not in: $(cat "$work/err")" grep -qF -- "$words" "$work/err"
}

# For words of unsupported.def, make and the program print equal messages.
same_words() {
    local word
    for word in DTYPE int8 training gpus layout N_THREADS; do
        [ "$(env -u VARIABLES_ARE_KNOWN -u MAKEFLAGS -u MAKELEVEL make experiment "$word=1" 2>&1 | sed -n "s/.*unknown variable '[^']*': \(.*\); 'make help.*/\1/p")" = \
            "$("$experiment" "$word=1" 2>&1 | sed -n "s/.*unknown option '[^']*': \(.*\); experiment --help.*/\1/p")" ] || return 1
    done
}

variables() {
    local word
    make_says "experiment: unknown variable 'LAYER', did you mean LAYERS?" experiment MODEL=vgg16 LAYER=conv1
    make_says "judge: unknown variable 'CLOCK': make experiment knows it;" judge CLOCK=cpu
    make_says "bench-peers: unknown variable 'HOTT', did you mean HOT?" bench-peers HOTT=3
    make_says "bench-sim: unknown variable 'STREAMS', did you mean STREAM?" bench-sim STREAMS=gemm
    make_says "bench-threads: unknown variable 'MODELS', did you mean MODEL?" bench-threads MODELS=vgg16
    make_says "test: unknown variable 'SUTE', did you mean SUITE?" test SUTE=nest
    make_says "redraw: unknown variable 'TIMING'" redraw TIMING=0
    make_says "clean: unknown variable 'MODEL'" clean MODEL=vgg16
    make_says "experiment: unknown variable 'PRECISION': make experiment has TYPE=bf16 and TYPE=int8; all else runs in fp32, on CPUs, and forward alone;" experiment MODEL=vgg16 PRECISION=int8
    make_says "judge: unknown variable 'THREADS': one thread is timed" judge THREADS=4
    make_says "MACHINE: unknown machine 'cuda': no GPUs are simulated; make lift runs on one" experiment MODEL=vgg16 MACHINE=cuda
    make_says "UKR: unknown micro-kernel 'bf16': make experiment TYPE=bf16 and TYPE=int8 have others; these compute in fp32 alone" experiment MODEL=vgg16 UKR=bf16
    make_says "MODEL: 'vgg16' is a layer table: 'make models MODEL=vgg16' writes a network of it" network MODEL=vgg16
    make_says "MODEL: 'run.log' is no network (.onnx) but layers without what lies between them" network MODEL=run.log
    make_says "LAYER: 'conv3_1' is no model; a layer is named with its model, such as LAYER=vgg16:conv3_1" plan LAYER=conv3_1
    make_says "unknown model 'alexnet'; there is a table called so: MODEL=experiments/models/polydl/alexnet.csv" judge MODEL=alexnet
    check "programs and make have the same words for what is not supported" same_words
    check "make help and the program name the same algorithms" [ "$(.ci/facts | awk -F'\t' '$2 $3 == "experimentALGO" { print $4 }')" = \
        "$("$experiment" --help | sed -n 's/^  ALGO *//p')" ]
    refuses "known: $(sed -n 's/^ *ALGO *of \(.*\); and plug-ins of your own.*/\1/p' <("$experiment" --help))" MODEL=vgg16 ALGO=winograd
    for word in LAYER model MACH CASH FILTER UKRS X RESULT; do
        check "make and the program mean the same by $word" [ "$(BENCH=$work/none .ci/goals experiment $word | sed -n 's/.*did you mean \(.*\)?.*/\1/p')" = \
            "$("$experiment" $word=1 2>&1 | sed -n 's/.*did you mean \(.*\)?.*/\1/p')" ]
    done
}

meant() { sed -n 's/.*did you mean \([A-Z]*\)?.*/\1/p'; }

tables() {
    local model=MODEL=$work/bad.csv

    echo "${header/in_c/ic}" >"$work/bad.csv"
    refuses "bad.csv:1: column missing, 'in_c'; is 'ic' meant for it?" "$model"
    echo "${header//,/;}" >"$work/bad.csv"
    refuses "bad.csv:1: columns are separated by commas, is ';' a separator here?" "$model"
    tr , '\t' <<<"$header" >"$work/bad.csv"
    refuses "is 'tab' a separator here?" "$model"
    table ok,3,8,8,4,3,3,1,1,1,1,1,1,1,1,1 b,3,8,8,4,3,3,1,1,1,1,1,1,1,1,1 ok,3,8,8,4,3,3,1,1,1,1,1,1,1,1,1
    run same "$model" ALGO=sconv TIMING=0 MACHINE=toy
    check "layers of one name are not told apart: $(cat "$work/err")" grep -q \
        "bad.csv: two layers are called 'ok' (lines 2 and 4); the second one is called 'ok_2' here$" "$work/err"
    check "results tell them apart" [ "$(awk -F, '/^bad,/ { print $3 }' "$work/same/toy/bad/layers.csv" | sort -u | xargs)" = "b ok ok_2" ]
    rm -r "$work/same"
    refuses "no layer of bad matches 'zzz'; it has ok, b, ok_2 (3 in all)" "$model" LAYERS=zzz
    printf 'in_c,in_h,in_w,out_c,k_h,k_w\r3,8,8,4,3,3' >"$work/bad.csv"
    refuses "it has 01_3x8x8_4_3x3 (1 in all)" "$model" LAYERS=zzz
    printf '\357\273\277in_c,in_h,in_w,out_c,kernel,stride,pad\r\n\302\2403,8,8,4,3,2,1\r\n\r\n' >"$work/bad.csv"
    refuses "it has 01_3x8x8_4_3x3_s2x2 (1 in all)" "$model" LAYERS=zzz
    iconv -t UTF-16 <"$work/bad.csv" >"$work/wide.csv"
    refuses "wide.csv:1: the text is in UTF-16, save it as UTF-8" "MODEL=$work/wide.csv"
    echo "${header%,dilation_w},dilaton_w" >"$work/bad.csv"
    refuses "bad.csv:1: column 'dilaton_w' is not known; is it meant for 'dilation_w'?" "$model"
    table a,3,8,8,4,3,3,1,1,1,1,1,1,1,1
    refuses "bad.csv:2:" "$model"
    table ok,3,8,8,4,3,3,1,1,1,1,1,1,1,1,1 a,3,-8,8,4,3,3,1,1,1,1,1,1,1,1,1
    refuses "bad.csv:3: in_h" "$model"
    table a,3,8,eight,4,3,3,1,1,1,1,1,1,1,1,1
    refuses "bad.csv:2: in_w" "$model"
    table a,3,8,8,99999999999999999999999,3,3,1,1,1,1,1,1,1,1,1
    refuses "bad.csv:2: out_c" "$model"
    table a,3,8,8,4,3,3,0,1,1,1,1,1,1,1,1
    refuses "stride_h" "$model"
    table a,3,8,8,4,11,3,1,1,1,1,1,1,1,1,1
    refuses "larger than the padded input" "$model"
    table a,3,8,8,4,3,3,1,1,1,1,1,1,2,1,1
    refuses "do not divide" "$model"
    table a,4294967295,4294967295,4294967295,1,1,1,1,1,0,0,0,0,1,1,1
    refuses "exceeds the address space" "$model"
    table a,3,8,8,4,3,3,1,18446744073709551615,1,1,1,1,1,1,1
    refuses "stride_w 18446744073709551615" "$model"
    echo "$header" >"$work/bad.csv"
    refuses "bad.csv" "$model"
    printf '[machine]\nname = x\nmemory_latency_cycles = 9\n[cache L1]\nsize = 1 KiB\nways = 3\nline = 64\nlatency_cycles = 1\n' \
        >"$work/bad.cfg"
    refuses "bad.cfg:" MODEL=tests/data/three.csv "MACHINE=$work/bad.cfg"
    sed 's/^memory_latency_cycles/page_tables = 2\n&/' sim/machines/toy.cfg >"$work/bad.cfg"
    refuses "bad.cfg:6: page_tables are read when a TLB misses, but there is no [tlb], 'page_tables'" MODEL=tests/data/three.csv "MACHINE=$work/bad.cfg"
    { cat sim/machines/toy.cfg && for i in 4 5 6 7 8 9; do sed -n "s/^\[cache L3\]/[cache L$i]/; /L$i/,\$p" sim/machines/toy.cfg; done; } >"$work/bad.cfg"
    sed 's/^memory_latency_cycles/ukr = sse\n&/' sim/machines/toy.cfg >"$work/wrong.cfg"
    refuses "the key ukr of machine toy: unknown micro-kernel 'sse'; known: " MODEL=tests/data/three.csv "MACHINE=$work/wrong.cfg"
    refuses "bad.cfg:58: too many cache levels, there may be up to 8, '[cache L9]'" MODEL=tests/data/three.csv "MACHINE=$work/bad.cfg"
    refuses "descriptor 'mb1ic3'" MODEL=mb1ic3
}

places() {
    "$experiment" MODEL=tests/data/three.csv RESULTS=/dev/null/x >"$work/out" 2>"$work/err"
    check "results below a file: exit status" [ $? -eq 2 ]
    check "results below a file: one line" [ "$(wc -l <"$work/err")" -eq 1 ]
    # A full disk, as far as a test can make a disk full: writing beyond 4 KiB fails.
    (
        ulimit -f 4
        exec "$experiment" MODEL=tests/data/three.csv MACHINE=toy TIMING=0 "RESULTS=$work/results" >"$work/out" 2>"$work/err"
    )
    check "full disk: exit status" [ $? -eq 2 ]
    check "full disk: says so: $(cat "$work/err")" grep -q "layers.csv" "$work/err"
    check "full disk: left something behind" nothing_left
    rm -rf "$work/results"
}

# keeps WORDS ARGUMENTS...: refuses, with WORDS, and does not change the results in $work/kept
keeps() {
    local words=$1 before after
    shift
    before=$(find "$work/kept" -exec ls -dl {} +)
    "$experiment" "RESULTS=$work/kept" "$@" >"$work/out" 2>"$work/err"
    check "$*: exit status $?, not 2" [ $? -eq 2 ]
    check "$*: '$words' is not in: $(cat "$work/err")" grep -qF -- "$words" "$work/err"
    check "$*: not one line: $(cat "$work/err")" [ "$(wc -l <"$work/err")" -eq 1 ]
    after=$(find "$work/kept" -exec ls -dl {} +)
    check "$*: changes old results" [ "$before" = "$after" ]
}

# Owners of results: two machines or tables of one name, tables named like the folders of other programs.
owners() {
    local small=(MODEL=tests/data/three.csv TIMING=0 ALGO=sconv) taken
    sed 's/^size = .*/size = 2 KiB/' sim/machines/toy.cfg >"$work/other.cfg"
    cp sim/machines/toy.cfg "$work/same.cfg"
    run kept "${small[@]}" || return
    check "machine.cfg says where it is from" grep -qx "# from: sim/machines/toy.cfg" "$work/kept/toy/three/machine.cfg"
    keeps "another machine called 'toy', of sim/machines/toy.cfg" "${small[@]}" "MACHINE=$work/other.cfg"
    run kept "${small[@]}" "MACHINE=$work/same.cfg" && check "an equal machine replaces" \
        grep -qx "# from: $work/same.cfg" "$work/kept/toy/three/machine.cfg"
    cp "$work/other.cfg" "$work/same.cfg"
    run kept "${small[@]}" "MACHINE=$work/same.cfg" && check "a file that was edited replaces its own results" \
        grep -qx "size = 2 KiB" "$work/kept/toy/three/machine.cfg"
    cp tests/data/three.csv "$work/three.csv"
    run kept "MODEL=$work/three.csv" TIMING=0 ALGO=sconv "MACHINE=$work/same.cfg" && check "a table of the same content replaces" \
        grep -qx "three: $work/three.csv" "$work/kept/toy/three/models.txt"
    sed -i '$d' "$work/three.csv"
    run kept "MODEL=$work/three.csv" TIMING=0 ALGO=sconv "MACHINE=$work/same.cfg" && check "a table that was edited replaces its own results" \
        grep -qx "three: $work/three.csv" "$work/kept/toy/three/models.txt"
    keeps "another layer table called 'three', of $work/three.csv" "${small[@]}" "MACHINE=$work/same.cfg"
    for taken in judgement peers .hidden; do
        cp tests/data/three.csv "$work/$taken.csv"
        keeps "$taken.csv: " "MODEL=$work/$taken.csv" MACHINE=toy TIMING=0
    done
    rm -r "$work/kept"
}

# Figures are found by the machine's name, and drawn whatever the paths hold.
figures() {
    local odd="|touch x; <it''s \"\$HOME\` \\ %s,é" kept=$work/kept/toy/three
    cp sim/machines/toy.cfg "$work/same.cfg"
    run kept MODEL=tests/data/three.csv TIMING=0 ALGO=sconv "MACHINE=$work/same.cfg" || return
    rm "$kept"/*.png
    # An emulator's programs are built by another make.
    [ -n "${EMULATED:-}" ] || check "make redraw" env -u VARIABLES_ARE_KNOWN make redraw \
        "RESULTS=$work/kept" "BUILD=$(dirname "$experiment")" >"$work/out" 2>&1
    [ -n "${EMULATED:-}" ] || check "make redraw draws them again" [ -s "$kept/misses_tensors.png" ]
    cp tests/data/three.csv "$work/it's \"odd\".csv"
    (
        cd "$work" && ln -s "$here/experiments" "$here/sim" .
        "$(realpath -s "$here/$experiment")" "MODEL=it's \"odd\".csv" MACHINE=toy TIMING=0 ALGO=sconv "RESULTS=$odd"
    ) >"$work/out" 2>"$work/err"
    status=$?
    check "odd paths: exit status $status, $(cat "$work/err")" [ "$status" -eq 0 ]
    check "odd paths: nothing is run" [ ! -e "$work/x" ]
    check "odd paths: figures" [ -s "$work/$odd/toy/it's \"odd\"/misses_tensors.png" ]
    rm -r "$work/kept"
}

# ends_in_time PID: waits for the end of a job; if its patience ends first, kills the job and fails
ends_in_time() {
    for _ in $(seq $((patience * 20))); do
        kill -0 "$1" 2>/dev/null || return 0
        sleep 0.05
    done
    kill -KILL "$1"
    return 1
}

has_said() { [ -z "$1" ] || grep -qs "$1" "$work/interrupted"; }

# The waits below take moments; a busy computer may need much longer, and a program that hangs never ends.
patience=60

# interrupted HOW SIGNALS BEGUN ARGUMENTS...: a moment after standard error says BEGUN, SIGNALS times SIGTERM end the
# program, by the signal, with one line, and nothing is left behind but the store of finished work. Without the signals
# the work would take longer than our patience.
interrupted() {
    local how=$1 signals=$2 begun=$3 pid status
    shift 3
    : >"$work/interrupted"
    "$experiment" "RESULTS=$work/results" "$@" >"$work/out" 2>>"$work/interrupted" </dev/null &
    pid=$!
    for _ in $(seq $((patience * 20))); do
        has_said "$begun" && break
        sleep 0.05
    done
    check "$how: '$begun' is not in: $(cat "$work/interrupted")" has_said "$begun"
    sleep 0.3
    for _ in $(seq "$signals"); do
        kill -TERM $pid 2>/dev/null
        sleep 0.05
    done
    check "$how: still runs $patience s later" ends_in_time $pid
    wait $pid
    status=$?
    check "$how: exit status $status, not 143" [ $status -eq 143 ]
    check "$how: says so: $(tail -1 "$work/interrupted")" grep -q "^experiment: interrupted" "$work/interrupted"
    check "$how: left something behind" [ -z "$(find "$work/results" -type f ! -name store.sqlite 2>/dev/null)" ]
    rm -rf "$work/results"
}

# with_fake NAME COMMAND FUNCTION ARGUMENTS...: calls a function of this script with a fake program NAME that runs
# COMMAND
with_fake() {
    local fake=$work/fake/$1 does=$2 whole=$PATH
    shift 2
    mkdir "$work/fake"
    printf '#!/bin/sh\nexec %s\n' "$does" >"$fake"
    chmod +x "$fake"
    PATH=$work/fake:$PATH
    "$@"
    PATH=$whole
    rm -r "$work/fake"
}

interruption() {
    local small=(MODEL=tests/data/three.csv MACHINE=toy TIMING=0) hangs="sh -c 'echo it hangs >>$work/interrupted; exec sleep 600'"
    table a,1000000000000,8,8,4,3,3,1,1,1,1,1,1,1,1,1 # days, whatever this computer's OpenBLAS has Base replay
    mkfifo "$work/pipe.csv"
    interrupted "replaying" 1 replaying MODEL=vgg16 MACHINE=clx4208 TIMING=0 JOBS=1
    interrupted "a layer without end" 1 replaying "MODEL=$work/bad.csv" MACHINE=toy TIMING=0
    check "a layer without end is announced" has_said "^This will take about [0-9]* days"
    interrupted "a layer without end, twice" 2 replaying "MODEL=$work/bad.csv" MACHINE=toy TIMING=0
    refuses "it is no file, but a pipe" "MODEL=$work/pipe.csv" MACHINE=toy TIMING=0
    with_fake gnuplot "$hangs" interrupted "gnuplot hangs" 1 "it hangs" "${small[@]}"
    with_fake qemu-x86_64 "$hangs" interrupted "an emulator hangs" 1 "it hangs" "${small[@]}" MACHINE=clx4208 OBSERVE=sample \
        "OBSERVER=$experiment" "GUEST=$experiment"
}

# Killed at any moment: old results stay whole. After a signal that can be caught, nothing but old results is left;
# after a signal that cannot, the next run tidies.
kills() {
    local kept=$work/kept/toy/three files signal status i=0
    run kept TIMING=0 ALGO=sconv || return
    files=$(ls "$kept")
    for signal in TERM KILL HUP KILL TERM KILL; do
        i=$((i + 1))
        "$experiment" MORE=1 MODEL=tests/data/three.csv MACHINE=toy TIMING=0 ALGO=sconv "RESULTS=$work/kept" >/dev/null 2>&1 </dev/null &
        sleep "$(awk -v seed="$RANDOM" 'BEGIN { srand(seed); print rand() * 0.8 }')"
        kill -$signal $! 2>/dev/null
        wait $! 2>/dev/null
        status=$?
        check "kill $i, $signal, status $status: old results are there" [ "$(ls "$kept" 2>/dev/null || ls "$work"/kept/toy/.three.old.*)" = "$files" ]
        check "kill $i, $signal, status $status: and whole" [ "$(grep -cv '^#' "$work"/kept/toy/{,.}three*/layers.csv 2>/dev/null | grep -c ':7$')" -ge 1 ]
        [ $signal = KILL ] || [ $status -eq 0 ] || [ $i -gt 1 ] || check "kill $i, $signal: something is left" [ -z "$(find "$work/kept/toy" -name '.*')" ]
    done
    run kept TIMING=0 ALGO=sconv && check "the next run tidies" [ "$(ls -A "$work/kept/toy")" = three ]
}

# Output that cannot be written, and messages too long for one line.
outputs() {
    local long
    for option in --help --columns; do
        "$experiment" $option >/dev/full 2>"$work/err"
        check "$option to a full disk: exit status $?, not 2" [ $? -eq 2 ]
        check "$option to a full disk: says so" grep -q "standard output: No space left" "$work/err"
        "$experiment" $option 2>"$work/err" | head -1 >"$work/out"
        check "$option to a reader who leaves: nothing to complain of" [ ! -s "$work/err" ]
    done
    "$experiment" MODEL=tests/data/three.csv MACHINE=toy TIMING=0 ALGO=sconv "RESULTS=$work/full" >/dev/full 2>"$work/err"
    check "the table to a full disk: exit status $?, not 2" [ $? -eq 2 ]
    check "the table to a full disk: results are there" [ -s "$work/full/toy/three/layers.csv" ]
    long=$(printf 'x%.0s' $(seq 200))
    long=$long/$long/$long/$long/$long/$long/$long$long
    "$experiment" MODEL=tests/data/three.csv MACHINE=toy TIMING=0 "RESULTS=$work/results/$long" 2>"$work/err"
    check "a long path: exit status $?, not 2" [ $? -eq 2 ]
    check "a long path: the reason is there" grep -q ": File name too long" "$work/err"
    check "a long path: left something behind" nothing_left
}

# The plans and all simulated counts of a layers.csv.
deterministic() { columns_but "$1" '^measured'; }
schedules() { # schedules CSV PATTERN: the schedules' rows, without the columns that match
    columns_but "$@" | grep ',sconv_[iw]s,'
}
loads() { columns "$1" layer algo simulated_loads; }

run() { # run NAME ARGUMENTS...: succeeds; its output is in $work/NAME.out
    local name=$1
    shift
    if ! "$experiment" MORE=1 MODEL=tests/data/three.csv MACHINE=toy RULER=0 "RESULTS=$work/$name" "$@" >"$work/$name.out" 2>"$work/err"; then
        bad "$*: $(tail -2 "$work/err")"
        return 1
    fi
    ok
}

results() {
    local dir=$work/one/toy/three figure timed=4 core= before
    run one REPS=2 || return
    # OpenBLAS's micro-kernel is run, and Base in steps, where the core's blocking is on record.
    ! grep -q "the blocking of OpenBLAS core '.*' is not on record" "$work/one.out" || { timed=3; core=CORE=Haswell; }
    for figure in miss_rates_model miss_rates_layers misses_tensors misses_layers predicted_vs_simulated speedup_layers; do
        check "$figure.png is a PNG" sh -c "head -c 4 '$dir/$figure.png' | grep -q PNG"
        check "$figure.svg is an SVG" grep -q '</svg>' "$dir/$figure.svg"
    done
    check "two rounds: the speed-ups' caption speaks of no interval lines" grep -q 'the rounds are too few for lines' \
        <(sed 's/<[^>]*>/ /g' "$dir/speedup_layers.svg" | tr -s ' \t\n' ' ')
    check "12 rows: 3 layers, 4 algorithms" [ "$(grep -cv '^#' "$dir/layers.csv")" -eq 13 ]
    check "a reason needs no quotes: every comma ends a field" sh -c "grep -q ',[a-z_*+]*: [^,]*$' '$dir/layers.csv' && ! grep -h 'not available' '$dir'/*.csv"
    check "no cell needs any" sh -c "! grep -hv '^#' '$dir'/*.csv | grep '\"'"
    check "a pick for each layer" [ "$(grep -cv '^#' "$dir/picks.csv")" -eq 4 ]
    check "2 samples of each" [ "$(grep -cv '^#' "$dir/samples.csv")" -eq $((1 + 3 * timed * 2)) ]
    check "the classes of misses add up" awk '{ n++; if ($1 != $2 + $3 + $4) bad++ } END { exit !n || bad }' \
        <(columns "$dir/classes.csv" misses compulsory_misses capacity_misses conflict_misses)
    check "traffic.csv has as many conflict misses" [ "$(sum_of conflict_misses "$dir/traffic.csv")" -eq \
        "$(columns "$dir/classes.csv" layer_index conflict_misses | awk '$1 { sum += $2 } END { print sum + 0 }')" ]
    check "the parts of a time add up to the run's, where there are any" awk -v "least=$((timed == 4 ? 9 : 6))" '
        { sum = $2 + $3 + $4 + $5; bad += sum < 0.999 * $1 * $6 || sum > 1.001 * $1 * $6; n += sum > 0 }
        END { exit bad || n < least }' <(columns "$dir/layers.csv" measured_time_median_ns measured_im2col_ns measured_packing_ns measured_kernel_ns measured_other_ns measured_steps_to_time)
    check "the fastest round, the median and the slowest are in this order" awk '
        $1 + 0 { n++; bad += $1 > $2 || $2 > $3; apart += $1 < $3 } END { exit bad || !n || !apart }' \
        <(columns "$dir/layers.csv" measured_time_min_ns measured_time_median_ns measured_time_max_ns)
    check "host.txt names the CPU" grep -q . "$dir/host.txt"
    check "host.txt says whether it is emulated" grep -q "^emulated: ${EMULATED:+yes}" "$dir/host.txt"
    check "the closing table has a line per algorithm" [ "$(grep -cE '^(base|sconv_is|sconv_ws|sconv_openblas) ' "$work/one.out")" -eq 4 ]
    check "the last words are a verdict" comes_after "$work/one.out" '^VERDICT for three [(]3 convolutions[)]: ' '^tables'
    check "... about Base: $(grep -A 2 '^VERDICT' "$work/one.out")" grep -q 'VERDICT for three (3 convolutions): [^;]* im2col + OpenBLAS' <(unwrapped "$work/one.out")
    check "verdict.txt has a row for every layer and variant" [ "$(grep -cE ' sconv(_openblas)? +[0-9.]+ ' "$dir/verdict.txt")" -eq $((3 * (timed - 2))) ]
    check "the plan's letters are explained" grep -q 'Nc: channels.*K2: streaming' "$work/one.out"
    check "every column is documented" [ "$(grep -v '^#' "$dir/layers.csv" | head -1 | tr ',' '\n' | wc -l)" \
        -eq "$("$experiment" --columns | sed '/model.csv/q' | grep -c '^| `')" ]
    run two REPS=2 TIMING=1 JOBS=1 && check "a second run simulates the same" \
        cmp -s <(grep -v '^#' "$dir/traffic.csv") <(grep -v '^#' "$work/two/toy/three/traffic.csv")
    check "and plans and counts the same" alike "$dir/layers.csv" "$work/two/toy/three/layers.csv" deterministic
    [ -n "${EMULATED:-}" ] || check "figures are redrawn" sh -c "rm '$dir/speedup_layers.png' && '$(dirname "$experiment")/redraw' 'RESULTS=$work/one' >/dev/null 2>&1 && test -s '$dir/speedup_layers.png'"
    rm -rf "$work/kept" && mv "$work/two" "$work/kept"
    keeps "'$work/kept/toy/three' holds times, and this run would replace them by none (TIMING=0 was asked for): set another RESULTS" \
        MODEL=tests/data/three.csv MACHINE=toy TIMING=0 ALGO=sconv
    sed -i '/^# timed/d' "$work/kept/toy/three/models.txt"
    keeps "holds times" MODEL=tests/data/three.csv MACHINE=toy TIMING=0 ALGO=sconv
    mv "$work/kept" "$work/two"
    before=$(md5sum "$dir"/*)
    run one TIMING=0 ALGO=sconv LAYERS='pointwis*' && check "some layers have a folder of their own" \
        [ "$(grep -cv '^#' "$dir,pointwis~/layers.csv") $(sed -n 2p "$dir,pointwis~/models.txt")" = "3 # layers: pointwis*" ]
    check "... and leave the results of all of them" [ "$before" = "$(md5sum "$dir"/*)" ]
    mkdir -p "$work/kept/toy" && mv "$dir,pointwis~" "$work/kept/toy/"
    keeps "holds results of LAYERS='pointwis*': set another RESULTS" MODEL=tests/data/three.csv MACHINE=toy TIMING=0 LAYERS='pointwis?'
    rm -r "$work/kept"
    run one REPS=1 ALGO=base,sconv && check "a run replaces the one before" [ "$(grep -cv '^#' "$dir/samples.csv")" -lt $((1 + 3 * timed * 2)) ]
    run untimed TIMING=0 ALGO=sconv || return
    dir=$work/untimed/toy/three
    check "untimed: no figure of times" [ ! -e "$dir/speedup_layers.png" ]
    check "untimed: the verdict is about misses, and says so" grep -q 'was not measured: TIMING=0' "$dir/verdict.txt"
    check "untimed columns say why" grep -q ': TIMING=0' "$dir/layers.csv"
    foreign=f32_16x8__mma
    [ "$(uname -m)" != ppc64le ] && [ -z "${EMULATED:-}" ] || foreign=f32_16x24__avx512
    run foreign "UKR=$foreign" OBSERVE=0 && check "another CPU family's kernels: nothing is timed, which is said first: $(head -n 1 "$work/err")" \
        grep -q "^experiment: UKR=$foreign is a micro-kernel of another CPU family, so nothing is timed here$" "$work/err" && check "... and in the table" \
        [ "$(grep -c ": the machine's micro-kernel is another" "$work/foreign/toy/three/layers.csv")" -eq 12 ]
    run best TIMING=0 UKR=avx512 ALGO=sconv,sconv_tuned && check "an instruction set's best: the paper's tile, tuned chooses" \
        [ "$(grep -v '^#' "$work/best/toy/three/layers.csv" | grep -c f32_16x24__avx512)" -ge 6 ]
    check "a depthwise layer is direct, and CSA has no plan for it" \
        grep -q 'sconv_tuned.*f32_direct_8x16__avx512,.*: direct convolution' "$work/best/toy/three/layers.csv"
    run unclassified TIMING=0 CLASSES=machine && check "without classes, no figure of them" \
        [ ! -e "$work/unclassified/toy/three/misses_layers.png" ]
    check "classes change no other count" alike "$dir/layers.csv" "$work/unclassified/toy/three/layers.csv" schedules '^measured'
    check "... of any tensor" alike "$dir/traffic.csv" "$work/unclassified/toy/three/traffic.csv" schedules '^(compulsory|capacity|conflict)_'
    check "... and are empty without" [ "$(columns "$work/unclassified/toy/three/traffic.csv" conflict_misses | sort -u)" = - ]
    check "without a core, cycles say why" grep -q ': toy has no \[core\]' "$dir/layers.csv"
    check "... as the verdict does" grep -q '^Simulated cycles are not available: toy has no \[core\]\.' "$dir/verdict.txt"
    check "without issue rates, estimates say why" grep -q ': the machine.s file does not state mac_rows' "$dir/layers.csv"
    run tuned MACHINE=clx4208 TIMING=0 ALGO=base,sconv_tuned OBSERVE=0 && check "what is replayed, and who chose it, is said first" \
        says_first tuned 'micro-kernel f32_16x24__avx512 (the machine file names it.*sconv_tuned keeps it: UKR=avx512' \
        'core SkylakeX (the machine file names it)'
    run named MACHINE=clx4208 TIMING=0 ALGO=base,sconv_tuned OBSERVE=0 UKR=avx512 CORE=Haswell && check "... also where the user did" \
        says_first named 'micro-kernel f32_16x24__avx512 (UKR asks for it.*sconv_tuned chooses one of AVX-512 for each' \
        'core Haswell (CORE asks for it)'
    run unknown MACHINE=apple-m1 TIMING=0 ALGO=base,sconv OBSERVE=0 && check "... and what is not replayed" \
        says_first unknown 'micro-kernel f32_16x24__ref (the machine file names it' "Base; the blocking of OpenBLAS core 'VORTEX'"
    run estimated MACHINE=clx4208 TIMING=0 ALGO=base,sconv OBSERVE=0 && check "with them, base's cycles over the schedule's" awk '
        $1 == "base" { base = $2 } { n++; if ($3 != base / $2 && ($3 - base / $2) ^ 2 > 1e-12) bad++ } END { exit bad || n != 9 }' \
        <(columns "$work/estimated/clx4208/three/layers.csv" algo estimated_cycles estimated_speedup)
    check "and the verdict calls them unproven" grep -q 'estimated .* unproven' "$work/estimated/clx4208/three/verdict.txt"
    run warm CACHE=warm FILTERS=run_time UKR=f32_16x24__ref ALGO=base,sconv,sconv_openblas,goto REPS=1
    run network TIMING=0 CACHE=network && check "the caches' state changes misses, not loads" \
        alike "$work/two/toy/three/layers.csv" "$work/network/toy/three/layers.csv" loads
    check "5 algorithms" [ "$(grep -cv '^#' "$work/warm/toy/three/layers.csv")" -eq 16 ]
    check "... of which one and the baseline use OpenBLAS's micro-kernel" \
        [ "$(grep -c '^[^#].*,openblas_' "$work/warm/toy/three/layers.csv")" -eq 6 ]
    # shellcheck disable=SC2086  # nothing, or one word
    run openblas UKR=openblas $core ALGO=sconv,sconv_openblas REPS=1 && check "UKR=openblas: all do" \
        [ "$(grep -c '^[^#].*,openblas_' "$work/openblas/toy/three/layers.csv")" -eq 9 ]
    check "... with the loads of one of the schedules" awk '$2 == "sconv_openblas" { own[$1] = $3; next } { of[$1] = of[$1] " " $3 " " }
        END { for (layer in own) n += index(of[layer], " " own[layer] " ") > 0; exit n != 3 }' <(loads "$work/openblas/toy/three/layers.csv")
}

says_first() { # says_first NAME WORDS WORDS: the first two lines that the run printed
    sed -n 1p "$work/$1.out" | grep -q "$2" && sed -n 2p "$work/$1.out" | grep -q "$3"
}

observe() { # observe NAME ARGUMENTS...: runs with observation, on a machine that x86 programs are observed for
    local name=$1
    shift
    run "$name" MACHINE=clx4208 TIMING=0 ALGO=base,sconv OBSERVE=sample "OBSERVER=${OBSERVER:-}" "GUEST=${GUEST_x86_64:-}" "$@"
}

# Levels have the machine file's names; the paper's numbers stand only beside the paper's machines.
names() {
    local dir=$work/names/slc/three
    printf '[machine]\nname = slc\nmemory_latency_cycles = 9\n' >"$work/slc.cfg"
    for level in L1:4 L2:16 SLC:64; do
        printf '[cache %s]\nsize = %s KiB\nways = 4\nline = 64\nlatency_cycles = 1\n' "${level%:*}" "${level#*:}" >>"$work/slc.cfg"
    done
    run names "MACHINE=$work/slc.cfg" TIMING=0 ALGO=base,sconv CORE=Haswell || return
    check "the closing table names the levels" grep -qzP '\n *L1 +L2 +SLC +per 1000\n *measured ms +speed-up( +simul\. +counted){3} +L1 +L2 +SLC ' "$work/names.out"
    check "... and the verdict's, beside Base that is replayed on every computer" \
        grep -q '^layer .* L1 .* L2 .* SLC' "$work/names.out"
    check "... and has no other" sh -c "! grep -qw L3 '$work/names.out'"
    check "so do the CSV files" grep -q '^# levels: .*l3 its SLC' "$dir/layers.csv"
    check "... in the plans" sh -c "! grep -v '^#' '$dir/layers.csv' | grep -q '[+,]L3'"
    check "... and the figures" grep -q '>SLC: load misses' "$dir/miss_rates_model.svg"
    check "the paper did not measure this machine" sh -c "! grep -q 'average of 7 models' '$dir/miss_rates_model.svg'"
    check "no figure without data, in the list" grep -q 'speedup_layers  *not drawn: TIMING=0 was asked for' "$work/names.out"
    check "... which is no error" sh -c "! grep -q 'is not drawn' '$work/err'"
    check "... where no number of a smaller view stands" grep -q "×: Base&#39;s misses / the algorithm&#39;s\|×: Base's misses / the algorithm's" "$dir/miss_rates_model.svg"
    { cat "$work/slc.cfg"; printf '[cache L4]\nsize = 256 KiB\nways = 4\nline = 64\nlatency_cycles = 2\n'; } |
        sed 's/name = slc/name = four/; s/SLC/L3/' >"$work/four.cfg"
    run four "MACHINE=$work/four.cfg" TIMING=0 ALGO=base,sconv CORE=Haswell OBSERVE=0 || return
    dir=$work/four/four/three
    check "a fourth level is in the closing table" grep -qzP '\n *L1 +L2 +L3 +L4 +per 1000\n *measured ms .* L1 +L2 +L3 +L4 ' "$work/four.out"
    check "... and in the verdict, which says for which levels CSA plans" [ "$(grep -c 'misses  *simulated on four: L1 \|L2 and L3 are this machine.s L1, L2 and L4; L3 is' <(tr -s ' \n' ' ' <"$dir/verdict.txt" | sed 's/misses simulated/\n&/; s/CSA plans/\n&/'))" -eq 2 ]
    check "... as the CSV files do, too" grep -q '^# levels: .*l3 its L4. CSA plans for three levels: .* L3 is simulated' "$dir/model.csv"
    check "levels.csv has all four, of which one is not CSA's" [ "$(columns "$dir/levels.csv" algo level stands_for | grep '^sconv ' | tr '\n' ';')" = "sconv L1 l1;sconv L2 l2;sconv L3 -;sconv L4 l3;" ]
    check "... with the misses of traffic.csv" [ "$(columns "$dir/levels.csv" algo level simulated_load_misses | awk '$1 == "base" && $2 == "L3" { print $3 }')" -eq \
        "$(columns "$dir/traffic.csv" algo level load_misses | awk '$1 == "base" && $2 == "L3" { n += $3 } END { print n }')" ]
    check "the page has a card of each level" [ "$(grep -o '<dt>misses in L[1-4]<' "$dir/report.html" | sort -u | wc -l)" -eq 4 ]
    check "... and a table of them" grep -q 'All levels of the machine' "$dir/report.html"
    run paper MACHINE=clx4208 TIMING=0 && check "it measured this one" \
        grep -q 'average of 7 models' "$work/paper/clx4208/three/miss_rates_model.svg"
    run paper MACHINE=clx4208 TIMING=0 CACHE=warm && check "but not with warm caches" \
        sh -c "! grep -q 'average of 7 models' '$work/paper/clx4208/three/miss_rates_model.svg'"
    run paper MACHINE=clx4208 REPS=1 LAYERS=pointwise && check "measured times name the computer that ran: $(sed -n 's/^cpu: //p' "$work/paper/clx4208/three,pointwise/host.txt")" \
        grep -qF "$(sed -n 's/^cpu: //p' "$work/paper/clx4208/three,pointwise/host.txt")" <(sed -n 's/^host: //p' "$work/paper/clx4208/three,pointwise/figures.txt")
}

# The guest program that the Makefile prepares.
guests() {
    local family
    check "OBSERVE=0 needs no guest" [ -z "$("$experiment" --guest MODEL=vgg16 MACHINE=power10 OBSERVE=0)" ]
    check "POWER10 is observed by itself" [ "$("$experiment" --guest MODEL=vgg16 MACHINE=power10 TIMING=0)" = ppc64le ]
    check "portable kernels are not" [ -z "$("$experiment" --guest MODEL=vgg16 MACHINE=toy TIMING=0 UKR=ref)" ]
    check "... unless asked for" [ "$("$experiment" --guest MODEL=vgg16 MACHINE=toy TIMING=0 UKR=ref OBSERVE=sample)" = x86_64 ]
    family=$([ "$(uname -m)" != x86_64 ] || [ -n "${EMULATED:-}" ] || echo x86_64)
    check "x86 is, on x86" [ "$("$experiment" --guest MODEL=vgg16 MACHINE=clx4208 TIMING=0)" = "$family" ]
}

# Within the time: kept observations are used, missing observations are left out and counted. The emulator hangs.
budget() {
    local dir=$work/observed/clx4208/three why=": the time for observing was over"
    observe observed OBSERVE=auto OBSERVE_LIMIT=1 && check "kept observations need no time" \
        grep -q '^observed 3 of 3 shapes in [0-9]* s\. Load misses .*: in L1 by at most [0-9.]* %' "$work/observed.out"
    observe observed OBSERVE=auto OBSERVE_LIMIT=1 "STORE=$work/fewer.sqlite" || return
    check "the others are left out, and counted: $(grep '^observed' "$work/observed.out")" \
        grep -q '^observed 2 of 3 shapes in [1-9][0-9]* s; 1 left out, .*OBSERVE_LIMIT=1' "$work/observed.out"
    check "... in the verdict too" grep -q 'Access by access: observed 2 of 3 shapes' "$dir/verdict.txt"
    check "... their rows say why" [ "$(grep -c "$why" "$dir/observed.csv")" -eq 3 ]
    check "... what there is, is drawn" [ -s "$dir/observed_vs_replayed.png" ]
    check "... and nothing is complained of" [ "$(grep -c 'not observed' "$work/err")" -eq 0 ]
    check "... nor left behind" [ -z "$(find "$work/observed" -name '.observing*')" ]
    observe none OBSERVE=auto OBSERVE_LIMIT=1 && check "no time for anything" \
        grep -q '^observed 0 of 3 shapes in [1-9][0-9]* s; 3 left out' "$work/none.out"
    run alone OBSERVE=auto TIMING=0 ALGO=sconv && check "nobody prepared a guest: nothing is to be observed" \
        [ ! -e "$work/alone/toy/three/observed.csv" ]
}

# A layer that is too large for the time is observed in part, and every output says so.
parts() {
    local dir=$work/parts/clx4208/vgg16,conv5_1
    run parts MODEL=vgg16 LAYERS=conv5_1 MACHINE=clx4208 TIMING=0 ALGO=base,sconv_ws UKR=avx2 CORE=Haswell CLASSES=machine OBSERVE=auto \
        OBSERVE_LIMIT=4 "OBSERVER=$OBSERVER" "GUEST=$GUEST_x86_64" || return
    if grep -q '^observed .* left out' "$work/parts.out"; then
        echo "cli: skipped: parts of layers (this computer is too busy to observe any in 4 s)"
        return
    fi
    check "parts: $(grep '^observed [0-9]' "$work/parts.out")" \
        grep -q '^observed 1 of 1 shapes in [0-9]* s, 1 of them in part, [0-9.]* % or more of each' "$work/parts.out"
    check "parts: each algorithm's share, in layers.csv" awk '{ n++; if (!($2 > 0 && $2 < 100 && $3 > 0 && $4 > 0)) bad++ }
        END { exit n != 2 || bad }' <(columns "$dir/layers.csv" algo observed_share_percent observed_loads observed_l1_miss_percent)
    check "parts: SConv's is that of its replay" awk '$1 == "sconv_ws" { exit !($2 > 0 && $2 == $3) }' \
        <(columns "$dir/observed.csv" algo observed_reads replayed_reads)
    check "parts: masked loads are the reason, where an algorithm differs" awk -F, 'NR > 1 && !/^#/ && /hides the mask/ { n++ }
        END { exit !n }' "$dir/observed.csv"
    check "parts: all algorithms are summed up" grep -q '^sconv_ws  *f32_16x6__avx2 ' "$work/parts.out"
}

# Killed in the middle of observing: kept observations are whole, and the next run tidies.
killed_observing() {
    "$experiment" MODEL=vgg16 LAYERS=conv5_1 MACHINE=clx4208 TIMING=0 ALGO=base,sconv_ws CLASSES=machine OBSERVE=sample "RESULTS=$work/killed" \
        "OBSERVER=$OBSERVER" "GUEST=$GUEST_x86_64" >/dev/null 2>&1 </dev/null &
    until ls "$work"/killed/.observing.*/*.watched >/dev/null 2>&1 || ! kill -0 $! 2>/dev/null; do sleep 0.1; done
    kill -KILL $! 2>/dev/null
    wait $! 2>/dev/null
    check "killed while observing: something is left" [ -n "$(find "$work/killed" -name '*.watched')" ]
    observe killed && check "... and the next run tidies" [ -z "$(find "$work/killed" -name '.observing*')" ]
    check "... with its store" grep -q '^observed 3 of 3 shapes' "$work/killed.out"
}

# A missing program is named once, and costs nothing but its columns.
unobserved() { # unobserved WORDS NAME ARGUMENTS...
    local words=$1 name=$2
    shift 2
    observe "$name" "$@" || return
    check "$name: one line with '$words': $(grep 'not observed' "$work/err")" [ "$(grep -c "not observed: .*$words" "$work/err")" -ge 1 ]
    check "$name: the rows say why" grep -q ": .*$words" "$work/$name/clx4208/three/observed.csv"
    check "$name: the rest is there" [ -s "$work/$name/clx4208/three/misses_layers.png" ]
    check "$name: nothing half-written" [ -z "$(find "$work/$name" -name '.observing*')" ]
}

without_qemu() { # the experiment alone gets a PATH without it
    local whole=$experiment
    printf '#!/bin/sh\nPATH=%s exec %s "$@"\n' "$work/bin" "$(realpath -s "$experiment")" >"$work/poor"
    chmod +x "$work/poor"
    experiment=$work/poor
    unobserved "$1" noqemu
    experiment=$whole
}

observed() {
    local dir=$work/observed/clx4208/three
    unobserved "no compiler here" unbuilt OBSERVER= "WHY_NO_GUEST=no compiler here"
    if ! command -v qemu-x86_64 >/dev/null || [ ! -x "${GUEST_x86_64:-}" ]; then
        echo "cli: skipped: observed streams (no qemu-x86_64, or no GUEST_x86_64)"
        return
    fi
    observe observed || return
    check "observed: every case" [ "$(columns "$dir/observed.csv" level tensor phase | grep -cx 'core all all')" -eq 9 ]
    check "observed: no reason why not" [ -z "$(csv_rows "$dir/observed.csv" | grep 'not available')" ]
    check "observed: SConv's accesses are the replay's" awk '$1 ~ /^sconv/ && $2 == "core" && $3 == "all" { n++
        if ($4 != $5 || $6 != $7) bad++ } END { exit n != 6 || bad }' \
        <(columns "$dir/observed.csv" algo level tensor observed_reads replayed_reads observed_writes replayed_writes)
    check "observed: FMA instructions" grep -q ',fma,' "$dir/observed_instructions.csv"
    check "observed: functions outside" grep -q 'blas_memory_alloc' "$dir/observed_outside.csv"
    check "observed: the figure" sh -c "head -c 4 '$dir/observed_vs_replayed.png' | grep -q PNG"
    check "observed: every column is documented" [ "$(grep -v '^#' "$dir/observed.csv" | head -1 | tr ',' '\n' | wc -l)" \
        -eq "$("$experiment" --columns | sed '1,/#### observed.csv/d; /####/,$d' | grep -c '^| `')" ]
    cp "$dir/observed.csv" "$work/first.csv"
    observe observed || return
    check "observed: what is kept gives the same" cmp -s <(grep -v '^#' "$work/first.csv") <(grep -v '^#' "$dir/observed.csv")
    parts
    killed_observing
    observe fewer LAYERS=stem/*,depthwise "STORE=$work/fewer.sqlite"
    with_fake qemu-x86_64 "sleep 600" budget
    mkdir "$work/bin" && ln -s "$(command -v gnuplot)" "$work/bin/gnuplot"
    without_qemu "qemu-x86_64 is missing (package qemu-user)"
    printf '#!/bin/sh\nexit 0\n' >"$work/not-elf" && chmod +x "$work/not-elf"
    mkdir -p "$work/notelf/.observing.999999999" # what a killed run left; no process has that number
    touch "$work"/notelf/.observing.999999999/{machine.cfg,0.watched}
    unobserved "qemu-x86_64" notelf "GUEST=$work/not-elf"
    printf 'not a plugin' >"$work/bad.so"
    unobserved "qemu-x86_64: .*" badplugin "OBSERVER=$work/bad.so"
    check "a guest by itself says what it is for" sh -c "! '$GUEST_x86_64' SHAPE=1 ALGO=base MACHINE=x OUT=$work/none 2>&1 | grep -v 'not watched'"
}

# Outside of the project's folder the program finds tables, machines and scripts beside itself, and the user's files where the user is.
elsewhere() {
    local there="$work/an other" absolute status
    absolute=$(realpath -s "$experiment")
    mkdir "$there"
    cp tests/data/three.csv "$there/own.csv"
    cp sim/machines/toy.cfg "$there/own.cfg"
    (cd "$there" && "$absolute" MODEL=own.csv MACHINE=own.cfg TIMING=0 OBSERVE=0 STORE=kept.sqlite) >"$work/out" 2>"$work/err"
    status=$?
    check "elsewhere: exit status $status: $(tail -n 1 "$work/err")" [ $status -eq 0 ]
    check "elsewhere: the results are not where the user is" [ -s "$there/results/toy/own/layers.csv" ]
    check "elsewhere: no figures" [ -s "$there/results/toy/own/miss_rates_model.png" ]
    check "elsewhere: there is more than that: $(ls "$there")" [ "$(ls "$there" | paste -sd ' ')" = "kept.sqlite own.cfg own.csv results" ]
    "$experiment" MODEL=tests/data/three.csv MACHINE=toy TIMING=0 OBSERVE=0 STORE=no "RESULTS=$work/inside" >"$work/out" 2>"$work/err"
    check "elsewhere: other results than in the project's folder" cmp -s <(grep -v '^#' "$there/results/toy/own/layers.csv" | cut -d, -f2-) \
        <(grep -v '^#' "$work/inside/toy/three/layers.csv" | cut -d, -f2-)
    cp "$there/own.csv" "$there/bare"
    (cd "$there" && "$absolute" MODEL=squeezenet,bare TIMING=0) >"$work/out" 2>"$work/err"
    check "elsewhere: a file without an ending: $(cat "$work/err")" grep -qF "unknown model 'bare'; there is a file called so: MODEL=./bare" "$work/err"
    (cd "$there" && "$absolute" MODEL=vgg16 MACHINE=./none.cfg) >"$work/out" 2>"$work/err"
    check "elsewhere: a missing machine is not named: $(cat "$work/err")" grep -qF "$there/./none.cfg: cannot open" "$work/err"
    [ -n "${EMULATED-}" ] || { cp "$experiment" "$there/" && (cd "$there" && ./experiment MODEL=own.csv MACHINE=own.cfg TIMING=0) >"$work/out" 2>"$work/err"; }
    check "elsewhere: without the project: $(cat "$work/err")" \
        [ -n "${EMULATED-}" -o "$(grep -c "experiment: the project's files .* start it in the project's folder" "$work/err")" -eq 1 ]
}

# A list of models: each model has its results, and a model that fails leaves the results of the others alone.
several() {
    local list
    cp tests/data/three.csv "$work/first.csv"
    cp tests/data/three.csv "$work/last.csv"
    list="MODEL=$work/first.csv, $work/last.csv"
    refuses "unknown model 'vgg61'" "MODEL=$work/first.csv,vgg61"
    refuses "two tables are called 'three'" MODEL=tests/data/three.csv,tests/data/three.csv
    refuses "no layer of googlenet matches 'nosuch'" MODEL=all LAYERS=nosuch
    "$experiment" MORE=1 "$list" MACHINE=toy TIMING=0 OBSERVE=0 STORE=no "RESULTS=$work/several" >"$work/out" 2>"$work/err"
    status=$?
    check "a list of models: $(tail -n 1 "$work/err")" [ "$status" -eq 0 ]
    check "the models of a list are not told apart" [ "$(grep '^====' "$work/out" | paste -sd ' ')" = \
        "==== model 1 of 2: first ==== model 2 of 2: last" ]
    check "a list does not leave each model's results" [ -s "$work/several/toy/first/report.html" -a -s "$work/several/toy/last/report.html" ]
    rm -r "$work/several"
    mkdir -p "$work/several/toy"
    touch "$work/several/toy/first" # where its folder should be
    "$experiment" "$list" MACHINE=toy TIMING=0 OBSERVE=0 STORE=no "RESULTS=$work/several" >"$work/out" 2>"$work/err"
    check "a list with a model that fails: exit status $?, not 2" [ $? -eq 2 ]
    check "the model that failed is not named: $(cat "$work/err")" grep -q '^experiment: of 2 models, these are not complete: first$' "$work/err"
    check "the model behind one that failed has no results" [ -s "$work/several/toy/last/layers.csv" ]
    rm -r "$work/several"
}

documentation() {
    check "experiment --help" sh -c "'$experiment' --help | grep -q MODEL"
}

# "host" is one machine: cachesim's host counts as the host recorded by experiment.
host() {
    local cachesim
    cachesim=$(dirname "$experiment")/cachesim
    if [ -n "${EMULATED:-}" ] || [ ! -x "$cachesim" ] || [ -e results/host/calibration/machine.cfg ]; then
        echo "cli: skipped: cachesim's host beside experiment's (emulated, not built, or calibrated here)"
        return
    fi
    "$experiment" MODEL=tests/data/three.csv LAYERS=pointwise TIMING=0 OBSERVE=0 ALGO=base STORE=no "RESULTS=$work/host" >"$work/out" 2>"$work/err"
    find "$work/host" -name machine.cfg -exec cp {} "$work/recorded.cfg" \;
    check "experiment records its host: $(tail -1 "$work/err")" [ -s "$work/recorded.cfg" ]
    "$cachesim" --machine host --output csv tests/golden/mix.din >"$work/its.csv" 2>"$work/err"
    "$cachesim" --machine "$work/recorded.cfg" --output csv tests/golden/mix.din >"$work/recorded.csv" 2>>"$work/err"
    check "cachesim counts on it: $(cat "$work/err")" grep -q '^all,all,L1,' "$work/its.csv"
    check "... what it counts on experiment's" cmp -s <(grep -v '^#' "$work/its.csv") <(grep -v '^#' "$work/recorded.csv")
    check "... and says where its values are from" grep -q '^# values: caches from hwloc; ' "$work/its.csv"
    HWLOC_SYNTHETIC='numa:1 pack:1 l1d:1(size=32768) core:1 pu:1' "$experiment" MODEL=tests/data/three.csv LAYERS=pointwise REPS=1 OBSERVE=0 ALGO=base STORE=no "RESULTS=$work/l1" >"$work/out" 2>"$work/err"
    check "a host that shows L1 only: exit status $?: $(tail -1 "$work/err")" [ -s "$work/l1/host/three,pointwise/layers.csv" ]
    check "... says what it guesses: $(cat "$work/err")" grep -q '^machine host: L1 ways guessed as .*: hwloc does not tell$' "$work/err"
    check "... and is timed" [ -n "$(columns "$work/l1/host/three,pointwise/layers.csv" measured_time_ns)" ]
}

picks() {
    local dir=$work/picks/zen3/three
    "$experiment" MODEL=tests/data/three.csv MACHINE=zen3 TIMING=0 OBSERVE=0 STORE=no ALGO=auto COLUMNS=layer,algo,simulated_cycles,measured_time_ns "RESULTS=$work/picks" >"$work/out" 2>"$work/err"
    check "ALGO=auto: exit status $?: $(tail -1 "$work/err")" [ -s "$dir/picks.csv" ]
    check "what has the fewest cycles is picked" cmp -s <(columns "$dir/picks.csv" layer picked | sort) \
        <(columns "$dir/layers.csv" layer algo simulated_cycles | awk '!($1 in least) || $3 < least[$1] { least[$1] = $3; by[$1] = $2 }
            END { for (l in by) print l, by[l] }' | sort)
    check "COLUMNS= prints the columns of layers.csv" cmp -s <(columns "$dir/layers.csv" layer algo simulated_cycles | awk '{ printf "%s %s %.7g -\n", $1, $2, $3 }') \
        <(sed -n '/^layer  *algo  *simulated_cycles/,/^$/p' "$work/out" | sed '1d; s/  */ /g; s/ $//; /^$/d')
    check "... among five algorithms" [ "$(grep -cv '^#' "$dir/layers.csv")" -eq 16 ]
    check "what it takes has a reason" [ "$(csv_rows "$dir/picks.csv" | grep -c 'not available: ')" -eq 3 ]
    check "the verdict says so: $(tail -3 "$dir/verdict.txt")" grep -q '^By simulated cycles the fastest: .* of 3 layers (picks.csv).' "$dir/verdict.txt"
    check "the verdict begins with cycles" grep -q ' By simulated cycles alone, on zen3: .* times as fast[ .].*No time has confirmed this' <(unwrapped "$dir/verdict.txt")
    check "model.csv sums cycles" near_sum "$dir"
    check "brackets give way to cycles" [ "$(columns "$dir/layers.csv" estimated_cycles | sort -u)" = "not_available:_simulated_cycles_stand_in_its_place" ]
    check "... in model.csv, too" [ "$(columns "$dir/model.csv" estimated_speedup | sort -u)" = "not_available:_simulated_cycles_stand_in_its_place" ]
    check "... and on the page" [ "$(grep -c 'all loads hit\|all loads wait\|in its place' "$dir/report.html")" -eq 0 ]
    check "the page has them" grep -q '<dt>SConv, by simulated cycles</dt><dd>[0-9.]*×' "$dir/report.html"
    check "the trace has them" [ "$(grep -c '"simulated_cycles":[0-9]' "$dir/trace.json")" -gt 15 ]
    prefetchers "$dir"
}

near_sum() { # near_sum FOLDER: model.csv has the sums of layers.csv
    awk 'NR == FNR { sum[$1] += $2; next } $1 in sum { n++; if (($2 - sum[$1]) ^ 2 > 1e-12 * $2 ^ 2) bad++ } END { exit bad || n != 5 }' \
        <(columns "$1/layers.csv" algo simulated_cycles) <(columns "$1/model.csv" algo simulated_cycles)
}

# By algorithm and level: lines brought, used, late, useless.
by_prefetcher() { columns "$1/prefetchers.csv" algo level brought covered late useless there asked |
    awk '{ k = $1 " " $2; b[k] += $3; u[k] += $4 + $5; l[k] += $5; n[k] += $6; bad += $7 != $8 - $3 && $7 } END { for (k in b) print k, b[k], u[k], l[k], n[k], bad + 0 }' | sort; }
by_tensor() { columns "$1/traffic.csv" algo level prefetch_fills useful_prefetches late_prefetches useless_prefetches |
    awk '$3 != "-" { k = $1 " " $2; b[k] += $3; u[k] += $4; l[k] += $5; n[k] += $6 } END { for (k in b) print k, b[k], u[k], l[k], n[k], 0 }' | sort; }

prefetchers() { # prefetchers FOLDER: what a run on zen3 left
    check "a row for each of six prefetchers" [ "$(grep -cv '^#' "$1/prefetchers.csv")" -eq $((1 + 3 * 5 * 6)) ]
    check "the verdict says what is covered" grep -q ' prefetches bring so many in time (prefetchers.csv): base [0-9]* % (stream [0-9]*, .*, software [0-9]*, late' <(unwrapped "$1/verdict.txt")
    for _ in kept taken; do
        "$experiment" MORE=1 MODEL=tests/data/three.csv MACHINE=zen3 TIMING=0 OBSERVE=0 "STORE=$work/picks.sqlite" ALGO=auto "RESULTS=$work/stored" >"$work/out" 2>"$work/err"
        check "kept counts of prefetchers: exit status $?" alike "$1/prefetchers.csv" "$work/stored/zen3/three/prefetchers.csv" columns_but '^there'
    done
    check "... come from the store" grep -q '^15 of 15 simulations from the store' "$work/out"
    sed 's/^stack = yes/stack = no/' sim/machines/zen3.cfg >"$work/stackless.cfg"
    "$experiment" MODEL=tests/data/three.csv "MACHINE=$work/stackless.cfg" TIMING=0 OBSERVE=0 STORE=no "RESULTS=$work/stackless" >"$work/out" 2>"$work/err"
    set -- "$work/stackless/zen3/three"
    check "prefetchers add up to what tensors do: $(diff <(by_prefetcher "$1") <(by_tensor "$1"))" cmp -s <(by_prefetcher "$1") <(by_tensor "$1")
    check "... in eight sums of algorithms and levels" [ "$(by_prefetcher "$1" | wc -l)" -eq 8 ]
}

# Element types: their words, an experiment of each, and machines that lack them.
types() {
    local type dir
    refuses "TYPE: must be f32, bf16, u8s8, s8s8 or int8, not 'f16'" MODEL=vgg16 TYPE=f16
    refuses "unknown micro-kernel 'avx1024' of type bf16; known: bf16_16x24__ref," MODEL=vgg16 TYPE=bf16 UKR=avx1024
    refuses "TYPE=bf16: plans are found by timing (SCONV_TUNE, SCONV_WISDOM) for f32 alone" MODEL=vgg16 TYPE=bf16 SCONV_TUNE=measure
    refuses "TYPE=u8s8: ADVICE=deep and ADVICE=judge plan f32 alone" MODEL=vgg16 TYPE=int8 ADVICE=deep
    printf '%s\n' "name,in_c,in_h,in_w,out_c,k_h,k_w" "long,80000,1,1,4,1,1" >"$work/long.csv"
    refuses "long.csv:2: layer 'long': sums of 80000 products of u8s8, up to 32640 each, may exceed 2^31 - 1" MODEL="$work/long.csv" TYPE=int8
    for type in bf16 u8s8; do
        dir=$work/$type/toy/three_$type
        run "$type" TYPE=$type REPS=2 RULER=0 ALGO=base,sconv,sconv_tuned,sconv_openblas,base_onednn || return
        check "$type: all but OpenBLAS's micro-kernel are timed and replayed" \
            [ "$(columns "$dir/layers.csv" algo ukr measured_time_ns simulated_loads type | awk -v t="$type" '$1 !~ /openblas|onednn/ && $2 ~ "^" t && $3 > 0 && $4 > 0 && $5 == t' | wc -l)" -eq 12 ]
        check "$type: oneDNN's GEMM is timed and never replayed, or says why not" [ "$(grep 'base_onednn,' "$dir/layers.csv" |
            grep -c "the nest of its GEMM is not known here\|oneDNN cannot be loaded\|has no product of $type\|oneDNN multiplies bf16 with\|sums of bytes saturate")" -eq 3 ]
        check "$type: the reason for OpenBLAS's" [ "$(grep -c 'sconv_openblas,.*it computes f32 alone (TYPE=f32)' "$dir/layers.csv")" -eq 3 ]
        check "$type: the verdict names type and GEMM" grep -q "Elements are $type. Base is im2col of $type and this project's own GEMM with SConv's micro-kernel $type" \
            <(unwrapped "$dir/verdict.txt")
        check "$type: the answer compares with our GEMM" grep -q 'im2col + our GEMM' <(unwrapped "$dir/verdict.txt")
        check "$type: the page" grep -q "three_$type" "$dir/report.html"
        run "$type-power10" TYPE=$type MACHINE=power10 TIMING=0 || return
        check "$type: a machine without the type replays the portable kernel, and says so" \
            grep -q "$type""_16x24__ref (portable: no other of this type is known for the machine)" <(unwrapped "$work/$type-power10/power10/three_$type/verdict.txt")
    done
    check "a lane of bytes has more channels: fewer loads" [ "$(sum_of simulated_loads "$work/u8s8/toy/three_u8s8/layers.csv")" -lt "$(sum_of simulated_loads "$work/bf16/toy/three_bf16/layers.csv")" ]
}

# run_part NAME: three parts run without figures, which would take most of the time
run_part() {
    case $1 in
    owners | kills | outputs) with_fake gnuplot "sh -c 'exit 77'" "$1" ;;
    options | variables | tables | documentation | elsewhere | several | places | figures | interruption | results | names | guests | observed | host | picks | types) "$1" ;;
    *) bad "there is no part '$1'" ;;
    esac
}

[ $# -gt 0 ] || set -- options variables tables documentation elsewhere several places owners figures interruption kills outputs results names guests observed host picks types
for part; do
    run_part "$part"
done
echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
