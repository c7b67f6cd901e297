#!/usr/bin/env bash
# Code for optional instruction sets of a family is only in the files *_<isa>.c, whose functions are in kernel tables
# and called from nowhere else. Reads the built objects: BUILD, the folder; ARCH, the family; OBJDUMP and NM, the tools.
# Builds whose CFLAGS ask for an optional set everywhere (-march=...) are not checked.
set -u

BUILD=${BUILD:-build}
program=
# shellcheck source=tests/check.bash
. tests/check.bash

# Per family: the files' names, and the instructions (AT&T mnemonics and operands) that no other file may hold.
case ${ARCH-} in
x86_64)
    # VEX- and EVEX-encoded instructions start with v; opmasks; BMI.
    sets='avx2 avx512'
    wide='^(v[a-z]|k(mov|or|and|x|not|sh|unpck|test|add)[a-z]* |(mulx|rorx|shlx|shrx|sarx|andn|bzhi|pdep|pext|blsr|blsi|blsmsk|bextr|lzcnt)[ lq])'
    ;;
ppc64le)
    # Prefixed instructions, pairs of vectors, the matrix engine.
    sets='mma vsx'
    wide='^(p(la|li|addi|ld|lwz|lwa|lhz|lbz|std|stw|sth|stb|lxv|stxv|lfs|lfd|stfs|stfd|nop|lxvp|stxvp) |lxvpx? |stxvpx? |xx(setaccz|mfacc|mtacc)|xvf32ger)'
    ;;
*)
    echo "isa: skipped: no instruction set of ${ARCH:-this CPU family} is optional here"
    exit 0
    ;;
esac
case " ${CFLAGS-} " in
*-march=* | *-mcpu=* | *-mavx*)
    echo "isa: skipped: CFLAGS ask for instruction sets everywhere"
    exit 0
    ;;
esac

# is_for SET OBJECT: whether the object's file is compiled for the set
is_for() { case $2 in *_"$1".o) return 0 ;; *) return 1 ;; esac }

# Prints 'object function instruction' of every optional instruction in the archives and objects.
optional_code() {
    ${OBJDUMP:-objdump} -d --no-show-raw-insn "$@" | awk -F'\t' -v wide="$wide" '
        /file format/ { n = split($0, path, "/"); object = path[n]; sub(/:.*/, "", object) }
        /^[0-9a-f]+ <.*>:$/ { name = $0; sub(/^[^<]*</, "", name); sub(/>:$/, "", name) }
        NF > 1 && $2 ~ wide { print object, name, $2 }'
}

# Objects that are not from a file of a set, or from a file of narrower vectors.
misplaced() {
    local pattern=
    for set in $sets; do pattern="$pattern${pattern:+|}_$set\\.o"; done
    awk -v own="^[^ ]*($pattern)$" '$1 !~ own || ($1 ~ /_avx2\.o$/ && /zmm|%k[1-7]/)' "$1" | head -n 3 | tee "$work/found" >&2
    [ ! -s "$work/found" ]
}

# In the archive, kernels of every set are found: the search is not blind.
finds_kernels() { # finds_kernels LIST
    local set
    for set in $sets; do
        grep -q "_$set\\.o " "$1" || return 1
    done
}

# A kernel's vector file shows nothing but functions whose names end in the instruction set: descriptors, and functions
# that every CPU calls, must be elsewhere.
shows_functions_only() { # shows_functions_only SET ARCHIVE
    ${NM:-nm} -A -g --defined-only "$2" | awk -F'[: ]+' -v set="$1" '
        $2 ~ "_" set "\\.o$" { n++; if ($(NF - 1) != "T" || $NF !~ "__" set "$") { print; bad = 1 } }
        END { exit bad || !n }' >&2
}

# The functions of an archive that hold optional code are among those of a list.
only_of_objects() { # only_of_objects ARCHIVE LIST
    comm -23 <(optional_code "$1" | cut -d' ' -f2 | sort -u) <(cut -d' ' -f2 "$2" | sort -u) | head -n 3 | tee "$work/found" >&2
    [ ! -s "$work/found" ]
}

for archive in "$BUILD"/lib{sim,kernels,counters,experiments,papers}.a; do
    optional_code "$archive" >"$work/$(basename "$archive")"
    check "$archive holds instructions that are not every CPU's, outside the files for them" \
        misplaced "$work/$(basename "$archive")"
done
check "the kernels of $sets are not found in libkernels.a" finds_kernels "$work/libkernels.a"
for set in $sets; do
    check "libkernels.a: *_$set.c show more than functions named *__$set" shows_functions_only "$set" "$BUILD/libkernels.a"
done
# The installed library is one object, made of some of the objects.
check "libsconv.a holds instructions that its objects do not" only_of_objects "$BUILD/libsconv.a" <(cat "$work/libkernels.a" "$work/libsim.a")
finish
