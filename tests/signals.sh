#!/usr/bin/env bash
# Ctrl-C, SIGTERM and SIGHUP end make and all that it runs, whatever that is doing: at each stage of an experiment, which a word of
# its output tells, as a terminal sends them (to the whole group) and to make alone. Run from the project's folder; BUILD has the
# programs (default build). GNU make hands on SIGTERM only: of the others sent to it alone, it waits for the step that is running.
set -u

BUILD=${BUILD:-build}
program=
# shellcheck source=tests/check.bash
. tests/check.bash

mkdir "$work/apt" "$work/gnuplot" "$work/cc" "$work/make"
stand_in() { # stand_in FOLDER/NAME: its commands are read from standard input
    { echo '#!/bin/sh'; cat; } >"$work/$1"
    chmod +x "$work/$1"
}

# A Debian that lacks what $LACKS names, whose root is whoever runs this, and whose apt-get takes a minute.
# shellcheck disable=SC2016  # they expand it
stand_in apt/dpkg-query <<<'for p; do case " $LACKS " in *" $p "*) ;; *) echo "installed:$p" ;; esac; done'
stand_in apt/id <<<'echo 0'
stand_in apt/apt-get <<<'case "$*" in *" -y "*) exec sleep 61 ;; *--assume-no*) echo "Need to get 1 MB of archives." ;; esac'
stand_in gnuplot/gnuplot <<<'exec sleep 62'
stand_in cc/gcc <<<'case "$*" in *" -c "*) exec sleep 63 ;; esac; exec /usr/bin/gcc "$@"'

# A make that comes to an end of its own by Ctrl-C, as GNU make now and then does, while it builds the program that is observed;
# and one that shows its output, which Ctrl-C came too early for.
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

running_in() { # running_in SESSION: the processes, with what they are
    cat /proc/[0-9]*/stat 2>/dev/null | awk -v session="$1" '{ pid = $1; name = $2; sub(/.*\) /, "") } $1 != "Z" && $4 == session { print pid, name }'
}

ends() { # ends SIGNAL group|make WORD FOLDER ARGUMENTS...: of make experiment, with the programs of a folder before all others
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
    { # what bash says of jobs that end by signals is of no interest
        for ((i = 0; i < 200; i++)); do
            running_in $pid | grep -q "^$pid " || break
            sleep 0.05
        done
        [ $i -lt 200 ] || kill -KILL -- -$pid
        wait $pid
        status=$?
    } 2>/dev/null
    check "$signal to $whom at '$word': make goes on" [ $i -lt 200 ]
    for ((i = 0; i < 100; i++)); do # of what runs in its session
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
    ends $how '  CC  ' cc "BUILD=$work/build" OBSERVE=0
    # shellcheck disable=SC2086
    ends $how timing . OBSERVE=0 LIMIT=60
done
[ "$(uname -m)" != x86_64 ] || LACKS=qemu-user ends HUP group 'deps: installing with apt-get: qemu-user' apt OBSERVE=all
ends INT group verifying . OBSERVE=0 LIMIT=60
ends INT group replaying . OBSERVE=0 TIMING=0
ends INT group '^figures' gnuplot OBSERVE=0 TIMING=0

echo "$name: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
