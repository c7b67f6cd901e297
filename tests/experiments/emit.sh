#!/usr/bin/env bash
# Plans and generated code as a compiler's engineer meets them. Run from the project's folder; PLAN, GEN and EXPERIMENT
# are the programs (default: in build/). EMIT=all checks the code of all layers of all models.
set -u

plan=${BUILD:-build}/sconv-plan
gen=${BUILD:-build}/sconv-gen
experiment=${BUILD:-build}/experiment
program=$plan
# shellcheck source=tests/check.bash
. tests/check.bash

# ---- sconv-plan ----

refuses "LAYER is missing"
refuses "conv9" --layer vgg16:conv9
refuses "no name behind ':'" --layer vgg16:
refuses "pdp11" --layer vgg16:conv1_1 --machine pdp11
refuses "the value is missing" --layer
refuses "did you mean" --layers=vgg16 --machin=toy
refuses "not 'base'" --layer vgg16:conv1_1 --algo base
refuses "is no SConv" --layer g32ic32ih14oc32kh3ph1 --machine clx4208 --ukr avx512 --algo sconv_tuned
refuses "cannot write" --layer vgg16:conv1_1 --machine toy --json "--out=$work/no/such/folder/p.json"

"$plan" --machine clx4208 --layer vgg16:conv3_1 >"$work/out"
check "a plan is one line for people" grep -qx 'conv3_1 *f32_16x24__avx512 ws nc=16 k2=49 k3=11 packed' "$work/out"
"$plan" --machine clx4208 --layer vgg16:conv3_1 --set n_c=32,k2=5,schedule=is >"$work/out"
check "decisions of one's own, and what follows: $(cat "$work/out")" grep -qx 'conv3_1 *f32_16x24__avx512 is nc=32 k2=5 k3=11 packed' "$work/out"
"$plan" --machine clx4208 --layer vgg16:conv3_1 SET=n_c=32 --json >"$work/out"
check "... as JSON, too" [ "$(grep -c '"n_c": 32,\|"channel_sets": 4,' "$work/out")" -eq 2 ]
refuses "SET: layer 'conv3_1': tiling.n_c is 999, must be from 1 to 128: a group's channels" --layer vgg16:conv3_1 --set n_c=999
refuses "SET: unknown key 'n_k'; did you mean n_c?" --layer vgg16:conv3_1 --set n_k=3
refuses "SET: k2 must be a whole number, not 'five'" --layer vgg16:conv3_1 --set k2=five
refuses "SET: 'k2' is no key=value" --layer vgg16:conv3_1 --set n_c=2,k2
refuses "SET: layer 'conv3_1': tiling.schedule is 'os'" --layer vgg16:conv3_1 --set schedule=os
"$plan" --machine clx4208 --layer vgg16:conv3_1 --json >"$work/out"
check "the schema has the keys that are written, and no others" \
    cmp -s <("$plan" --schema | awk -F'`' 'NF > 2 { print $2 }' | sort) \
    <(awk -F'"' '/^      "/ { section = $2 } /^        "/ { print section "." $2 }' "$work/out" | sort)

# ---- sconv-streams ----

program=${BUILD:-build}/sconv-streams
refuses "were not built" OBSERVER=no/such/observer.so GUEST=no/such/guest "RESULTS=$work/results"
refuses "UKR=avx2" OBSERVER=/dev/null "GUEST=$plan" UKR=avx512 "RESULTS=$work/results"
check "nothing is half-written" [ ! -e "$work/results" ]

# ---- PLAN=file ----

program=$experiment
three="MODEL=tests/data/three.csv MACHINE=clx4208 TIMING=0 OBSERVE=0"
"$plan" --machine clx4208 --model tests/data/three.csv --json --out "$work/p.json"
with() { # with EXPRESSION: the file of plans with something changed
    sed -E "$1" "$work/p.json" >"$work/q.json"
}
# shellcheck disable=SC2086  # arguments are words
try() { "$experiment" $three "RESULTS=$work/results" "$@" >"$work/out" 2>"$work/err"; }
# shellcheck disable=SC2086
refuses_plan() { refuses "$1" $three "PLAN=$work/q.json"; }

