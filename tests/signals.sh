#!/usr/bin/env bash
# Ctrl-C, SIGTERM and SIGHUP end make and all its processes, at each stage of an experiment; a word in the output tells
# the stage. Signals go to the whole process group, as from a terminal, and to make alone. Run from the project's
# folder; BUILD has the programs (default build). GNU make hands on SIGTERM only: after another signal to make alone,
# make waits for the running step.
set -u

BUILD=${BUILD:-build}
program=
# shellcheck source=tests/check.bash
. tests/check.bash

mkdir "$work/apt" "$work/gnuplot" "$work/cc" "$work/make"
stand_in() { # stand_in FOLDER/NAME: reads the program's commands from standard input
    { echo '#!/bin/sh'; cat; } >"$work/$1"
    chmod +x "$work/$1"
}

# A Debian without the packages in $LACKS. The user of this script is its root, and its apt-get takes a minute.
# shellcheck disable=SC2016  # the stand-ins expand it
stand_in apt/dpkg-query <<<'for p; do case " $LACKS " in *" $p "*) ;; *) echo "installed:$p" ;; esac; done'
stand_in apt/id <<<'echo 0'
stand_in apt/apt-get <<<'case "$*" in *" -y "*) exec sleep 61 ;; *--assume-no*) echo "Need to get 1 MB of archives." ;; esac'
stand_in gnuplot/gnuplot <<<'exec sleep 62'
stand_in cc/gcc <<<'case "$*" in *" -c "*) exec sleep 63 ;; esac; exec /usr/bin/gcc "$@"'

# A make that exits by itself on Ctrl-C, as GNU make sometimes does, while make builds the observed program; and a tee
# that ignores Ctrl-C, so that the output is complete.
stand_in make/make <<END
case "\$*" in
*guest-*)
    trap 'kill \$!; exit 2' INT TERM
    echo building
    sleep 64 &
    wait
    ;;
esac
exec bash -c 'exec -a make "\$@"' make "$(command -v make)" "\$@"
END
stand_in make/tee <<END
trap '' INT
exec $(command -v tee) "\$@"
END

running_in() { # running_in SESSION: prints the processes, with their names
    cat /proc/[0-9]*/stat 2>/dev/null | awk -v session="$1" '{ pid = $1; name = $2; sub(/.*\) /, "") } $1 != "Z" && $4 == session { print pid, name }'
}

ends() { # ends SIGNAL group|make WORD FOLDER ARGUMENTS...: ends make experiment, with the programs of FOLDER first in PATH
    local signal=$1 whom=$2 word=$3 folder=$4 pid i status left
    shift 4
    rm -rf "$work/results"
    : >"$work/out"
    env -u VARIABLES_ARE_KNOWN -u MAKEFLAGS -u MAKELEVEL -u DEPS --default-signal=INT,TERM,HUP "PATH=$work/$folder:$PATH" setsid \
        make "BUILD=$BUILD" "$@" experiment MODEL=tests/data/three.csv ALGO=base,sconv "RESULTS=$work/results" STORE=no >>"$work/out" 2>&1 </dev/null &
    pid=$!
    for ((i = 0; i < 600; i++)); do
        grep -q -- "$word" "$work/out" && break
        kill -0 $pid 2>/dev/null || break
        sleep 0.05
    done
    check "$word: it was not said: $(tail -n 3 "$work/out")" grep -q -- "$word" "$work/out"
    sleep 0.2
    if [ "$whom" = make ]; then kill -s "$signal" $pid; else kill -s "$signal" -- -$pid; fi
    { # drops bash's messages about jobs that end by signals
        for ((i = 0; i < 200; i++)); do
            running_in $pid | grep -q "^$pid " || break
            sleep 0.05
        done
        [ $i -lt 200 ] || kill -KILL -- -$pid
        wait $pid
        status=$?
    } 2>/dev/null
    check "$signal to $whom at '$word': make goes on" [ $i -lt 200 ]
    for ((i = 0; i < 100; i++)); do # waits for all processes of the session
        left=$(running_in $pid)
        [ -n "$left" ] || break
        sleep 0.05
    done
    check "$signal to $whom at '$word': exit status $status: $(tail -n 3 "$work/out")" [ "$status" -ne 0 ]
    check "$signal to $whom at '$word': it runs on: $left" [ -z "$left" ]
    # shellcheck disable=SC2046  # numbers
    [ -z "$left" ] || kill -KILL $(cut -d' ' -f1 <<<"$left") 2>/dev/null
    check "$signal to $whom at '$word': there are results: $(find "$work/results" 2>/dev/null | tail -n 1)" nothing_left
}

for how in 'INT group' 'TERM make'; do
    # shellcheck disable=SC2086  # two words
    LACKS=libisl-dev ends $how 'deps: installing with apt-get: libisl-dev' apt OBSERVE=0
    # shellcheck disable=SC2086
    [ "$(uname -m)" != x86_64 ] || ends $how building make OBSERVE=all
    # shellcheck disable=SC2086
    ends $how '^building' cc "BUILD=$work/build" OBSERVE=0
    # shellcheck disable=SC2086
    ends $how timing . OBSERVE=0 LIMIT=60
done
[ "$(uname -m)" != x86_64 ] || LACKS=qemu-user ends HUP group building apt OBSERVE=all TIMING=0
ends INT group verifying . OBSERVE=0 LIMIT=60
ends INT group replaying . OBSERVE=0 TIMING=0
ends INT group '^figures' gnuplot OBSERVE=0 TIMING=0 MORE=1

echo "$name: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
