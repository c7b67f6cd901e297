#!/usr/bin/env bash
# cachesim --annotate: misses by source line. The misses equal cachegrind's on cachegrind's geometry, the misses of a
# traced program are at the right lines, and other tools read the file. Run from the project's folder; BUILD has
# cachesim, CC compiles.
set -u

program=${BUILD:-build}/cachesim
# shellcheck source=tests/check.bash
. tests/check.bash

source=tests/sim/annotated.c
skip() { echo "annotate: skipped: $*"; }
build() { "${CC:-cc}" -g -O1 -w "-DPROGRAM=$1" "${@:3}" -o "$work/$2" $source; }
cachesim() { "$program" "$@" >"$work/out" 2>"$work/err"; }

# Prints "line: misses of loads, of stores" of the programs' own lines, of our file or of cachegrind's.
by_line() { # by_line FILE LOADS STORES
    awk -v loads="$2" -v stores="$3" '
        /^events:/ { for (i = 2; i <= NF; i++) col[$i] = i; next }
        /^fl=/ { own = /annotated[.]c$/; next }
        /^fn=/ { is_main = /^fn=main/; next } # whose stack is elsewhere in each run
        own && !is_main && /^[0-9]/ { r[$1] += $col[loads]; w[$1] += $col[stores] }
        END { for (line in r) if (r[line] + w[line]) print line ": " r[line] ", " w[line] }' "$1" | sort -n
}

# ---- bad input ----

refuses() { # refuses WORDS ARGUMENTS...: in one line, with exit status 1 or 2
    local words=$1 status
    shift
    cachesim "$@"
    status=$?
    check "$*: exit status $status" [ "$status" -eq 1 -o "$status" -eq 2 ]
    check "$*: '$words' is not in: $(cat "$work/err")" grep -qF -- "$words" "$work/err"
}

build 0 fixed -no-pie
refuses "--annotate: counts by line all accesses of all tags of one machine" --machine toy --tags --annotate "$work/x" run -- "$work/fixed"
refuses "--symbols: names lines of --annotate, which is missing" --machine toy --symbols "$work/fixed" run -- "$work/fixed"
refuses "--annotate: standard output is the report's" --machine toy --annotate - run -- "$work/fixed"
if ! command -v valgrind >/dev/null; then
    skip "there is no Valgrind"
    echo "annotate: $passed passed, $failed failed"
    exit $((failed > 0))
fi
refuses "no/such/folder/x, No such file or directory" --machine toy --tracer valgrind --annotate no/such/folder/x run -- "$work/fixed"
refuses "--symbols: not a program or library of 64 bits, '$source'" --machine toy --tracer valgrind --annotate "$work/x" --symbols $source run -- "$work/fixed"
check "a file is left behind" [ ! -e "$work/x" ]

# ---- cachegrind's own counts ----

programs='0 4 7 10 11 12 13 14 15 16 17 18 19'
[ -z "${LONG-}" ] || programs=$(seq 0 19)
[ -z "${SAN-}" ] || programs='0 7'
for n in $programs; do
    build $n "p$n" -no-pie
    check "program $n is not annotated: $(cat "$work/err")" cachesim --l1 4k,2,64 --tracer valgrind --annotate "$work/ours" run -- "$work/p$n"
    valgrind --tool=cachegrind --cache-sim=yes --D1=4096,2,64 --I1=4096,2,64 --LL=1048576,16,64 "--cachegrind-out-file=$work/theirs" "$work/p$n" >"$work/out" 2>&1
    by_line "$work/ours" L1_load_misses L1_store_misses >"$work/lines"
    check "program $n misses on few lines: $(wc -l <"$work/lines")" [ "$(wc -l <"$work/lines")" -ge 2 ]
    check "program $n: $(diff "$work/lines" <(by_line "$work/theirs" D1mr D1mw) | head -n 3)" cmp -s "$work/lines" <(by_line "$work/theirs" D1mr D1mw)
