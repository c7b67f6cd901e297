#!/usr/bin/env bash
# Advice as a user meets it: the words of ADVICE, the first command, and the judgement by the clock. Run from the project's folder; BUILD has
# the programs (default build).
set -u

program=${BUILD:-build}/experiment
# shellcheck source=tests/check.bash
. tests/check.bash

refuses "ADVICE: must be 0, known, deep or judge, not 'deeper'" MODEL=tests/data/three.csv ADVICE=deeper

ask() { # ask WORDS...: an experiment on small layers, whose output is in $work/out
    "$program" MODEL=tests/data/three.csv OBSERVE=0 STORE=no TIMING=0 MORE=1 "RESULTS=$work/results" "$@" >"$work/out" 2>"$work/err" </dev/null
    check "$*: exit status $?: $(tail -1 "$work/err")" [ -s "$work/out" ]
}

# ---- what is advised ----

file=$work/results/zen3/three/advice.json
fixed=(MACHINE=zen3 UKR=f32_16x24__avx512 CORE=Haswell)
ask "${fixed[@]}"
check "advice.json has the schema" grep -q '"schema": "advice/1"' "$file"
command=$(sed -n 's/.*"command": "make experiment \(.*\)".*/\1/p' "$file" | head -1)
if [ -n "$command" ]; then # none without a table of this compiler's stacks
    read -ra words <<<"$command"
    ask "${words[@]}" # with a model in place of the first one
    check "the first command runs: $command" grep -q "1 convolution\|three" "$work/out"
fi
ask "${fixed[@]}" ADVICE=0
check "no advice was asked for" grep -q '"why_none": "ADVICE=0 was asked for"' "$file"
ask "${fixed[@]}" CACHE=network
check "a network's layers depend on each other" grep -q '"why_none": "with CACHE=network' "$file"

# ---- advice by the clock: on any computer, and whatever the times are ----

ask LAYERS=pointwise ADVICE=judge REPS=2 RULER=0 # without an interval
check "what has no interval says why" grep -q 'fewer than 4 rounds make no interval' "$work"/results/host/three,pointwise/advice_judged.csv
ask LAYERS=pointwise ADVICE=judge REPS=4 RULER=0
check "the judgement has a line for each rule: $(tail -8 "$work/out")" [ "$(grep -cE '^(the first advice|always sconv_(tuned|ws)) ' "$work/out")" -ge 3 ]
check "a row for each layer" grep -q '^three,2,pointwise,sconv_' "$work"/results/host/three,pointwise/advice_judged.csv
finish
