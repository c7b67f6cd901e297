#!/usr/bin/env bash
# All forms of generated code beside the library: each distinct layer of MODEL on MACHINE, in a process of its own, timed in ROUNDS
# (sconv-gen's TIME); then one code.csv of all, and code.awk's summary. A layer that has its code.csv is not timed again, so
# that a run which was stopped goes on. BUILD has the program; RESULTS is the experiments'. Run from the project's folder.
set -euf
. .ci/signals

IFS=,
machine=${MACHINE:-host}
folder=${RESULTS:-results}/code
cell=$folder/$machine/emit
rows=()
distinct() { # distinct MODEL...: "model:layer" of each shape once
    local model
    for model; do
        awk -F, -v "model=$model" '/^#/ { next } columns++ { name = $1; sub(/^[^,]*,/, ""); print model ":" name "\t" $0 }' "experiments/models/$model.csv"
    done | awk -F'\t' '!seen[$2]++ { print $1 }'
}
# shellcheck disable=SC2086  # models are words
distinct ${MODEL:-googlenet,inceptionv2,resnet18,resnet50,resnet152,squeezenet,vgg16} >"$BUILD/code.layers"
while read -r layer; do
    csv=$cell/${layer//[:\/]/\~}/code.csv
    [ -e "$csv" ] || waited "$BUILD/sconv-gen" "LAYER=$layer" "MACHINE=$machine" "UKR=${UKR:-}" "TIME=${ROUNDS:-15}" "RESULTS=$folder" >"$BUILD/code.log" 2>&1 ||
        { tail -n 5 "$BUILD/code.log" >&2 && exit 1; }
    grep -m 1 "$(printf '%s' "${layer#*:}" | head -c 28)" "$BUILD/code.log" || true
    rows+=("$csv")
done <"$BUILD/code.layers"
{
    sed '/^layer,/q' "${rows[0]}"
    printf '%s\n' "${rows[@]}" | while read -r csv; do
        name=${csv%/code.csv}
        name=${name##*/}
        sed "1,/^layer,/d; s|^|${name%%\~*}:|" "$csv"
    done
} >"$cell/code.csv"
awk -f experiments/emit/code.awk "$cell/code.csv"
echo "tables: $cell/code.csv"
