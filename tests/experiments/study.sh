#!/usr/bin/env bash
# The study of the cost models as a user meets it. Run from the project's folder; STUDY is the program (default build/study).
set -u

study=${STUDY:-build/study}
program=$study
# shellcheck source=tests/check.bash
. tests/check.bash

refuses "vgg17" MODEL=vgg17
refuses "TIMING" TIMING=2
refuses "SAMPLE" SAMPLE=few
refuses "unknown option 'MACHINE=toy'" MACHINE=toy

dir=$work/results/host/study/squeezenet
"$study" "RESULTS=$work/results" MODEL=squeezenet SAMPLE=2 COMMIT=abc >"$work/out" 2>"$work/err"
check "exit status $?: $(tail -1 "$work/err")" [ $? -eq 0 ]
for file in study.md choices.csv predictions.csv costs.csv; do
    check "$file is missing" test -s "$dir/$file"
done
check "no number is none" bash -c "! grep -E ',-?(nan|inf)' '$dir'/*.csv"
cell() { columns "$dir/choices.csv" machine caches part rule "$1" | awk -v rule="$2" '$1 == "spr" && $2 == "cold" && $3 == "all" && $4 == rule { print $5 }'; }
check "every layer is there" [ "$(cell layers csa2)" -eq 26 ]
check "a constant choice chooses one schedule" [ "$(cell input_stationary always_ws)" -eq 0 ]
check "... and the other" [ "$(cell input_stationary always_is)" -eq 26 ]
check "one of the two constants is right in each layer" awk -v a="$(cell right_percent always_is)" -v b="$(cell right_percent always_ws)" \
    'BEGIN { exit !(a + b > 99.99 && a + b < 100.01) }'
check "regret of what the clock itself says of the shape is small" awk -v r="$(cell regret_percent same_shape)" 'BEGIN { exit !(r >= 0 && r < 5) }'
documented study

echo "study: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