with ''
check "a plan is replayed: $(tail -n 1 "$work/err")" try ALGO=sconv "PLAN=$work/q.json"
counts() { # counts ALGO: the simulated counts of its layers
    csv_rows "$work/results/clx4208/three/layers.csv" | awk -F, -v algo="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) { col[$i] = i; if ($i ~ /^sim_/) sim[i] = 1 } next }
        $col["algo"] == algo { line = $col["layer"]; for (i = 1; i <= NF; i++) if (i in sim) line = line "," $i; print line }'
}
check "as what CSA chose, it has the same counts" cmp -s <(counts sconv_plan) <(counts sconv_ws)
rm -rf "$work/results"
with 's/"n_c": 3,/"n_c": 4,/'
refuses_plan "q.json: plans[0]: tiling.n_c is 4, must be from 1 to 3: a group's channels"
with '0,/"in_tiles": [0-9]+/s//"in_tiles": 5/'
check "what follows from decisions is derived anew" try ALGO=sconv "PLAN=$work/q.json"
derived='q.json: plans\[0\]: derived anew from its layer and decisions: tiling.in_tiles$'
check "... in one line: $(cat "$work/err")" [ "$(grep -c "$derived" "$work/err")" -eq 1 ]
"$gen" "PLAN=$work/q.json" >/dev/null 2>"$work/err"
check "... for its code, too: $(cat "$work/err")" [ "$(grep -c "$derived" "$work/err")" -eq 1 ]
rm -rf "$work/results"
with '0,/"out_c": [0-9]+/s//"out_c": 31/'
try ALGO=sconv "PLAN=$work/q.json"
check "a plan of another shape is none of the layer's" [ "$? $(grep -c 'PLAN has no plan of its shape' "$work/err")" = "2 1" ]
with 's/f32_16x24__avx512/f32_7x7__avx512/'
refuses_plan "micro_kernel.name is 'f32_7x7__avx512'"
refuses "PLAN has no plan of its shape" MODEL=vgg16 LAYERS=conv1_1 MACHINE=toy TIMING=0 "PLAN=$work/p.json"
with 's/,$//'
refuses_plan "q.json:3: "
refuses "needs PLAN=file" MODEL=tests/data/three.csv MACHINE=toy TIMING=0 ALGO=sconv_plan
refuses "cannot open" MODEL=tests/data/three.csv MACHINE=toy TIMING=0 PLAN=no/such.json

# ---- plans that are not written as code ----

check "libsconv's plans are replayed where code is written: $(tail -n 1 "$work/err")" try UKR=avx2 ALGO=sconv,sconv_gen_tuned
check "... and the others are counted: $(cat "$work/err")" grep -qxF "experiment: sconv_gen_tuned: the paper's plan, not \
libsconv's, on 1 of 3 layers, of which the first is 'depthwise' with f32_direct_8x8__avx2: it is no SConv" "$work/err"
rm -rf "$work/results"
try UKR=avx2 ALGO=sconv,sconv_gen_tuned LAYERS=pointwise
check "... if there are any: $(cat "$work/err")" eval '! grep -q "paper" "$work/err"'
rm -rf "$work/results"

# ---- sconv-gen ----

