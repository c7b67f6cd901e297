#!/usr/bin/env bash
# Claims as a user meets them: small files of claims, commands of a moment. Run from the project's folder; BUILD has the programs (default build).
set -u

build=${BUILD:-build}
program=$build/artifact
# shellcheck source=tests/check.bash
. tests/check.bash

head=id,claim,source,command,table,row,over,column,judged,expected,tolerance_percent,smoke
claims() { # claims ROW...: a file of claims
    printf '%s\n' "$head" "$@" >"$work/claims.csv"
}

# ---- bad input: one line, and nothing left ----

wrong() { # wrong MESSAGE ROW
    claims "$2"
    refuses "$1" "CLAIMS=$work/claims.csv"
}
refuses "cannot open 'no/such.csv'" CLAIMS=no/such.csv
wrong "claims.csv:2: judged must be about, within, equals, at_least, at_most or passes, 'nearly'" 1,c,s,true,t.csv,name=a,,n,nearly,1,,
wrong "claims.csv:2: a claim needs words and a command, '7'" 7,c,s,,t.csv,name=a,,n,equals,1,,
wrong "claims.csv:2: a table is named unless the exit status is judged (passes), 'deep/t.csv'" 1,c,s,true,deep/t.csv,name=a,,n,passes,,,
wrong "claims.csv:2: expected" 1,c,s,true,t.csv,name=a,,n,equals,x,,
wrong "claims.csv:2: tolerance_percent" 1,c,s,true,t.csv,name=a,,n,about,1,,
claims 1,c,s,true,,,,,passes,,,
refuses "claims.csv: no claim with smoke 1" "CLAIMS=$work/claims.csv" SMOKE=1
sed -i 's/,judged,/,jugded,/' "$work/claims.csv"
refuses "claims.csv:1: column missing, 'judged'" "CLAIMS=$work/claims.csv"

# ---- claims that hold ----

mkdir -p "$work/results/deep"
printf '# a comment\nname,side,n\na,left,4\na,right,2\nb,left,3\n' >"$work/results/deep/t.csv"

claims 'A,the sum over rows,here,true,deep/t.csv,name=a,,n,equals,6,,1' \
    'B,a ratio,here,true,deep/t.csv,name=a;side=left,name=b,n,about,1.3,3,' \
    'C,a bound,here,true,deep/t.csv,side=left,,n,at_least,7,,' \
    'D,another bound,here,true,deep/t.csv,side=left,,n,at_most,7,,1' \
    'E,near zero,here,true,deep/t.csv,side=right,,n,within,2,,' \
    'F,a status,here,test -d tests,,,,,passes,,,1'
"$program" "CLAIMS=$work/claims.csv" "RESULTS=$work/results" >"$work/out" 2>"$work/err"
check "all hold: exit status 0" [ $? -eq 0 ]
check "... and one sentence says so" grep -q '^6 of 6 claims are reproduced, by 2 commands' "$work/out"
check "... and a row each" [ "$(grep -c ',1,' "$work/results/host/artifact/artifact.csv")" -eq 6 ]
"$program" "CLAIMS=$work/claims.csv" "RESULTS=$work/results" SMOKE=1 >"$work/out" 2>&1
check "the quick claims alone" grep -q '^3 of 3 claims are reproduced, by 2 commands' "$work/out"

# ---- claims that do not hold ----

claims 'A,too much,here,true,deep/t.csv,name=a,,n,equals,7,,' \
    'B,no such row,here,true,deep/t.csv,name=z,,n,equals,7,,' \
    'C,no such table,here,true,deep/u.csv,name=z,,n,equals,7,,' \
    'D,a failing command,here,false,deep/t.csv,name=a,,n,equals,6,,' \
    'E,no such command,here,no-such-command-here,,,,,passes,,,' \
    'F,holds,here,true,deep/t.csv,name=b,,n,equals,3,,'
"$program" "CLAIMS=$work/claims.csv" "RESULTS=$work/results" MORE=1 >"$work/out" 2>"$work/err"
check "one does not hold: exit status 1" [ $? -eq 1 ]
check "... and how many hold is said" grep -q '^1 of 6 claims are reproduced' "$work/out"
check "... and the number that differs" grep -q '6 is not 7' "$work/out"
check "... and the row that is not there" grep -q 'no row with name=z' "$work/out"
check "... and the table that is not there" grep -q "cannot open '$work/results/deep/u.csv'" "$work/out"
check "... and the command that failed" grep -q 'exit status 1' "$work/out"
check "... and the command that is not there" grep -q 'exit status 127' "$work/out"

printf '%s: %d passed, %d failed\n' "$name" "$passed" "$failed"
[ "$failed" -eq 0 ]
