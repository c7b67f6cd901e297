#!/usr/bin/env bash
# Breaks the sources on purpose, one thing at a time, in a copy, and looks whether a test turns red: `make mutate`.
# Arguments: words of the mutants to try (default: all). mutations.md says what they are for.
set -u

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

# Runs a suite, or a script with its arguments.
run_test() {
    case $1 in
    *.sh*) timeout 600 bash $1 ;; # a script and its arguments are words
    *) timeout 600 build/tests --suite "$1" ;;
    esac
}

build() { # the programs that the tests named need
    local programs=build/tests
    case "$*" in *cli.sh*) programs="$programs build/experiment" ;; esac
    case "$*" in *cachesim.sh*) programs="$programs build/cachesim" ;; esac
    case "$*" in *polydl.sh*) programs="$programs build/polydl" ;; esac
    case "$*" in *sweep.sh*) programs="$programs build/sweep build/experiment" ;; esac
    # shellcheck disable=SC2086  # names are words
    make --no-print-directory "-j$(nproc)" $programs >"$work/log" 2>&1
}

red() { # red TEST...: prints the first of them that fails
    local test
    for test; do
        run_test "$test" >"$work/log" 2>&1 || { echo "$test"; return 0; }
    done
    return 1
}

# mutant WHAT FILE SED TEST...: FILE, changed by the expression, is noticed by one of the tests
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
    elif ! build "$@"; then
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

mkdir "$work/tree" # with what is built already
tar -c --exclude=./.git --exclude=./results/host . | tar -x -C "$work/tree"
cd "$work/tree" || exit 2
if ! build cli.sh cachesim.sh; then
    tail -n 3 "$work/log" >&2
    exit 2
fi

# shellcheck source=tests/mutations.bash
. tests/mutations.bash

echo "mutate: $tried tried, $survived not noticed"
[ "$survived" -eq 0 ] && [ "$tried" -gt 0 ]
