#!/usr/bin/env bash
# What the compiler's steps bring: experiments with the algorithms whose quotients steps.awk makes, of each of MODEL on
# MACHINE. BUILD has the program; REPS, RULER, RESULTS and COMMIT are the experiments'. Run from the project's folder.
set -euf
. .ci/signals

IFS=,
machine=${MACHINE:-clx4208}
folder=${RESULTS:-results}/steps
tables=()
for model in ${MODEL:-googlenet,inceptionv2,resnet18,resnet50,resnet152,squeezenet,vgg16}; do
    waited "$BUILD/bench" experiment "MODEL=$model" "MACHINE=$machine" OBSERVE=0 CACHE=warm "REPS=${REPS:-5}" "RULER=${RULER:-1}" \
        ALGO=base,goto,sconv,sconv_openblas,sconv_no_vbp,sconv_run_time "RESULTS=$folder" "COMMIT=$COMMIT" >"$BUILD/steps.log" ||
        { tail -n 5 "$BUILD/steps.log" >&2 && exit 1; }
    name=${model##*/}
    tables+=("$folder/$machine/${name%.csv}/model.csv")
done
awk -f experiments/emit/steps.awk experiments/published/sconv.csv "${tables[@]}"