done
build 0 anywhere -fPIE -pie
cachesim --l1 4k,2,64 --tracer valgrind --annotate "$work/ours" run -- "$work/p0"
cachesim --l1 4k,2,64 --tracer valgrind --annotate "$work/moved" run -- "$work/anywhere"
check "a program that may be anywhere misses elsewhere" cmp -s <(by_line "$work/ours" L1_load_misses L1_store_misses | cut -d: -f1) \
    <(by_line "$work/moved" L1_load_misses L1_store_misses | cut -d: -f1)

# ---- a trace in a file ----

valgrind --tool=lackey --trace-mem=yes "--log-file=$work/p0.lackey" "$work/p0"
check "a trace is annotated: $(cat "$work/err")" cachesim --l1 4k,2,64 --annotate "$work/traced" --symbols "$work/p0" "$work/p0.lackey"
check "a trace's lines miss as the program's" cmp -s <(by_line "$work/ours" L1_load_misses L1_store_misses) <(by_line "$work/traced" L1_load_misses L1_store_misses)
accesses=$(sed -n 's/^trace .*: \([0-9]*\) accesses.*/\1/p' "$work/out")
cachesim --l1 4k,2,64 "$work/p0.lackey"
check "the report counts $accesses accesses: $(grep '^trace' "$work/out")" grep -q ": $accesses accesses" "$work/out"
cachesim --l1 4k,2,64 --annotate "$work/unnamed" "$work/p0.lackey"
check "without symbols a line is known" [ -z "$(by_line "$work/unnamed" L1_load_misses L1_store_misses)" ]
check "sums differ without names" cmp -s <(grep '^summary' "$work/traced") <(grep '^summary' "$work/unnamed")

# ---- a program, emulated ----

if ! command -v qemu-x86_64 >/dev/null || [ ! -e "${program%/*}/tracer.so" ] || [ "$(uname -m)" != x86_64 ]; then
    skip "no emulator, or no tracer"
else
    build 1 multiply -fPIE -pie
    check "an emulated program is annotated: $(cat "$work/err")" cachesim --machine toy --annotate "$work/emulated" run -- "$work/multiply"
    line=$(grep -n 'b\[k\]\[j\];' $source | cut -d: -f1)
    check "the line that misses most is not $line: $(by_line "$work/emulated" L1_load_misses L1_store_misses | sort -t' ' -k2,2nr | head -n 1)" \
        [ "$(by_line "$work/emulated" L1_load_misses L1_store_misses | sort -t' ' -k2,2nr | sed -n '1s/:.*//p')" = "$line" ]
    check "the function is not named" grep -qx 'fn=multiply' "$work/emulated"
    check "libraries have no names" grep -q '^fn=_dl_' "$work/emulated"
    total=$(awk '/^[0-9]/ { n += $2 } /^summary:/ { print n == $2 }' "$work/emulated")
    check "the lines' loads do not add up to the sum" [ "$total" = 1 ]
    loads=$(awk '/^summary:/ { print $2 }' "$work/emulated")
    check "the report has other loads than $loads: $(grep -m 1 '^accesses\|loads' "$work/err")" grep -qw "$loads" "$work/err"
    cachesim --machine toy --fetches --annotate "$work/fetched" run -- "$work/multiply"
    check "fetches are not simulated" [ "$(awk '/^summary:/ { print $2 }' "$work/fetched")" -gt "$((2 * loads))" ]
    cachesim --machine zen3 --annotate "$work/prefetched" run -- "$work/multiply"
    check "late prefetches and TLBs are no events: $(grep '^events' "$work/prefetched")" grep -q '^events:.*L1_late_prefetches.*TLB' "$work/prefetched"
fi

# ---- the heap, by the allocating function ----

