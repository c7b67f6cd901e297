#!/usr/bin/env bash
# Files of an experiment for viewers: trace.json and callgrind.out.<algorithm>. Run from the project's folder; BUILD has
# the programs (default build). Checks by a JSON parser and by callgrind_annotate are left out where the programs are
# missing.
set -u
export LC_ALL=C # layers may be called by any bytes

experiment=${BUILD:-build}/experiment
program=$experiment
# shellcheck source=tests/check.bash
. tests/check.bash

# Figures would take most of the time.
mkdir "$work/fake"
printf '#!/bin/sh\nexit 77\n' >"$work/fake/gnuplot"
chmod +x "$work/fake/gnuplot"
PATH=$work/fake:$PATH

run() { # run NAME ARGUMENTS...: succeeds; its results are in $work/NAME
    local name=$1
    shift
    "$experiment" MORE=1 OBSERVE=0 STORE=no RULER=0 CORE=Haswell "RESULTS=$work/$name" "$@" >"$work/$name.out" 2>"$work/err" </dev/null && ok && return
    bad "$*: $(tail -n 2 "$work/err")"
    return 1
}

# ---- trace.json ----

parses() { # parses FILE: it is JSON
    if command -v jq >/dev/null; then
        jq -e '(.traceEvents | type) == "array" and (.otherData | type) == "object"' "$1" >/dev/null
    elif command -v node >/dev/null; then
        node -e 'const t = JSON.parse(require("fs").readFileSync(process.argv[1], "utf8")); process.exit(Array.isArray(t.traceEvents) ? 0 : 1)' "$1"
    else
        echo "trace: skipped: JSON by a parser (neither jq nor node)"
    fi
}

# times FILE PROCESS: "row ts dur" of each event with a duration; an event is a line
times() {
    sed -nE 's/^\{"ph":"X","name":".*[^\\]","pid":'"$2"',"tid":([0-9]+),"args":\{"op_name":"Conv",.*\},"cat":"Node","ts":([-+.0-9e]+),"dur":([-+.0-9e]+)\},?$/\1 \2 \3/p' "$1"
}

# sums FILE PROCESS: "algorithm us" of each row
sums() {
    awk 'NR == FNR { name[$1] = $2; next } { n[$1] += $3 } END { for (row in n) printf "%s %.9g\n", name[row], n[row] }' \
        <(sed -nE 's/^\{"ph":"M","name":"thread_name","pid":'"$2"',"tid":([0-9]+),"args":\{"name":"([^"]*)"\}\},?$/\1 \2/p' "$1") <(times "$1" "$2") | sort
}

# near FILE FILE: lines of a name and a number; equal names, and numbers equal but for rounding
near() {
    [ -s "$1" ] && [ "$(cut -d' ' -f1 "$1")" = "$(cut -d' ' -f1 "$2")" ] &&
        paste -d' ' "$1" "$2" | awk '{ d = $2 - $4; if (d < 0) d = -d; if (d > 1e-6 * $4) bad++ } END { exit bad > 0 }'
}

# per_algo CSV COLUMN SCALE: "algorithm sum" of the algorithms with the column's number in every row
per_algo() {
    columns "$1" algo "$2" | awk -v scale="$3" '{ if ($2 ~ /^[0-9]/) n[$1] += $2; else bad[$1] = 1 }
        END { for (a in n) if (!(a in bad)) printf "%s %.9g\n", a, n[a] * scale }' | sort
}

one_behind_the_other() { # one_behind_the_other FILE PROCESS: nothing is negative, no two of a row overlap, and there are some
    times "$1" "$2" | awk '{ if ($2 < 0 || $3 < 0 || $2 < end[$1] - 1e-9 * end[$1]) bad++; end[$1] = $2 + $3; n++ } END { exit bad || !n }'
}

schema() { # schema FILE: every event has what its kind must have
    local body
    body=$(sed '1d; /^\],$/,$d' "$1")
    check "$1: what is no event" [ -z "$(grep -vE '^\{"ph":"[XMC]","name":".+","pid":[12],"tid":[0-9]+,"args":\{.*\}[,}]' <<<"$body")" ]
    check "$1: an event without a time" [ -z "$(grep '^{"ph":"[XC]"' <<<"$body" | grep -vE ',"ts":[.0-9e+-]+(,"dur":[.0-9e+-]+)?\},?$')" ]
    check "$1: an event with a duration lacks a key" [ "$(grep -c '^{"ph":"X"' <<<"$body")" -eq "$(grep -c '"op_name":"Conv","provider":".*","node_index":"[0-9]*","activation_size":"[0-9]*","parameter_size":"[0-9]*","output_size":"[0-9]*","input_type_shape":\[{"float":\[[0-9,]*\]},{"float":\[[0-9,]*\]}\],"output_type_shape":\[{"float":\[[0-9,]*\]}\]' <<<"$body")" ]
    check "$1: no JSON" parses "$1"
    check "$1: not as tests/data/trace.schema.json says: $(tail -n 1 "$work/schema")" fits "$1"
    opens "$1"
}

