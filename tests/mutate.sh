#!/usr/bin/env bash
# Breaks the sources on purpose, one mutant at a time, in a copy, and looks whether a test turns red: `make mutate`.
# Arguments: words of the mutants to try (default: all). With --stale the script only looks whether each expression
# still changes its file, and builds nothing.
#   mutate.sh --drawn N [--seed S] [FILE...]    N mutants made by a machine (tests/mutants.awk), on lines drawn at random; FILE: sources
#                                               (default: sim, and the rooms of kernels that plan). Only suites that run the line are
#                                               tried (.ci/coverage --lines), until one fails. tests/mutants.equal lists mutants
#                                               that compute what the original computes, with reasons.
set -u

# shellcheck source=.ci/signals
. .ci/signals
trap 'end_all 130 kill' INT # timeout is in no terminal's group
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
words=("$@")
survived=0
tried=0

wanted() { # wanted WHAT: one of the words is in it, or there are none
    local word
    for word in "${words[@]}"; do
        case $1 in *"$word"*) return 0 ;; esac
    done
    [ ${#words[@]} -eq 0 ]
}

# Runs a suite, a script with arguments, or make with arguments.
run_test() {
    case $1 in
    *.sh*) waited timeout 600 bash $1 ;; # a script and its arguments are words
    make*) waited timeout 600 $1 ;;      # the target and its arguments are words; make builds the observed program
    *) waited timeout 600 build/tests --suite "$1" ;;
    esac
}

build() {
    waited make --no-print-directory "-j$(nproc)" all >"$work/log" 2>&1
}

red() { # red TEST...: prints the first of them that fails
    local test
    for test; do
        run_test "$test" >"$work/log" 2>&1 || { echo "$test"; return 0; }
    done
    return 1
}

# mutant WHAT FILE SED TEST...: FILE, changed by the expression, makes a test fail
mutant() {
    local what=$1 file=$2 change=$3 by
    shift 3
    wanted "$what" || return 0
    tried=$((tried + 1))
    cp "$file" "$work/original"
    sed -i -E "$change" "$file"
    if cmp -s "$file" "$work/original"; then
        by=
        echo "STALE     $what: the expression changes nothing in $file"
    elif ! build; then
        by=
        echo "NOT BUILT $what: $(grep -m 1 'error' "$work/log")"
    elif by=$(red "$@"); then
        echo "red       $what: $by"
    else
        by=
        echo "GREEN     $what: not noticed by $*"
    fi
    [ -n "$by" ] || survived=$((survived + 1))
    cp "$work/original" "$file"
}

# shellcheck source=tests/mutations.bash
if [ "${1-}" = --stale ]; then
    mutant() {
        tried=$((tried + 1))
        [ -e "$2" ] && ! sed -E "$3" "$2" | cmp -s - "$2" && return 0
        survived=$((survived + 1))
        echo "STALE     $1: the expression changes nothing in $2"
    }
    . tests/mutations.bash
    echo "mutate: $tried mutants, $survived stale"
    [ "$survived" -eq 0 ] && [ "$tried" -gt 30 ]
    exit
fi

copy_tree() { # with what is built already
    mkdir "$work/tree"
    tar -c --exclude=./.git --exclude=./results/host --exclude='./build-*' . | tar -x -C "$work/tree"
    cd "$work/tree" || exit 2
}

# ---- mutants made by a machine ----

lines=${BUILD:-build}-coverage/lines

code_of() { # code_of PROGRAM: what it does, without the numbers of lines and columns
    strip -o "$work/stripped" "$1" && sha256sum <"$work/stripped"
}

# Prints who notices: a suite, or that a suite did not end within ten times its time.
noticed() { # noticed FILE:LINE
    local suite limit status
    for suite in $(grep -m 1 "^$1 " "$lines" | cut -d' ' -f2-); do
        limit=$(awk -v suite="$suite" '$1 == suite { print int(20 + $2 / 100) }' "$lines.milliseconds")
        waited timeout -k 5 "$limit" build/tests-core --suite "$suite" >"$work/log" 2>&1
        status=$?
        [ $status -ne 124 ] || { echo "$suite, by its time"; return 0; }
        [ $status -eq 0 ] || { echo "$suite"; return 0; }
    done
    return 1
}

drawn_mutant() { # drawn_mutant FILE LINE KIND TEXT: prints a row
    local file=$1 line=$2 kind=$3 text=$4 by old
    grep -qE "^$file:$line( |\$)" "$lines" || return 0 # no code
    grep -qE "^$file:$line " "$lines" || { unrun=$((unrun + 1)); echo "unrun  $file:$line: no suite of sim or kernels runs the line"; return 0; }
    old=$(sed -n "${line}s/^ *//p" "$file")
    by="$file: $old => ${text#"${text%%[! ]*}"}"
    grep -qF -- "$by |" tests/mutants.equal && { listed=$((listed + 1)); return 0; }
    cp "$file" "$work/original"
    awk -v line="$line" -v text="${text//\\/\\\\}" 'NR == line { $0 = text } { print }' "$work/original" >"$file"
    if ! waited make --no-print-directory "-j$(nproc)" build/tests-core >"$work/log" 2>&1; then
        not_built=$((not_built + 1))
    elif [ "$(code_of build/tests-core)" = "$code" ]; then
        equal=$((equal + 1))
    else
        tried=$((tried + 1))
        if by=$(noticed "$file:$line"); then
            echo "red    $file:$line: $kind: $by"
        else
            survived=$((survived + 1))
            echo "GREEN  $file:$line: $kind: $old => ${text#"${text%%[! ]*}"} ($(grep -m 1 "^$file:$line\b" "$lines" | wc -w | awk '{ print $1 - 1 }') suites)"
        fi
    fi
    cp "$work/original" "$file"
}

if [ "${1-}" = --drawn ]; then
    wanted=${2:?N is missing}
    shift 2
    seed=1
    [ "${1-}" != --seed ] || { seed=$2; shift 2; }
    [ $# -gt 0 ] || mapfile -t default < <(git ls-files sim kernels/{nest,csa,plan,backend,shape} | grep '\.[ch]$' | grep -v '^sim/programs/')
    [ $# -gt 0 ] || set -- "${default[@]}"
    [ -s "$lines" ] || .ci/coverage --lines || exit 2
    cp "$lines" "$work/lines" && cp "$lines.milliseconds" "$work/lines.milliseconds"
    lines=$work/lines
    copy_tree
    make --no-print-directory "-j$(nproc)" build/tests-core >"$work/log" 2>&1 || { tail -n 3 "$work/log" >&2; exit 2; }
    code=$(code_of build/tests-core)
    not_built=0 equal=0 listed=0 unrun=0
    awk -v seed="$seed" -f tests/mutants.awk "$@" | sort | cut -f2- >"$work/drawn"
    while [ "$tried" -lt "$wanted" ] && IFS=$'\t' read -r file line kind text <&3; do
        drawn_mutant "$file" "$line" "$kind" "$text"
    done 3<"$work/drawn"
    echo "mutate: seed $seed: $tried tried, $survived not noticed; besides, $unrun are on lines that no such suite runs, $equal were the same code, $listed are listed as equal, $not_built did not compile"
    exit $((survived > 0))
fi

copy_tree
if ! build; then
    tail -n 3 "$work/log" >&2
    exit 2
fi

# shellcheck source=tests/mutations.bash
. tests/mutations.bash

echo "mutate: $tried tried, $survived not noticed"
[ "$survived" -eq 0 ] && [ "$tried" -gt 0 ]