line_of() { grep -n "/[*] $1" tests/sim/heap.c | cut -d: -f1; }
on_heap() { # on_heap WORDS: "loads stores" of what the line with that comment allocated
    awk -v line="$(line_of "$1")" '/^fl=/ { own = /heap[.]c$/ } own && $1 == line { print $2, $3 }' "$work/heap"
}
refuses "--heap: there is no program to trace" --machine toy --heap "$work/heap" "$work/p0.lackey"
if [ -z "${SAN-}" ] && [ -e "${program%/*}/heap.so" ]; then
    "${CC:-cc}" -g -O1 -fno-tree-vectorize -fno-builtin -w -o "$work/heaps" tests/sim/heap.c
    for tracer in valgrind qemu; do
        [ $tracer = valgrind ] || { command -v qemu-x86_64 >/dev/null && [ -e "${program%/*}/tracer.so" ] && [ "$(uname -m)" = x86_64 ]; } || continue
        check "$tracer: the heap: $(cat "$work/err")" cachesim --machine toy --tracer $tracer --heap "$work/heap" --annotate "$work/lines" run -- "$work/heaps"
        check "$tracer: first: $(on_heap 'of first')" [ "$(on_heap 'of first' | awk '$1 >= 4096 && $1 < 4104 && $2 >= 4096 && $2 < 4104')" ] # free writes there, too
        check "$tracer: zeros, which are cleared or new: $(on_heap 'of zeros')" [ "$(on_heap 'of zeros' | cut -d' ' -f1)" = 4096 ]
        check "$tracer: third: $(on_heap 'of third')" [ "$(on_heap 'of third' | cut -d' ' -f2)" -ge 4096 ]
        check "$tracer: the function is not named" grep -qx 'fn=zeros' "$work/heap"
        check "$tracer: sums by allocation are those by line" [ "$(grep '^summary' "$work/heap")" = "$(grep '^summary' "$work/lines")" ]
    done
    # Libraries in a folder with odd characters, and further preloaded libraries: ld.so splits at blanks and colons,
    # QEMU at commas.
    mkdir "$work/my, to:ols"
    cp "$program" "${program%/*}/heap.so" "$work/my, to:ols"
    cp "${program%/*}/tracer.so" "$work/my, to:ols" 2>/dev/null
    "${CC:-cc}" -shared -fPIC -w -o "$work/other.so" -x c - <<'END'
#include <stdio.h>
#include <unistd.h>
__attribute__((constructor)) static void say(void)
{
    char own[4096] = "";
    if (readlink("/proc/self/exe", own, sizeof own - 1) > 0)
        fprintf(stderr, "loaded into %s\n", own);
}
END
    "${CC:-cc}" -g -O1 -static -w -o "$work/static" tests/sim/heap.c 2>/dev/null
    for tracer in valgrind qemu; do
        [ $tracer = valgrind ] || { command -v qemu-x86_64 >/dev/null && [ -e "${program%/*}/tracer.so" ] && [ "$(uname -m)" = x86_64 ]; } || continue
        rm -f "$work"/first.*
        for run in 1 2; do
            [ $run = 1 ] || [ $tracer = qemu ] || break
            LD_PRELOAD=$work/other.so "$work/my, to:ols/cachesim" --machine tests/golden/full.cfg --tracer $tracer --heap "$work/heap" --annotate "$work/lines" \
                --timeline "$work/timeline" run -- "$work/heaps" >"$work/out" 2>"$work/err" </dev/null
            check "$tracer: the heap, from a folder with blanks: $(on_heap 'of third'): $(tail -n 1 "$work/err")" [ "$(on_heap 'of third' | cut -d' ' -f2)" -ge 4096 ]
            check "$tracer: another preloaded library is lost: $(cat "$work/err")" grep -q "^loaded into .*/heaps$" "$work/err"
            [ $run = 2 ] || for file in heap lines timeline; do mv "$work/$file" "$work/first.$file"; done
        done
        for file in heap lines timeline; do
            [ $tracer = qemu ] || break
            check "$tracer: the second run's $file differs" cmp -s "$work/first.$file" "$work/$file"
        done
        [ ! -x "$work/static" ] || refuses "heap.so was not loaded into the program: it is linked statically" --machine toy --tracer $tracer --heap "$work/none" run -- "$work/static"
        check "$tracer: a file of a program that told nothing" [ ! -e "$work/none" ]
    done
    check "nothing stays in /tmp" [ -z "$(find /tmp -maxdepth 1 -name 'cachesim-heap-*' -newer "$work/heaps")" ]