# Skipped checks are named once.
: >"$work/schema"
command -v jsonschema >/dev/null || echo "trace: skipped: the JSON schema (package python3-jsonschema)"
chromium=$(command -v chromium || command -v chromium-browser || true)
[ -n "$chromium" ] || echo "trace: skipped: not loaded in a browser: there is no chromium (package chromium)"

fits() { # fits FILE: its schema allows it
    ! command -v jsonschema >/dev/null || jsonschema -i "$1" tests/data/trace.schema.json >"$work/schema" 2>&1
}

opens() { # opens FILE: a browser loads it, and draws its slices
    [ -n "$chromium" ] || return
    {
        printf '<html><body><script type="application/json" id="trace">'
        sed 's/</\\u003c/g' "$1"
        printf '</script><script>'
        cat tests/experiments/trace_browser.js
        printf '</script></body></html>'
    } >"$work/trace.html"
    timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$work/profile" --virtual-time-budget=5000 --dump-dom \
        "file://$work/trace.html" 2>"$work/console" | sed -n 's/.*<html[^>]* data-found="\([^"]*\)".*/\1/p' | tr ';' '\n' >"$work/found"
    check "$1: nothing was tried in the browser: $(tail -n 1 "$work/console")" grep -qx 'end of the trial' "$work/found"
    check "$1: in the browser: $(grep -m 1 '^failed' "$work/found")" bash -c "! grep -q '^failed' '$work/found'"
}

counted() { # counted FILE NAME KEY: "algorithm sum" of a counter
    sed -nE 's/^\{"ph":"C","name":"([a-z_]+): '"$2"'".*"'"$3"'":([0-9]+)[,}].*/\1 \2/p' "$1" | awk '{ n[$1] += $2 } END { for (a in n) printf "%s %.9g\n", a, n[a] }' | sort
}

# ---- callgrind.out ----

own_totals() { # own_totals FILE: the sums of the lines that are no calls
    awk '/^events:/ { n = NF - 1 } /^calls=/ { getline; next } /^[0-9]/ { for (i = 2; i <= NF; i++) sum[i] += $i }
        END { for (i = 2; i <= n + 1; i++) printf "%d%s", sum[i], i <= n ? " " : "\n" }' "$1"
}

inclusive_totals() { # inclusive_totals FILE: what the model's calls cost
    awk '/^events:/ { n = NF - 1 } /^fn=/ { is_model = /^fn=\(1\) / } /^calls=/ { getline; if (is_model) for (i = 2; i <= NF; i++) sum[i] += $i }
        END { for (i = 2; i <= n + 1; i++) printf "%d%s", sum[i], i <= n ? " " : "\n" }' "$1"
}

annotated() { # annotated FILE: the totals that callgrind_annotate prints
    callgrind_annotate --threshold=100 "$1" 2>"$work/err" | sed -n 's/ PROGRAM TOTALS.*//; T; s/([^)]*)//g; s/,//g; s/  */ /g; s/^ //; s/ $//; p'
}

# tabled FOLDER ALGO: the numbers of layers.csv and traffic.csv, in the order of the file
tabled() {
    local dir=$1 algo=$2 level
    columns "$dir/layers.csv" algo simulated_loads simulated_stores | awk -v a="$algo" '$1 == a { l += $2; s += $3 } END { printf "%d %d", l, s }'
    for level in $(columns "$dir/levels.csv" algo level | awk -v a="$algo" '$1 == a { print $2 }'); do
        columns "$dir/traffic.csv" algo level load_misses read_misses write_misses |
            awk -v a="$algo" -v l="$level" '$1 == a && $2 == l { x += $3; y += $4; z += $5 } END { printf " %d %d %d", x, y, z }'
    done
    columns "$dir/layers.csv" algo simulated_memory_read_lines simulated_memory_written_lines |
        awk -v a="$algo" '$1 == a { r += $2; w += $3 } END { printf " %d %d\n", r, w }'
}

