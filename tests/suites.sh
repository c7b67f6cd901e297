#!/usr/bin/env bash
# A suite that hangs or crashes, and a job that fails, fail and are named. TESTS: the program (default build/tests).
set -u

program=${BUILD:-build}/tests
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
"$program" --list | cut -d: -f1 | uniq >"$work/listed"
check "suites that fail on purpose are not listed" [ -z "$(grep -xE 'hangs|crashes' "$work/listed")" ]
sed -n 's/^    X(\(.*\)).*/\1/p' tests/main_tests.c >"$work/named"
check "suites that the program lacks: $(diff "$work/named" "$work/listed")" cmp -s "$work/named" "$work/listed"

# The driver of the jobs: a job that fails is named, with its output, and the others run to their ends.
tests/jobs.sh <<'END' >"$work/out"
fails echo it said this; exit 3
skips echo "tests: skipped: nothing is here"; echo 5 passed
slow sleep 0.2; echo slowly
END
check "a job that fails leaves exit status $?, not 1" [ $? -eq 1 ]
check "the last line does not name it: $(tail -n 1 "$work/out")" [ "$(tail -n 1 "$work/out")" = "3 jobs, 1 failed: fails" ]
check "what it said is not there" grep -qx 'it said this' "$work/out"
check "what was skipped is not there" grep -q 'skipped: nothing is here' "$work/out"
check "the others did not end: $(grep '^ok' "$work/out")" [ "$(grep -c '^ok  .*\(slowly\|5 passed\)$' "$work/out")" -eq 2 ]
tests/jobs.sh <<<'one true' >"$work/out"
check "no job fails, and status $?" [ $? -eq 0 ]
tests/jobs.sh </dev/null >"$work/out"
check "no job at all is taken for success" [ $? -eq 1 ]

finish
