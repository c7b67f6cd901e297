#!/usr/bin/env bash
# Every question by its name, and the texts that name them: bench lists what bench --facts tells make, and READMEs
# have a row for each. Run from the project's folder; BUILD has the programs (default build).
set -u

bench=${BUILD:-build}/bench
program=$bench
# shellcheck source=tests/check.bash
. tests/check.bash

"$bench" --facts >"$work/facts"
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

# What the papers need is in bench-papers alone, to which bench hands over.
papers=$(sed -n 's/^    "\(.*\)",$/\1/p' "${BUILD:-build}/obj/questions.c" 2>/dev/null | paste -sd ' ')
if [ -n "$papers" ]; then
    check "bench has code of ${papers// / or }" [ "$(nm "$bench" | grep -cE " question_(${papers// /|})$")" -eq 0 ]
    cp "$bench" "$work/bench"
    for question in $papers; do
        check "bench without bench-papers does not say who asks $question" grep -q "bench: '$question' is a question of bench-papers" \
            <("$work/bench" "$question" --help 2>&1)
    done
fi

# ---- the texts ----

# make readmes writes both.
check "experiments/bench/course/facts.txt is not what bench --facts prints" cmp -s <(sed 1d experiments/bench/course/facts.txt) "$work/facts"
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
done < <(sed -n 's|^static const struct exp_results_layout layout = { "/\([a-z]*\)".*|\1|p' experiments/*/question_*.c experiments/*/*/question_*.c)

check "records name other figures than there are scripts: $(diff <(facts '$1 == "figure" { print $3 }' | sort -u) \
    <(find experiments -name '*.gp' | sed 's|.*/||; s|\.gp$||' | grep -vxE 'style|bars|points|common|.*_common' | sort))" \
    cmp -s <(facts '$1 == "figure" { print $3 }' | sort -u) \
    <(find experiments -name '*.gp' | sed 's|.*/||; s|\.gp$||' | grep -vxE 'style|bars|points|common|.*_common' | sort)

# ---- a new question ----

# A folder with a record is all that make needs: in a copy, which has the objects that are built.
if [ -e "${BUILD:-build}/flags" ] && ! grep -q fsanitize "${BUILD:-build}/flags"; then
    copy=$work/copy
    mkdir "$copy"
    cp -a Makefile .ci sim kernels counters experiments tests "$copy"
    mkdir "$copy/build"
    (cd "${BUILD:-build}" && cp -a flags headers obj lib*.a "$copy/build")
    mkdir "$copy/experiments/answer"
    cat >"$copy/experiments/answer/question_answer.c" <<'END'
#include "experiments/bench/course/course.h"

struct session {
    struct {
        unsigned times;
    } options;
    struct exp_why why;
};

static int work(void *session)
{
    const struct session *s = session;

    for (unsigned i = 0; i < s->options.times; i++)
        puts("42");
    return 0;
}

#define OPTIONS struct session
static const struct exp_option table[] = { EXP_NUMBER("TIMES", "how often it is said", options.times, 1, 1, 9), EXP_OPTIONS_END };
#undef OPTIONS

const struct exp_question question_answer = {
    .name = "answer", .asks = "What is the answer?", .options = table, EXP_SESSION(struct session), .work = work,
};
END
    in_copy() { env -u VARIABLES_ARE_KNOWN -u MAKEFLAGS -u MAKELEVEL -u BUILD -u SAN -u CC make -C "$copy" --no-print-directory -s DEPS=no "$@" 2>"$work/err"; }
    check "make help does not know a new question: $(tail -n 3 "$work/err")" grep -q '^  TIMES  *how often it is said' <(in_copy help answer)
    check "make answer: $(tail -n 3 "$work/err")" [ "$(in_copy answer TIMES=2 | grep -c '^42$')" -eq 2 ]
    check "make answer TIMES=10 is not refused" grep -q "make answer: TIMES: must be a whole number from 1 to 9, not '10'" <(in_copy answer TIMES=10; cat "$work/err")
fi

echo "bench: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
