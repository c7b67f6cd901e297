#!/bin/bash
# rewrite.sh routines|KERNELS PROGRAM OUT: writes copies of a program's machine code which record their accesses
# (rewrite.awk): of OpenBLAS's routines; or, with the archive of the kernels, of all that, of those, and of what calls
# them. MAGIC, CC, LD, NM and OBJDUMP are in the environment. Run in the project's folder.
set -euo pipefail

what=$1 program=$2 out=$3
here=counters/watch
names='sgemm_(kernel|itcopy|oncopy|beta|direct|small_kernel(_b0)?_[nt][nt])_(SKYLAKEX|COOPERLAKE|HASWELL|ZEN)'
[ "$what" = routines ] || names+='|sgemm_nn|cblas_sgemm'
trap 'rm -f "$out.s" "$out.o"' EXIT

rewrite() { # rewrite WHOLE: 1 if whole programs are copied, with their stacks
    awk -v MAGIC="$MAGIC" -v WORK=0x60000000 -v MAP=0x62000000 -v COUNTS=$((0x61000000)) -v WHOLE="$1" -f $here/x86.awk -f $here/rewrite.awk
}

disassemble() { "$OBJDUMP" -d -w --insn-width=16 "$@" "$program"; }

routines() {
    "$NM" -S "$program" | { grep -E " T ($names)$" || true; } | while read -r address size _ name; do
        echo "FUNCTION $name"
        disassemble --start-address="0x$address" --stop-address=$((0x$address + 0x$size))
    done
}

behind_kernels() { "$NM" -n "$program" | awk 'is_last { behind = $1 } { is_last = / T conv_/ } END { print "0x" behind }'; }

all_code() {
    "$NM" "$what"
    echo PROGRAM
    "$OBJDUMP" -t "$program"
    disassemble --stop-address="$(behind_kernels)"
    routines
}

if [ "$what" = routines ]; then
    routines | rewrite 0 >"$out.s"
else
    all_code | awk -v NAMES="^($names)\$" -f $here/functions.awk | rewrite 1 >"$out.s"
fi
$CC -c -o "$out.o" "$out.s"
"$LD" -static -nostdlib -T $here/rewritten.ld -o "$out" "$out.o"
