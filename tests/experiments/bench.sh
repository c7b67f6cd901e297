#!/usr/bin/env bash
# Every question by name, and the texts that name the questions: bench lists the records that .ci/questions reads, and
# READMEs have a row for each question. Run from the project's folder; BUILD has the programs (default build).
set -u

bench=${BUILD:-build}/bench
program=$bench
# shellcheck source=tests/check.bash
. tests/check.bash

.ci/questions >"$work/facts"
facts() { awk -F'\t' "$1" "$work/facts"; }
mapfile -t questions < <(facts '$1 == "question" { print $3 }')
check "there are questions: ${questions[*]}" [ ${#questions[@]} -gt 10 ]

# ---- the program ----

"$bench" >"$work/list"
# The records, and so the list, are in alphabetical order, the experiment first.
check "bench lists other questions, or says something else of them" cmp -s <(sed -n 's/^  \([a-z]*\) */\1 /p' "$work/list") \
    <(facts '$1 == "question" { name = $3 } $1 == "target" { print name " " $4 }')
"$bench" jugde >"$work/out" 2>"$work/err"
check "bench jugde does not end with status 2" [ $? -eq 2 ]
check "bench jugde: $(cat "$work/err")" grep -qx "bench: there is no question 'jugde', did you mean judge? bench lists them" "$work/err"
for question in "${questions[@]}"; do
    "$bench" "$question" --help >"$work/help" 2>"$work/err"
    check "bench $question --help: exit status $?" [ $? -eq 0 ]
    check "make help and bench $question --help differ: $(diff <(sed -n 's/^  \([A-Z-][^ ]*\) */\1 /p' "$work/help" | sort) \
        <(facts '$1 ~ /^(variable|handed|flag)$/ && $2 == "'"$question"'" { print $3 " " $4 }' | sort) | head -n 2)" \
        cmp -s <(sed -n 's/^  \([A-Z-][^ ]*\) */\1 /p' "$work/help" | sort) \
        <(facts '$1 ~ /^(variable|handed|flag)$/ && $2 == "'"$question"'" { print $3 " " $4 }' | sort)
done
ln -s "$(realpath "$bench")" "$work/judge"
check "a link that is called judge asks another question" cmp -s <("$work/judge" --help) <("$bench" judge --help)
check "a need is not named" grep -q '^sweep: MODEL is missing: for example MODEL=vgg16' <("$bench" sweep 2>&1)
check "... nor the second" grep -q '^sweep: VARY is missing: for example VARY=' <("$bench" sweep MODEL=vgg16 2>&1)
check "... one of several" grep -q '^sconv-gen: LAYER is missing: for example LAYER=vgg16:conv3_1' <("$bench" gen 2>&1)

# ---- the texts ----

# make readmes writes the page.
"$bench" --columns >"$work/columns"
check "results/columns.md is not what bench --columns prints: $(diff <(sed '1,/^<!-- bench --columns -->$/d' results/columns.md) "$work/columns" |
    sed -n 2p)" cmp -s <(sed '1,/^<!-- bench --columns -->$/d' results/columns.md) "$work/columns"
while read -r target; do
    check "bench --columns does not explain the files of make $target" grep -qx "## make $target" "$work/columns"
    check "results/columns.md does not list make $target" grep -q "](#make-$target)" results/columns.md
done < <(facts '$1 == "question" { target = $2 } $1 == "flag" && $3 == "--columns" { print target }')

while read -r target; do
    check "experiments/README.md has no row for make $target" grep -q "^|.*\`make $target\`" experiments/README.md
done < <(facts '$1 == "target" { print $2 }')
while read -r folder; do
    check "results/README.md has no row for $folder/" grep -q "^| \`[^|]*/$folder/" results/README.md
done < <(sed -n 's|^static const struct exp_results_layout layout = { "/\([a-z]*\)".*|\1|p' experiments/*/question_*.c experiments/papers/*/question_*.c)

check "records name other figures than there are scripts: $(diff <(facts '$1 == "figure" { print $3 }' | sort -u) \
    <(find experiments -name '*.gp' | sed 's|.*/||; s|\.gp$||' | grep -vxE 'style|common|.*_common|.*_curves' | sort))" \
    cmp -s <(facts '$1 == "figure" { print $3 }' | sort -u) \
    <(find experiments -name '*.gp' | sed 's|.*/||; s|\.gp$||' | grep -vxE 'style|common|.*_common|.*_curves' | sort)

echo "bench: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