profile() { # profile FOLDER ALGO
    local file=$1/callgrind.out.$2 expected level
    expected=$(tabled "$1" "$2")
    check "$file: its lines are not the tables'" [ "$(own_totals "$file")" = "$expected" ]
    check "$file: the model's calls are not the tables'" [ "$(inclusive_totals "$file")" = "$expected" ]
    check "$file: the totals are not the tables'" [ "$(sed -n 's/^totals: //p' "$file")" = "$expected" ]
    level=$(columns "$1/levels.csv" algo simulated_load_misses | awk -v a="$2" '$1 == a { print $2; exit }')
    check "$file: L1's load misses are not those of levels.csv" [ "$(own_totals "$file" | cut -d' ' -f3)" = "$level" ]
    command -v callgrind_annotate >/dev/null || return
    check "$file: callgrind_annotate" [ "$(annotated "$file")" = "$expected" ]
    check "$file: callgrind_annotate complains: $(cat "$work/err")" [ ! -s "$work/err" ]
    sed '/^totals:/d' "$file" >"$work/untotalled"
    check "$file: callgrind_annotate, by its own sums" [ "$(annotated "$work/untotalled")" = "$expected" ]
}

profiles() { # profiles FOLDER: one of each algorithm that was replayed, and no other
    local algo
    check "$1: other profiles than algorithms" [ "$(cd "$1" && printf '%s\n' callgrind.out.* | sort | paste -sd ' ')" = \
        "$(per_algo "$1/layers.csv" simulated_loads 1 | sed 's/ .*//; s/^/callgrind.out./' | sort | paste -sd ' ')" ]
    for algo in "$1"/callgrind.out.*; do
        profile "$1" "${algo##*callgrind.out.}"
    done
}

command -v callgrind_annotate >/dev/null || echo "trace: skipped: callgrind_annotate (package valgrind)"

# ---- a machine without a clock ----

if run toy MODEL=tests/data/three.csv MACHINE=toy TIMING=0; then
    dir=$work/toy/toy/three
    schema "$dir/trace.json"
    check "toy: has events" [ -z "$(times "$dir/trace.json" '[12]')" ]
    check "toy: does not say why nothing is estimated" grep -q '"why_not_estimated":"the machine.s file does not state mac_rows' "$dir/trace.json"
    check "toy: does not say why nothing is measured" grep -q '"why_not_measured":"TIMING=0 was asked for"' "$dir/trace.json"
    check "toy: the files are not listed" [ "$(grep -c '/trace\.json$\|/callgrind\.out\.' "$work/toy.out")" -eq 5 ]
    profiles "$dir"
fi

# ---- a machine with a clock, and odd names ----

{
    head -2 tests/data/three.csv
    printf '"(3) ""<script>alert(1)</script>"" %%s%%n \\ pid,tid",3,32,32,30,7,7,2,2,3,3,3,3,1,1,1\n'
    printf '%0300d,30,16,16,48,1,1,1,1,0,0,0,0,1,1,1\n' 7
    printf 'caf\xe9 \xc3\xa9,48,16,16,48,3,3,1,1,0,1,2,1,48,1,1\n'
    printf 'fn=(1) x,30,16,16,48,1,1,1,1,0,0,0,0,1,1,1\n'
} >"$work/odd.csv"
if run clock "MODEL=$work/odd.csv" MACHINE=clx4208 TIMING=0; then
    dir=$work/clock/clx4208/odd
    clock_mhz=$(awk '$1 == "clock_ghz" { print $3 * 1000 }' "$dir/machine.cfg")
    schema "$dir/trace.json"
    check "estimated: events overlap, or there are none" one_behind_the_other "$dir/trace.json" 1
    per_algo "$dir/layers.csv" estimated_cycles "$(awk -v f="$clock_mhz" 'BEGIN { printf "%.17g", 1 / f }')" >"$work/expected"
    sums "$dir/trace.json" 1 >"$work/sums"
    check "estimated: sums are not those of layers.csv: $(paste -sd ' ' "$work/sums")" near "$work/sums" "$work/expected"
    counted "$dir/trace.json" "load misses" L1 >"$work/sums"
    columns "$dir/levels.csv" algo level simulated_load_misses | awk '$1 != "sconv" && $2 == "L1" { print $1, $3 }' | sort >"$work/expected"
    check "estimated: load misses are not those of levels.csv" near "$work/sums" "$work/expected"
    counted "$dir/trace.json" "memory lines" read >"$work/sums"
    per_algo "$dir/layers.csv" simulated_memory_read_lines 1 >"$work/expected"
    check "estimated: memory lines are not those of layers.csv" near "$work/sums" "$work/expected"
    check "estimated: a name is not escaped" grep -qF '"layer":"(3) \"<script>alert(1)</script>\" %s%n \\ pid,tid"' "$dir/trace.json"
    check "estimated: a measured process" [ -z "$(grep '"pid":2' "$dir/trace.json")" ]
    profiles "$dir"