fi

# ---- messages about the files ----

strip -o "$work/stripped" "$work/p0"
cachesim --l1 4k,2,64 --tracer valgrind --annotate "$work/x" run -- "$work/stripped"
check "a stripped program: $(cat "$work/err")" grep -q "no source line is known of $work/stripped: it is stripped" "$work/err"
check "the next command is not said" grep -qx "cachesim: $work/x is written; next: cg_annotate --sort=L1_load_misses $work/x, or kcachegrind; it lists the lines that miss" "$work/err"
cachesim --l1 4k,2,64 --tracer valgrind --annotate "$work/x" run -- "$work/p0"
check "a program that is not stripped: $(cat "$work/err")" [ "$(grep -c 'no source line' "$work/err")" -eq 0 ]
cachesim --l1 4k,2,64 --annotate "$work/x" "$work/p0.lackey"
check "a trace without symbols: $(cat "$work/err")" grep -q -- '--symbols FILE names the program' "$work/err"
refuses "not a program or library of 64 bits, '$work/p0@010'" --machine toy --annotate "$work/x" --symbols "$work/p0@010" "$work/p0.lackey"

# ---- words, and callgrind's format ----

check "annotate -- : $(cat "$work/err")" sh -c "cd '$work' && '$PWD/$program' --l1 4k,2,64 --tracer valgrind --callgrind calls --annotate lines annotate -- ./p0 >out 2>err"
check "... but not where options say where" [ ! -e "$work/annotate.out" -a -e "$work/lines" ]
if command -v callgrind_annotate >/dev/null; then
    totals=$(callgrind_annotate "$work/calls" 2>"$work/err" | sed -n 's/ PROGRAM TOTALS.*//; T; s/([^)]*)//g; s/,//g; s/  */ /g; s/^ //; s/ $//; p')
    check "callgrind_annotate complains: $(cat "$work/err")" [ ! -s "$work/err" ]
    check "callgrind_annotate's totals: $totals" [ "$totals" = "$(sed -n 's/^totals: //p' "$work/calls")" ]
    check "the totals are those of cachegrind's format" [ "$(sed -n 's/^totals: //p' "$work/calls")" = "$(sed -n 's/^summary: //p' "$work/lines")" ]
fi
check "record -- writes trace.binary" sh -c "cd '$work' && '$PWD/$program' --tracer valgrind record -- ./p0 >out 2>err"
check "... which is a trace: $(cat "$work/err")" cachesim --l1 4k,2,64 "$work/trace.binary"

# ---- a plug-in, line by line ----

plugin=kernels/plugin/naive.c
"${CC:-cc}" -g -O1 -w -no-pie -Ikernels/plugin kernels/plugin/drive.c $plugin -o "$work/drive"
check "a plug-in is annotated: $(cat "$work/err")" cachesim --l1 4k,2,64 --tracer valgrind --annotate "$work/driven" run -- "$work/drive" in_channels=8 out_channels=4 pad=1
line=$(awk '/^fl=/ { own = /naive[.]c$/ } own && /^[0-9]/ { print $2, $1 }' "$work/driven" | sort -rn | sed -n '1s/.* //p')
check "the line that loads most is $line" grep -qE 'sum \+=|image\[' <(sed -n "${line}p" $plugin)
check "the driver refuses what is no member: $("$work/drive" width=3 2>&1)" [ "$("$work/drive" width=3 2>&1)" = "drive: what is width=3?" ]

# ---- other tools ----

if command -v cg_annotate >/dev/null; then
    check "cg_annotate cannot read it: $(cg_annotate "$work/ours" 2>&1 | head -n 1)" sh -c "cg_annotate --auto=yes '$work/ours' >'$work/out' 2>'$work/err'"
    check "cg_annotate does not show the source" grep -q 'b\[j\]\[i\] =' "$work/out"
fi

finish
