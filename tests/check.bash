# Checks for the command line tests; sourced with `program`, the program under test, set. Counts in passed and failed.
# shellcheck shell=bash disable=SC2154  # program is the caller's

# shellcheck source=tests/csv.bash
. tests/csv.bash

name=$(basename "$0" .sh)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
passed=0
failed=0

ok() { passed=$((passed + 1)); }

bad() {
    failed=$((failed + 1))
    echo "$name: FAILED: $*" >&2
}

check() { # check DESCRIPTION COMMAND...: the command succeeds
    local what=$1
    shift
    if "$@"; then ok; else bad "$what"; fi
}

nothing_left() { # no result, no partial result
    [ -z "$(find "$work/results" -mindepth 1 2>/dev/null)" ]
}

refuses() { # refuses WORDS ARGUMENTS...: exit status 2, one line on stderr that holds WORDS, nothing left behind
    local words=$1 status
    shift
    "$program" "RESULTS=$work/results" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    check "$*: exit status $status, not 2" [ "$status" -eq 2 ]
    check "$*: not one line: $(cat "$work/err")" [ "$(wc -l <"$work/err")" -eq 1 ]
    check "$*: '$words' is not in: $(cat "$work/err")" grep -qF -- "$words" "$work/err"
    check "$*: left something behind" nothing_left
    rm -rf "$work/results"
}

refused_job() { # refused_job ARGUMENTS...: of a cluster that takes no job, what sbatch says is passed on, and nothing is left behind
    mkdir -p "$work/refusing"
    printf '#!/bin/sh\necho "sbatch: error: no such partition" >&2\nexit 1\n' >"$work/refusing/sbatch"
    chmod +x "$work/refusing/sbatch"
    PATH=$work/refusing:$PATH "$program" "RESULTS=$work/results" LAUNCHER=slurm "$@" >"$work/out" 2>"$work/err" </dev/null
    check "$*: succeeds without a job" [ $? -ne 0 ]
    check "$*: the refusal is not passed on: $(cat "$work/err")" grep -q 'sbatch submits no job: .*no such partition' "$work/err"
    check "$*: left $(find "$work/results" 2>/dev/null | paste -sd ' ')" nothing_left
    rm -rf "$work/results"
}

comes_after() { # comes_after FILE LATER EARLIER: lines that match both are in the file, and one for LATER is behind all for EARLIER
    awk -v later="$2" -v earlier="$3" '$0 ~ later { last = NR } $0 ~ earlier { n = NR } END { exit !(n && last > n) }' "$1"
}

unwrapped() { # unwrapped FILE: its words in one line: what the terminal's width broke is together again
    tr -s ' \n' ' ' <"$1"
}
