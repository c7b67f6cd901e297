#!/usr/bin/env bash
# Prints one SHA-256 of all simulated counts, and checks the hash beside hash.txt: machines, micro-kernels, algorithms and layers are
# fixed, and every access is replayed, so that each computer, compiler and build must find equal counts. README.md of this folder.
set -euo pipefail

build=${BUILD:-build} known=experiments/artifact/hash.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# replay NAME MODEL OPTION...: appends the counts of a model's layers to $work/counts
replay() {
    local name=$1 model=$2 machine=$3
    shift 3
    "$build/bench" experiment MODEL="$model" MACHINE="$machine" "$@" TIMING=0 OBSERVE=0 SAMPLE=exact CLASSES=machine STORE=no \
        ADVICE=0 COMMIT=hash "RESULTS=$work/$name" >"$work/output" 2>&1 || { tail -n 3 "$work/output" >&2; exit 1; }
    for table in "$work/$name"/*/*/traffic.csv; do
        echo "$name ${table#"$work/$name/"}"
        grep -v '^#' "$table"
        # The clock's cycles, where the machine has a core.
        grep -v '^#' "${table%traffic.csv}layers.csv" | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
            { print $at["layer"], $at["algo"], $at["simulated_cycles"] }'
    done >>"$work/counts"
}

schedules=base,sconv_is,sconv_ws
replay xeon "${MODEL:-all}" clx4208 UKR=f32_16x24__avx512 CORE=SkylakeX ALGO=$schedules
replay power "${MODEL:-all}" power10 UKR=f32_16x8__mma CORE=POWER10 ALGO=$schedules
replay zen "${MODEL:-squeezenet}" zen3 UKR=f32_16x6__avx2 CORE=Haswell ALGO=$schedules

hash=$(sha256sum <"$work/counts")
hash=${hash%% *}
echo "$hash  $(wc -l <"$work/counts") lines of counts"
[ "${1:-}" != write ] || echo "$hash" >"$known"
[ -n "${MODEL:-}" ] || [ "$hash" = "$(cat "$known")" ] || { echo "the hash is not the one of $known" >&2; exit 1; }
