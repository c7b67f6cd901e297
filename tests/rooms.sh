#!/usr/bin/env bash
# The rooms of the houses: a file includes headers of its own room and of rooms on the lines before, the lowest floor
# first. Rooms of one line do not know each other. Files in a house and in no folder of the house are a room by their
# name. The rule also holds for the houses themselves. Run from the project's folder.
set -u

program=
# shellcheck source=tests/check.bash
. tests/check.bash

declare -A floors
floors[houses]='sim
kernels
counters
experiments'

floors[sim]='aie base replacement
cpu prefetch trace
machine
analysis engine
hierarchy report
core full plain
engines
cores
programs'

floors[counters]='host watch
perf
group
ctr_hostinfo
proof'

floors[kernels]='shape
conv_naive ukr
blas bnorm csa
nest
plan
backend
emit wisdom
lib'

floors[experiments]='base
onnx
bench
show
observe
emit
choices
network'
# Above them are the questions.
floors[experiments]+=$'\n'$(echo experiments/*/question_*.c experiments/papers | tr ' ' '\n' | cut -d/ -f2 | grep -vxF "${floors[experiments]}" | sort -u | paste -sd ' ')

# The rooms of the bench.
floors[bench]='model
case
plugin
replay time
course measure'

# The papers do not know each other; all know what papers print.
floors[papers]='claims
lift paper polydl vyasa'

# The rooms of polydl. The files beside the rooms are variants, rankings and tables, known to all.
floors[polydl]='analysis
learn time
fused'

# Vyasa's compiler knows neither the tuner nor the question.
floors[vyasa]='compile
tune'

# Told apart: the benchmark of the simulator also measures the tests' naive model.
includes() { # includes FOLDER...: "file header" of every include of a header of the project
    grep -rE '^ *# *include "[a-z]+/' "$@" --include='*.[ch]' --include='*.def' |
        sed -E 's/^([^:]*):[^"]*"([^"]*)".*/\1 \2/' | grep -v '^sim/programs/main_simbench.c tests/'
}

arrows() { # arrows HOUSE: of the includes on standard input, "from to file" of those from one of its rooms to another
    awk -v house="$1" '
        function room(path, part) {
            split(path, part, "/")
            sub(/\..*/, "", part[2])
            return part[house == "houses" ? 1 : 2]
        }
        (house == "houses" || (index($1, house "/") == 1 && index($2, house "/") == 1)) && room($1) != room($2) {
            print room($1), room($2), $1
        }'
}

wrong() { # wrong HOUSE: those on standard input that do not go down
    awk 'NR == FNR { for (i = 1; i <= NF; i++) floor[$i] = NR; next }
         !floor[$1] || !floor[$2] || floor[$2] >= floor[$1]' <(echo "${floors[$1]}") -
}

is_room() { # is_room HOUSE NAME
    if [ "$1" = houses ]; then [ -d "$2" ]; else [ -d "$1/$2" ] || [ -e "$1/$2.h" ] || [ -e "$1/$2.c" ]; fi
}

includes sim counters kernels experiments >"$work/includes"
for house in houses sim counters kernels experiments; do
    arrows "$house" <"$work/includes" >"$work/arrows"
    found=$(wrong "$house" <"$work/arrows")
    check "$house: includes that go the wrong way, or rooms that have no floor: $found" [ -z "$found" ]
    check "$house: there are includes to look at" [ "$(wc -l <"$work/arrows")" -gt 15 ]
    for room in ${floors[$house]}; do
        check "$house: $room has a floor and is no room" is_room "$house" "$room"
    done
done

inner() { # inner HOUSE: checks the rooms of one room
    grep -E "^[^ ]*/$1/[a-z]+/[^ ]* [^ ]*/$1/[a-z]+/" "$work/includes" | sed -E "s|[^ ]*/$1/|$1/|g" | arrows "$1" >"$work/arrows"
    found=$(wrong "$1" <"$work/arrows")
    check "$1: includes that go the wrong way, or rooms that have no floor: $found" [ -z "$found" ]
    check "$1: there are includes to look at" [ -s "$work/arrows" ]
}
inner bench
inner papers
inner polydl
inner vyasa

# ---- calls ----

objects=${BUILD:-build}/obj/
# What is loaded into other programs defines functions of the C library: nobody's call of free means theirs.
find sim kernels counters experiments -name '*.c' ! -name '*_plugin.c' ! -name main_guest.c ! -name '*_linked.c' | sed "s|^|$objects|; s|c$|o|" | while read -r object; do [ ! -e "$object" ] || echo "$object"; done |
    xargs -r nm -A 2>/dev/null >"$work/symbols"
calls() { awk -v objects="$objects" "$@" -f tests/calls.awk "$work/symbols" | LC_ALL=C sort; }
calls >"$work/calls"
check "there are calls to look at" [ "$(wc -l <"$work/calls")" -gt 2000 ]
for house in houses sim counters kernels experiments; do
    found=$(arrows "$house" <"$work/calls" | wrong "$house")
    check "$house: calls that go the wrong way: $found" [ -z "$found" ]
done
for room in bench papers polydl vyasa; do
    found=$(grep -E "^[^ ]*/$room/[a-z]+/[^ ]* [^ ]*/$room/[a-z]+/" "$work/calls" | sed -E "s|[^ ]*/$room/|$room/|g" | arrows "$room" | wrong "$room")
    check "$room: calls that go the wrong way: $found" [ -z "$found" ]
done

# Circles that are there yet: no line may be added.
found=$(calls -v circles=1)
check "circles of files that tests/rooms.circles does not have, or circles there that are open now:
$(diff <(echo "$found") <(LC_ALL=C sort tests/rooms.circles))" [ "$found" = "$(LC_ALL=C sort tests/rooms.circles)" ]

goes_down() { # goes_down HOUSE FILE HEADER
    [ -z "$(echo "$2 $3" | arrows "$1" | wrong "$1")" ]
}

goes_wrong() {
    ! goes_down "$@"
}

check "an include upwards is found" goes_wrong experiments experiments/bench/x.c experiments/observe/y.h
check "... and one to the side" goes_wrong experiments experiments/compare/x.c experiments/peers/y.h
check "... and one from a room to a file above it" goes_wrong sim sim/base/x.h sim/hierarchy.h
check "... and one from such a file" goes_wrong sim sim/hierarchy.c sim/full/y.h
check "... and one from a folder in a room" goes_wrong kernels kernels/ukr/avx2/x.c kernels/nest/y.h
check "... and one to a room that has no floor" goes_wrong counters counters/proof/x.c counters/new/y.h
check "... and one to the house above" goes_wrong houses sim/base/x.h kernels/ukr/y.h
check "... and one between rooms of polydl" goes_wrong polydl polydl/learn/x.c polydl/time/y.h
check "an include downwards is none of these" goes_down sim sim/full/x.c sim/base/y.h
check "... nor is one in a room" goes_down kernels kernels/ukr/avx2/x.c kernels/ukr/y.h

finish
