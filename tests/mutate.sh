#!/usr/bin/env bash
# Breaks the sources on purpose, one mutant at a time, in a copy, and looks whether a test turns red: `make mutate`.
# Arguments: words of the mutants to try (default: all). With --stale the script only looks whether each expression
# still changes its file, and builds nothing.
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

mkdir "$work/tree" # with what is built already
tar -c --exclude=./.git --exclude=./results/host . | tar -x -C "$work/tree"
cd "$work/tree" || exit 2
if ! build; then
    tail -n 3 "$work/log" >&2
    exit 2
fi

# shellcheck source=tests/mutations.bash
. tests/mutations.bash

echo "mutate: $tried tried, $survived not noticed"
[ "$survived" -eq 0 ] && [ "$tried" -gt 0 ]
