#!/usr/bin/env bash
# Plans and generated code as a compiler's engineer meets them. Run from the project's folder; PLAN and EXPERIMENT are the
# programs (default those in build/).
set -u

plan=${PLAN:-build/sconv-plan}
experiment=${EXPERIMENT:-build/experiment}
program=$plan
# shellcheck source=tests/check.bash
. tests/check.bash

# ---- sconv-plan ----

refuses "LAYER is missing"
refuses "conv9" --layer vgg16:conv9
refuses "no name behind ':'" --layer vgg16:
refuses "pdp11" --layer vgg16:conv1_1 --machine pdp11
refuses "the value is missing" --layer
refuses "did you mean" --layers=vgg16 --machin=toy
refuses "not 'base'" --layer vgg16:conv1_1 --algo base
refuses "is no SConv" --layer g32ic32ih14oc32kh3ph1 --machine clx4208 --ukr avx512 --algo sconv_tuned
refuses "cannot write" --layer vgg16:conv1_1 --machine toy --json "--out=$work/no/such/folder/p.json"

"$plan" --machine clx4208 --layer vgg16:conv3_1 >"$work/out"
check "a plan is one line for people" grep -qx 'conv3_1 *f32_16x24__avx512 ws nc=16 k2=49 k3=11 packed' "$work/out"
check "the schema is in the room's README" \
    cmp -s <(sed '1,/^<!-- schema -->$/d; /^<!-- end -->$/,$d' experiments/emit/README.md) <("$plan" --schema)

# ---- PLAN=file ----

program=$experiment
three="MODEL=tests/data/three.csv MACHINE=clx4208 TIMING=0 OBSERVE=0"
"$plan" --machine clx4208 --model tests/data/three.csv --json --out "$work/p.json"
with() { # with EXPRESSION: the file of plans with something changed
    sed -E "$1" "$work/p.json" >"$work/q.json"
}
# shellcheck disable=SC2086  # arguments are words
try() { "$experiment" $three "RESULTS=$work/results" "$@" >"$work/out" 2>"$work/err"; }
# shellcheck disable=SC2086
refuses_plan() { refuses "$1" $three "PLAN=$work/q.json"; }

with ''
check "a plan is replayed: $(tail -n 1 "$work/err")" try ALGO=sconv "PLAN=$work/q.json"
counts() { # counts ALGO: the simulated counts of its layers
    csv_rows "$work/results/clx4208/three/layers.csv" | awk -F, -v algo="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) { col[$i] = i; if ($i ~ /^sim_/) sim[i] = 1 } next }
        $col["algo"] == algo { line = $col["layer"]; for (i = 1; i <= NF; i++) if (i in sim) line = line "," $i; print line }'
}
check "as what CSA chose, it has the same counts" cmp -s <(counts sconv_plan) <(counts sconv_ws)
rm -rf "$work/results"
with 's/"n_c": 3,/"n_c": 4,/'
refuses_plan "q.json: plans[0]: tiling.n_c is 4, must be from 1 to 3: a group's channels"
with '0,/"in_tiles": [0-9]+/s//"in_tiles": 5/'
refuses_plan "q.json: plans[0]: tiling.in_tiles is 5, but its layer and decisions give"
with '0,/"out_c": [0-9]+/s//"out_c": 31/'
refuses_plan "q.json: plans[0]: "
with 's/f32_16x24__avx512/f32_7x7__avx512/'
refuses_plan "micro_kernel.name is 'f32_7x7__avx512'"
refuses "PLAN has no plan of its shape" MODEL=vgg16 LAYERS=conv1_1 MACHINE=toy TIMING=0 "PLAN=$work/p.json"
with 's/,$//'
refuses_plan "q.json:3: "
refuses "needs PLAN=file" MODEL=tests/data/three.csv MACHINE=toy TIMING=0 ALGO=sconv_plan
refuses "cannot open" MODEL=tests/data/three.csv MACHINE=toy TIMING=0 PLAN=no/such.json

echo "emit: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
