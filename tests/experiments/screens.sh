#!/usr/bin/env bash
# The screens of all questions, beside those in tests/golden/screens. Machines are simulated and kernels named, so that the numbers are
# every computer's. UPDATE=1 writes the screens anew, to be read before they are committed.
cd "$(dirname "$0")/../.." || exit 1
build=${BUILD:-build}
program=$build/experiment
. tests/check.bash
golden=tests/golden/screens

screen() { # screen NAME QUESTION ARGUMENTS...: the question's output is the screen NAME, of at most 25 lines and 100 columns
    local name=$1 question=$2
    shift 2
    "$build/$question" "RESULTS=$work/results" "$@" >"$work/out" 2>"$work/err" </dev/null
    check "$name: exit status $?: $(tail -1 "$work/err")" [ -s "$work/out" ]
    sed -i "s#$work/##g; s#${work//\//\~}~##g" "$work/out"
    check "$name: more than 25 lines: $(wc -l <"$work/out")" [ "$(wc -l <"$work/out")" -le 25 ]
    check "$name: more than 100 columns: $(LC_ALL=C.UTF-8 grep -E '.{101}' "$work/out" | head -1)" [ -z "$(LC_ALL=C.UTF-8 grep -E '.{101}' "$work/out")" ]
    [ -z "${UPDATE-}" ] || cp "$work/out" "$golden/$name.txt"
    check "$name: $(diff "$golden/$name.txt" "$work/out" | sed -n 2,5p)" cmp -s "$golden/$name.txt" "$work/out"
}

# zen3 has a core, so that cycles are compared; clx4208 has none: misses are.
fixed=(CORE=Haswell TIMING=0 OBSERVE=0 STORE=no)
screen experiment experiment MODEL=tests/data/three.csv MACHINE=zen3 UKR=f32_16x24__avx512 "${fixed[@]}"
screen experiment_misses experiment MODEL=tests/data/three.csv MACHINE=clx4208 UKR=f32_16x24__avx512 "${fixed[@]}"
screen experiment_layers experiment MODEL=squeezenet MACHINE=zen3 UKR=f32_16x24__avx512 "${fixed[@]}"
screen experiment_models experiment MODEL=tests/data/three.csv,experiments/models/polydl/alexnet.csv MACHINE=zen3 UKR=f32_16x24__avx512 "${fixed[@]}"
screen experiment_columns experiment MODEL=tests/data/three.csv MACHINE=zen3 LAYERS=pointwise UKR=f32_16x24__avx512 COLUMNS=layer,algo,simulated_cycles "${fixed[@]}"

# ---- a network: with names, without, and without a core ----

network=(TIMING=0 PEER=no SIMULATE=sequence)
screen network network MODEL=tests/data/small.onnx INPUT=3x32x32 MACHINE=zen3 UKR=f32_16x24__avx512 "${network[@]}"
screen network_memory network MODEL=tests/data/small.onnx INPUT=3x32x32 MACHINE=toy UKR=f32_16x24__avx512 TIMING=0 PEER=no
screen network_macs network MODEL=tests/data/small.onnx INPUT=3x32x32 MACHINE=toy ALGO=base,sconv TIMING=0 PEER=no SIMULATE=no

# ---- two runs: simulated cycles, misses alone, and times ----

vgg16=results/reference/clx4208/vgg16
for latency in 380 500; do
    sed "s/^memory_latency_cycles = 380 /memory_latency_cycles = $latency /" sim/machines/zen3.cfg >"$work/m.cfg"
    "$program" MODEL=tests/data/three.csv "MACHINE=$work/m.cfg" UKR=f32_16x24__avx512 "RESULTS=$work/at$latency" "${fixed[@]}" >"$work/out" 2>"$work/err"
    mv "$work/at$latency/zen3/three" "$work/of$latency"
done
screen compare compare "A=$work/of380" "B=$work/of500"
screen compare_misses compare "A=$work/results/zen3/three" "B=$work/results/clx4208/three"
cp -r $vgg16 "$work/slower"
for table in samples.csv:time_ns layers.csv:measured_time_ns; do # a tenth slower
    awk -F, -v OFS=, -v name="${table#*:}" '/^#/ { print; next } !at { for (i = 1; i <= NF; i++) if ($i == name) at = i; print; next }
        /,sconv_ws,/ { $at = sprintf("%.0f", $at * 1.1) } { print }' $vgg16/"${table%:*}" >"$work/slower/${table%:*}"
done
screen compare_times compare A=$vgg16 "B=$work/slower" 'FAIL_IF=speedup<-3%'

# ---- sweeps: cycles, an estimate that stays equal, and several models ----

sweep=(UKR=f32_16x24__avx512 CORE=Haswell STORE=no MODEL=tests/data/three.csv)
screen sweep sweep "${sweep[@]}" MACHINE=zen3 VARY='L2.size=256K..1M*2 L1.size=16K,32K'
screen sweep_equal sweep "${sweep[@]}" MACHINE=clx4208 ALGO=sconv_is VARY='L2.size=256K..1M*2'
screen sweep_models sweep "${sweep[@]}" MACHINE=toy MODEL=tests/data/three.csv,tests/data/blocked.csv VARY='nc=8,16 k2=2,4'

# ---- papers ----

screen paper paper MODEL=tests/data/three.csv TIMING=0 OBSERVE=0
screen vyasa vyasa VARY=0
screen polydl polydl MODEL=tests/data/blocked.csv MACHINE=toy UKR=avx512 TIMING=0 STORE=no

# ---- calibrations: recorded times and counts ----

screen calibrate calibrate MACHINE=spr
screen calibrate_counts calibrate MACHINE=zen3

# ---- choices by Eq. 6, and by recorded times; cycles of a real machine ----

screen jury jury TABLES=tests/data/jury MACHINE=zen3 UKR=f32_16x24__avx512 CORE=Haswell TIMING=0 STORE=no
screen judge judge MODEL=tests/data/three.csv,experiments/models/polydl/alexnet.csv MACHINE=power10 STORE=no
screen judge_layers judge MODEL=squeezenet MACHINE=clx4208 STORE=no
screen study study MODEL=squeezenet LAYERS='fire[29]/*' SAMPLE=2
screen validate validate MODEL=squeezenet LAYERS='fire2/*'

# A pipe that closes early is no error.
"$program" MODEL=tests/data/three.csv MACHINE=zen3 UKR=f32_16x24__avx512 "RESULTS=$work/results" "${fixed[@]}" 2>"$work/err" | head -2 >"$work/out"
check "| head: exit status ${PIPESTATUS[0]}: $(cat "$work/err")" [ "${PIPESTATUS[0]}" -eq 0 ]
check "output.txt lacks the verdict" grep -q '^VERDICT' "$work/results/zen3/three/output.txt"
"$program" MODEL=tests/data/three.csv MACHINE=zen3 UKR=f32_16x24__avx512 MORE=1 "RESULTS=$work/results" "${fixed[@]}" >"$work/out" 2>"$work/err"
check "MORE=1 lacks the verdict" grep -q '^VERDICT' "$work/out"
finish
