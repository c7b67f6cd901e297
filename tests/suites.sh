#!/usr/bin/env bash
# Whether a suite that hangs or crashes fails, and which one it was is said. TESTS: the program (default build/tests).
set -u

program=${TESTS:-build/tests}
# shellcheck source=tests/check.bash
. tests/check.bash
ulimit -c 0

# fails WORDS ARGUMENT...: the program fails by itself, and says WORDS
fails() {
    local words=$1 status
    shift
    { timeout 300 "$program" "$@" >"$work/out" 2>"$work/err" </dev/null; } 2>/dev/null
    status=$?
    check "$*: exit status $status" grep -qvxE "0|124" <<<"$status"
    check "$*: '$words' is not in: $(cat "$work/err")" grep -qF -- "$words" "$work/err"
}

fails "tests: suite 'hangs', test 'this one hangs': it did not end in time" --suite hangs --limit 1
fails "tests: suite 'crashes', test 'this one crashes': it crashed (SIGSEGV)" --suite crashes
fails "unknown option or bad value: '--limit'" --suite hangs --limit 0
check "suites that fail on purpose are not listed" [ -z "$("$program" --list | grep -E '^(hangs|crashes):')" ]

echo "$name: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