program=$gen
toy="MODEL=tests/data/three.csv MACHINE=toy UKR=ref"
refuses "LAYER is missing"
refuses "must be c, mlir_linalg, sconv_opt or mlir, not 'mlir_matrix'" --layer vgg16:conv1_1 --emit mlir_matrix
refuses "f32_16x8__mma" --layer vgg16:conv1_1 --machine power10 --ukr f32_16x8__mma
refuses "code is not written for its micro-kernel" --layer vgg16:conv1_1 --machine power10 --ukr f32_16x8__mma
refuses "UKR=avx2 or UKR=avx512" --layer vgg16:conv1_1 --machine toy --ukr ref --emit mlir
refuses "fused in C only" $toy LAYERS=pointwise UKR=avx2 --emit mlir FUSE=relu
refuses "must be none, relu" $toy FUSE=gelu
check "mlir is another word for mlir_linalg" eval 'cmp -s <("$gen" --layer vgg16:conv1_1 --machine clx4208 --emit mlir) <("$gen" --layer vgg16:conv1_1 --machine clx4208 --emit mlir_linalg)'
refuses "has no groups" --layer g2ic4ih8oc4kh3ph1 --machine clx4208 --ukr f32_16x24__avx512 --emit mlir_linalg
refuses "these are 3" $toy "WEIGHTS=/dev/null"
: >"$work/empty"
refuses "fewer bytes than the layer's filters, which are 5760" $toy LAYERS=pointwise WEIGHTS="$work/empty"
refuses "at most 262144" --layer vgg16:conv5_1 --machine toy --ukr ref WEIGHTS=/dev/null
if [ -c /dev/full ]; then
    refuses "cannot write '/dev/full'" $toy --out /dev/full
    check "a device stays what it is" [ -c /dev/full ]
fi
SCONV_CC=no-such-compiler refuses "SCONV_CC" $toy CHECK=1
printf '#!/bin/sh\necho LLVM version 18.1.3\n' >"$work/mlir-opt"
chmod +x "$work/mlir-opt"
SCONV_MLIR_OPT=$work/mlir-opt refuses "no mlir-opt of LLVM 19" --layer vgg16:conv1_1 --machine clx4208 --emit mlir CHECK=1

cc=${CC:-cc}
compiles() { "$cc" -std=c99 -Wall -Wextra -Werror -c -o "$work/code.o" "$work/code.c" 2>"$work/err"; }
sed "s|^pointwise|x*/ int main(); /*|; s|^depthwise|int|" tests/data/three.csv >"$work/hostile.csv"
check "C is printed" "$gen" "MODEL=$work/hostile.csv" MACHINE=toy UKR=ref --out "$work/code.c"
check "... and compiles, whatever layers are called: $(head -n 1 "$work/err")" compiles
check "... as functions of their own names" [ "$(nm "$work/code.o" | grep -c ' T sconv_.*_pack_filters$')" -eq 3 ]
head -c 5760 /dev/zero | tr '\0' '\377' >"$work/weights"
refuses "float 0 is -nan, constants must be finite" $toy LAYERS=pointwise "WEIGHTS=$work/weights"
head -c 5760 /dev/zero | tr '\0' '?' >"$work/weights"
check "filters become constants" "$gen" $toy LAYERS=pointwise "WEIGHTS=$work/weights" --out "$work/code.c"
check "... of C that compiles, too: $(head -n 1 "$work/err")" compiles
check "... and nothing is packed then" eval '! grep -q pack_filters "$work/code.c"'

# Loops that no step would enter are left out: compilers doubt `while (t < 0)` of an unsigned number.
{ grep '^name,' tests/data/three.csv && echo "short,3,15,12,72,1,1,3,3,0,0,0,0,3,1,1"; } >"$work/short.csv"
check "steps of few windows are printed" "$gen" "MODEL=$work/short.csv" MACHINE=clx4208 UKR=avx512 ALGO=sconv_tuned --out "$work/code.c"
check "... a loop of them" grep -q 'while (t < 1)' "$work/code.c"
check "... and none that is never entered" eval '! grep -q "t < 0)" "$work/code.c"'

# printf() allocates if a call has many conversions and a library has extended printf (libquadmath): a call without
# memory is lost without a word. Our calls are short enough never to allocate.
cat >"$work/no_scratch.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
extern void *__libc_malloc(size_t);
void *malloc(size_t n)
{
    Dl_info from;
    if (n >= 2048 && n <= 8192 && !(n & (n - 1)) && dladdr(__builtin_return_address(0), &from) && from.dli_sname &&
        strstr(from.dli_sname, "scratch_buffer"))
        return NULL;
    return __libc_malloc(n);
}
END
if [ -z "${SAN-}" ] && [ -z "$(ldd "$gen" | grep asan)" ] && "$cc" -shared -fPIC -o "$work/no_scratch.so" "$work/no_scratch.c" -ldl 2>/dev/null; then
    for what in c mlir_linalg; do
        whole="MACHINE=clx4208 MODEL=tests/data/three.csv LAYERS=pointwise UKR=avx2 EMIT=$what"
        # shellcheck disable=SC2086  # arguments are words
        check "$what is printed" "$gen" $whole --out "$work/whole"
        # shellcheck disable=SC2086
        check "... without memory for long calls of printf" env "LD_PRELOAD=$work/no_scratch.so" "$gen" $whole --out "$work/poor"
        check "... and no statement of it is lost" cmp -s "$work/whole" "$work/poor"
    done
