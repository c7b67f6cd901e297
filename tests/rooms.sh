#!/usr/bin/env bash
# The rooms of experiments/: a file includes headers of its own room and of rooms to the left, in the order below.
# Rooms of one floor do not know each other. Run from the project's folder.
set -u

program=
# shellcheck source=tests/check.bash
. tests/check.bash

floors='base
record
store
setup
replay
measure
report
observe
page
emit'
# Above them are the questions, and the program that asks them all.
floors+=$'\n'$(.ci/questions --files | cut -d/ -f2 | grep -vxF "$floors" | sort -u | paste -sd ' ')' bench'

arrows() { # arrows FOLDER: "from to file" of every include from one room to another
    grep -roE '^#include "experiments/[a-z]+/' "$1" --include='*.[ch]' |
        sed -E 's|^.*experiments/([a-z]+)/([^/:]*):#include "experiments/([a-z]+)/|\1 \3 \2|' | awk '$1 != $2'
}

wrong() { # those of standard input that do not go down
    awk 'NR == FNR { for (i = 1; i <= NF; i++) floor[$i] = NR; next }
         !floor[$1] || !floor[$2] || floor[$2] >= floor[$1]' <(echo "$floors") -
}

found=$(arrows experiments | wrong)
check "includes that go the wrong way, or rooms that have no floor: $found" [ -z "$found" ]
check "there are questions above the others: $(tail -n 1 <<<"$floors")" [ "$(tail -n 1 <<<"$floors" | wc -w)" -gt 10 ]
check "there are includes to look at" [ "$(arrows experiments | wc -l)" -gt 100 ]
check "an include to the right is found" [ -n "$(echo 'setup observe x.c' | wrong)" ]
check "... and one to the side" [ -n "$(echo 'judge peers x.c' | wrong)" ]

echo "rooms: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
