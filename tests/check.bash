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

fails_with() { # fails_with STATUS WORDS COMMAND...: the command ends with STATUS, and with one line on stderr that holds WORDS
    local wanted=$1 words=$2 status
    shift 2
    "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    check "$*: exit status $status, not $wanted" [ "$status" -eq "$wanted" ]
    check "$*: not one line: $(cat "$work/err")" [ "$(wc -l <"$work/err")" -eq 1 ]
    check "$*: '$words' is not in: $(cat "$work/err")" grep -qF -- "$words" "$work/err"
}

refuses() { # refuses WORDS ARGUMENTS...: the program fails with status 2, and leaves nothing behind
    fails_with 2 "$1" "$program" "RESULTS=$work/results" "${@:2}"
    check "$*: left something behind" nothing_left
    rm -rf "$work/results"
}

succeeds() { # succeeds ARGUMENTS...: the program ends with status 0
    local status
    "$program" "RESULTS=$work/results" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    check "$*: exit status $status: $(tail -1 "$work/err")" [ "$status" -eq 0 ]
}

says() { # says WORDS [FILE]: the program's output, or a file of $work, has the words
    check "'$1' is not in: $(cat "$work/${2-out}")" grep -qF -- "$1" "$work/${2-out}"
}

has_files() { # has_files FOLDER FILE...: no file is missing, and none is empty
    local file
    for file in "${@:2}"; do check "$file is missing" test -s "$1/$file"; done
}

finish() { # finish [WORDS]: the last command of a script
    echo "$name: $passed passed, $failed failed${1-}"
    [ "$failed" -eq 0 ]
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