fi

checked() { "$gen" CHECK=1 MACHINE=clx4208 "$@" >"$work/out" 2>"$work/err"; }
sets="ref$(grep -qw avx2 /proc/cpuinfo 2>/dev/null && echo ' avx2')$(grep -qw avx512vl /proc/cpuinfo 2>/dev/null && echo ' avx512')"
case ${CONV_CPU-} in baseline) sets=ref ;; avx2) sets=${sets% avx512} ;; esac
best=${sets##* }
for set in $sets; do
    check "code of $set is right: $(tail -n 1 "$work/err")" checked MODEL=tests/data/three.csv "UKR=$set"
done
for what in relu6 bias bias_relu; do
    check "$what is fused: $(tail -n 1 "$work/err")" checked MODEL=tests/data/three.csv "UKR=$best" "FUSE=$what"
done
check "code of real layers is right: $(tail -n 1 "$work/err")" \
    checked MODEL=squeezenet "LAYERS=conv10,fire8*,fire2/expand3x3" "UKR=$best"
if [ "$best" != ref ]; then
    check "... and panel by panel, with few windows: $(tail -n 1 "$work/err")" \
        checked MODEL=resnet18 LAYERS='stage4*conv1,stage*down' UKR=f32_16x24__avx2 ALGO=sconv_tuned MACHINE=zen3
    walked="MODEL=googlenet LAYERS=inception_3a/5x5 UKR=avx2 ALGO=sconv_tuned MACHINE=zen3"
    # shellcheck disable=SC2086  # arguments are words
    check "libsconv walks tap by tap with AVX2" \
        [ "$("$plan" $walked | awk '{ print $2 }')" = f32_16x24_taps__avx2 ]
    # shellcheck disable=SC2086
    check "... and that code is right: $(tail -n 1 "$work/err")" checked $walked
fi
if [ "$best" = avx512 ]; then
    check "... and as libsconv plans them: $(tail -n 1 "$work/err")" \
        checked MODEL=squeezenet LAYERS=conv1,fire8/squeeze1x1,fire2/expand3x3 UKR=avx512 ALGO=sconv_tuned MACHINE=spr
fi
if [ "$best" = ref ]; then
    echo "emit: skipped: MLIR, which is written for AVX2 and AVX-512"
elif mlir-opt-19 --version >/dev/null 2>&1 && clang-19 --version >/dev/null 2>&1; then
    "$gen" --machine clx4208 --layer squeezenet:conv10 --ukr "$best" --emit mlir --out "$work/code.mlir"
    # shellcheck disable=SC2046  # passes are words
    check "the README's command lowers MLIR" \
        eval 'mlir-opt-19 $(sed -n "s,^// passes: ,,p" "$work/code.mlir") "$work/code.mlir" | grep -q "llvm.func @sconv_conv10"'
    [ ! -x "${BUILD:-build}/sconv-opt" ] || check "outputs of two images, whose rows are cut, are not copied: $(tail -n 1 "$work/err")" \
        checked LAYER=mb2ic3ih21oc40kh3 "UKR=$best" EMIT=sconv_opt # it would need memrefCopy, which nothing here has
    linalg="EMIT=mlir_linalg UKR=$best"
    # shellcheck disable=SC2086  # arguments are words
    check "linalg, tiled by a script, is right: $(tail -n 1 "$work/err")" \
        checked MODEL=experiments/emit/dozen.csv $linalg
    # shellcheck disable=SC2086
    check "... of two images, with edges of every loop, too: $(tail -n 1 "$work/err")" \
        checked LAYER=mb2ic37ih23iw29oc50oh12ow10kh5kw4sh2sw3ph2pw1 "ALGO=sconv_is" $linalg
    # shellcheck disable=SC2086
    check "... dilated, too: $(tail -n 1 "$work/err")" checked LAYER=ic19ih17iw29oc26kh3kw2sw2dh1dw2ph1 "ALGO=sconv_ws" $linalg
    sliced() { # sliced ALGO LOOPS: what mlir-opt makes of a plan: iterations end at N and step by M
        "$gen" --machine clx4208 --layer vgg16:conv4_1 --ukr f32_16x24__avx512 --algo "$1" --emit mlir_linalg --out "$work/code.mlir"
        mlir-opt-19 --transform-interpreter --inline --transform-interpreter=entry-point=vectorize --test-transform-dialect-erase-schedule \
            --symbol-dce --canonicalize "$work/code.mlir" >"$work/out" 2>"$work/err"
        sed -n 's/.*scf.for .* to %c\([0-9]*\)[_0-9]* step %c\([0-9]*\).*/\1:\2/p' "$work/out" | paste -sd ' ' >"$work/loops"
        check "$1's slices become loops: $(cat "$work/loops")" grep -qF "$2" "$work/loops"
    }
    # Behind the first, channel sets of 16; of 28 rows 24 in sets of 8, whose windows are copied: channels, taps, rows; then tiles.
    sliced sconv_ws "240:16 24:8 16:1 3:1 3:1 8:1 504:24 224:16 144:1"
    sliced sconv_is "240:16 24:8 16:1 3:1 3:1 8:1 224:16 504:24 144:1"
    seq 1 1440 | awk '{ printf "%c%c%c%c", 0, 0, 128 + $1 % 2, 63 }' | head -c 5760 >"$work/weights"
    # shellcheck disable=SC2086
    "$gen" MACHINE=clx4208 MODEL=tests/data/three.csv LAYERS=pointwise "WEIGHTS=$work/weights" $linalg --out "$work/code.mlir"
    sed -n 's,^// passes: ,,p' "$work/code.mlir" | tr ' ' '\n' | sed '/symbol-dce/q' >"$work/first"
    # shellcheck disable=SC2046
    check "constant filters are packed already" \
        eval 'mlir-opt-19 $(cat "$work/first") --cse --canonicalize "$work/code.mlir" | grep -q "memref.global .* constant @.* : memref<48x48xf32>"'
else
    echo "emit: skipped: MLIR; mlir-opt-19 and clang-19 are not here (.ci/deps mlir installs them)"
fi
"$gen" MODEL=tests/data/three.csv LAYERS=depthwise MACHINE=toy "UKR=$best" TIME=2 "RESULTS=$work/results" >"$work/out" 2>"$work/err"
timed() { # timed CODE: its rows that have a time
    csv_rows "$work/results/toy/emit/tests~data~three.csv,depthwise/code.csv" | awk -F, -v code="$1" '$2 == code && $6 + 0 > 0' | wc -l
}
check "code is timed beside the library" [ "$(timed library) $(timed c)" = "1 1" ]
if [ "$best" = ref ]; then
    check "... and says of MLIR why not" grep -q 'mlir_linalg,.*: .*UKR=avx2' "$work/results/toy/emit/tests~data~three.csv,depthwise/code.csv"
else
    check "... and says of groups why linalg is not" grep -q 'depthwise,mlir_linalg,.*: ' "$work/results/toy/emit/tests~data~three.csv,depthwise/code.csv"
fi
if [ "${EMIT-}" = all ]; then
    for what in c $(mlir-opt-19 --version >/dev/null 2>&1 && echo mlir_linalg); do
        check "$what of all layers is right: $(tail -n 1 "$work/err")" checked MODEL=all "UKR=$best" "EMIT=$what"
        cat "$work/out"
    done
    if [ "$best" = avx512 ]; then
        check "... and C as libsconv plans them: $(tail -n 1 "$work/err")" \
            checked MODEL=all UKR=avx512 ALGO=sconv_tuned MACHINE=spr
        cat "$work/out"
    fi
fi

echo "emit: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
