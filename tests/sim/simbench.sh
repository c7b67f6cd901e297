#!/usr/bin/env bash
# The simulator's benchmark beside the core of a second simulator, given by path, and the messages to bad input. Run
# from the project's folder; BUILD has the programs (default build), CC compiles for the programs' CPU.
set -u

program=${BUILD:-build}/simbench
# shellcheck source=tests/check.bash
. tests/check.bash

peer() { # peer NAME FLAGS...: builds one
    local to=$work/$1.so
    shift
    ${CC:-cc} -std=c11 -O2 -fPIC -shared -I. "$@" -o "$to" tests/sim/peer_lru.c
}

no_peer() { ${CC:-cc} -shared -o "$work/$1.so" -x c /dev/null; }

run() { "$program" --stream=gemm --interface=records --rounds=1 "$@" >"$work/out" 2>"$work/err"; }

refuses() { fails_with "$1" "$2" "$program" --stream=gemm --interface=records --rounds=1 "${@:3}"; } # refuses STATUS WORDS ARGUMENTS...

check "a peer is built" peer good
check "a peer that forgets is built" peer forgets -DFORGETS
check "a peer of one level is built" peer one -DLEVELS_AT_MOST=1
check "an object that is no peer is built" no_peer empty
check "a peer has its row" run --csv "--peers=$work/good.so"
check "the row is not there: $(cat "$work/out")" grep -qE '^gemm,accesses,lru,[1-9][0-9.]*,' "$work/out"
refuses 1 'disagree in a count' "--peers=$work/forgets.so"
refuses 2 'it cannot simulate these caches' "--peers=$work/good.so,$work/one.so"
refuses 2 'cannot open shared object file' "--peers=$work/none.so"
refuses 2 'it exports no sim_bench_peer' "--peers=$work/empty.so"
refuses 2 "no engine is called 'fast'" --engine=fast
refuses 2 'from 1 to' --threads=0
refuses 2 '--rounds=0: a number from 1 to 100 is possible' --rounds=0
refuses 2 '--rounds=-1: a number from 1 to 100 is possible' --rounds=-1
refuses 2 'peers simulate plain caches, and this machine has more' --machine=prefetch "--peers=$work/good.so"
check "classes of misses are no more: $(cat "$work/err")" run --machine=3c "--peers=$work/good.so"
refuses 2 "engine 'portable': it simulates plain caches alone; full" --machine=prefetch --engine=portable
check "the path of a machine file is no machine: $(cat "$work/err")" run --csv --machine=sim/machines/zen3.cfg
refuses 2 "no machine is called 'zen3'; there are: caches, prefetch, 3c, and paths" --machine=zen3
refuses 2 "$work/none.cfg: " "--machine=$work/none.cfg"
CONV_CPU=baseline refuses 2 'this CPU does not execute it, or CONV_CPU masks it' --engine=avx512

make -n bench-sim MACHINE=3c PEERS=a.so >"$work/out" 2>&1
# shellcheck disable=SC2016  # the shell that runs the line takes the values from its environment
check "make's variables are not the program's options" grep -qF -- '"--machine=$MACHINE" "--peers=$PEERS"' "$work/out"

finish