fi

# ---- timed ----

if run timed MODEL=tests/data/three.csv MACHINE=toy REPS=2; then
    dir=$work/timed/toy/three
    schema "$dir/trace.json"
    check "measured: events overlap, or there are none" one_behind_the_other "$dir/trace.json" 2
    per_algo "$dir/layers.csv" measured_time_ns 1e-3 >"$work/expected"
    sums "$dir/trace.json" 2 >"$work/sums"
    check "measured: sums are not those of layers.csv: $(paste -sd ' ' "$work/sums" "$work/expected")" near "$work/sums" "$work/expected"
    check "measured: SConv in its phases" [ "$(grep -c '^{"ph":"X".*"pid":2,.*"provider":"sconv_is".*"phase":"micro_kernel"' "$dir/trace.json")" -eq 3 ]
    profiles "$dir"
fi

# ---- refusals ----

if command -v jsonschema >/dev/null && [ -e "$work/clock/clx4208/odd/trace.json" ]; then
    for slip in 's/"ph":"M"/"ph":"Q"/' 's/"traceEvents"/"events"/'; do
        sed "$slip" "$work/clock/clx4208/odd/trace.json" >"$work/bad.json"
        check "the schema allows $slip" bash -c "! jsonschema -i '$work/bad.json' tests/data/trace.schema.json 2>'$work/schema'"
    done
    sed 's/"activation_size":"[0-9]*",//' "$work/clock/clx4208/odd/trace.json" >"$work/bad.json"
    check "the schema allows a node without a size" bash -c "! jsonschema -i '$work/bad.json' tests/data/trace.schema.json 2>'$work/schema'"
fi

# ---- cachesim ----

timeline=$work/timeline.json
printf 'L 1000 4 0 0\nS 2000 4 0 1\nL 100000 8 1 1\nL 1000 4 0 2\n' >"$work/phases.text"
check "cachesim: $(tail -n 1 "$work/err")" "${BUILD:-build}/cachesim" --machine toy --timeline "$timeline" --output json "$work/phases.text" >"$work/report" 2>"$work/err"
check "cachesim: not as the schema says: $(tail -n 1 "$work/schema")" fits "$timeline"
opens "$timeline"
check "cachesim: a slice for each phase" [ "$(grep -o '"ph":"X","name":"phase [0-9]"' "$timeline" | grep -o '[0-9]"' | paste -sd ' ')" = '0" 1" 2"' ]
check "cachesim: what a phase missed: $(grep '"phase 1"' "$timeline")" grep -q '"name":"phase 1".*"loads":1,"stores":1,"L1_load_misses":1,.*"ts":0.001,"dur":0.002' "$timeline"
awk 'BEGIN { for (i = 0; i < 3000000; i++) printf "0 %x 4\n", i * 4 }' </dev/null >"$work/long.din"
"${BUILD:-build}/cachesim" --machine toy --timeline "$timeline" --output csv "$work/long.din" >"$work/report" 2>"$work/err"
check "cachesim: counters do not add up to the misses" [ "$(grep '"load misses"' "$timeline" | sed 's/.*"L1":\([0-9]*\).*/\1/' | awk '{ n += $1 } END { print n }')" = 187500 ]
check "cachesim: as many points as there is room for: $(grep -c '"load misses"' "$timeline")" [ "$(grep -c '"load misses"' "$timeline")" -le 2050 ]
check "cachesim: a file that cannot be written" bash -c "! '${BUILD:-build}/cachesim' --machine toy --timeline no/such/folder '$work/phases.text' >'$work/report' 2>'$work/err'"
check "cachesim: ... is named" grep -q 'no/such/folder, No such file' "$work/err"
check "cachesim: a timeline of a grid" bash -c "! '${BUILD:-build}/cachesim' --machine toy --vary L1.size=1K,2K --timeline x '$work/phases.text' >'$work/report' 2>'$work/err'"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
