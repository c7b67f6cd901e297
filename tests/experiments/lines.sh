#!/usr/bin/env bash
# Misses of a plug-in by source line, as a user meets them. Run from the project's folder; BUILD has the programs
# (default build), SAN names the sanitizers of the programs.
set -u

annotate=${BUILD:-build}/annotate
program=$annotate
# shellcheck source=tests/check.bash
. tests/check.bash

if [ -n "${SAN:-}" ] || [ "$(uname -m)" != x86_64 ] || ! command -v cc qemu-x86_64 addr2line >/dev/null; then
    echo "lines of plug-ins are not tested: that needs cc, qemu-x86_64, addr2line, an x86 CPU and programs without sanitizers"
    exit 0
fi

export XDG_CACHE_HOME=$work # where programs are kept
made="CACHESIM=${BUILD:-build}/cachesim"
layer=tests/data/three.csv:pointwise

# ---- runs that cannot begin ----

cp kernels/plugin/skeleton.c "$work/mine.c"
echo 'int broken = ;' >"$work/broken.c"
refuses "ALGO is missing" "LAYER=$layer"
refuses "LAYER is missing" "ALGO=$work/mine.c"
refuses "there is no file '$work/minee.c', did you mean $work/mine.c?" "ALGO=$work/minee.c" "LAYER=$layer" "$made"
for algo in base "$work/mine.c,$work/broken.c"; do
    refuses "one plug-in's C file is wanted" "ALGO=$algo" "LAYER=$layer" "$made"
done
refuses "'vgg16' is 13 layers; one is wanted, such as LAYER=vgg16:conv1_1" "ALGO=$work/mine.c" LAYER=vgg16 "$made"
"$annotate" "ALGO=$work/broken.c" "LAYER=$layer" "$made" "RESULTS=$work/results" >"$work/out" 2>"$work/err"
check "what does not compile is said: $(cat "$work/err")" grep -q "it does not compile: what gcc says stands above" "$work/err"
refuses "only 3x3 filters, stride 1" ALGO=tests/data/plugins/winograd.c "LAYER=$layer" "$made"

# ---- a line that misses ----

# Of the lines of this plug-in, one loads memory that no cache has: 4096 lines of 64 bytes, each once; and a second, through an intrinsic, 1024.
cat >"$work/strided.c" <<'END'
#include <conv_plugin.h>
#include <immintrin.h>

float far_away[1 << 22];

void conv(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)
{
    volatile float sum = 0;

    for (int i = 0; i < 4096; i++)
        sum += far_away[i * 1024]; /* misses: 1 < 2 & 3 */
    for (int i = 0; i < 1024; i++)
        sum += _mm_cvtss_f32(_mm_load_ps(&far_away[i * 1024 + 512])); /* misses less */
    for (int i = 0; i < s->out_channels * s->out_h * s->out_w; i++)
        out[i] = sum + in[0] * filters[0];
}
END
succeeds "ALGO=$work/strided.c" "LAYER=$layer" MACHINE=toy "$made"
dir=$(echo "$work"/results/toy/annotate/*)
check "the screen names the line: $(cat "$work/out")" grep -qF "% of the waiting for loads is in line 11 of strided.c: sum += far_away[i * 1024]; /* misses: 1 < 2" <(unwrapped "$work/out")
check "... and the page" grep -qF "/source.html" <(tr -d ' \n' <"$work/out")
check "the screen has at most 25 lines" [ "$(wc -l <"$work/out")" -le 25 ]
check "line 11 misses 4096 times" [ "$(columns "$dir/lines.csv" line l1_load_misses | awk '$1 == 11 { print $2 }')" = 4096 ]
check "an intrinsic is its caller's line" grep -qE '^102[0-9]$' <(columns "$dir/lines.csv" line l1_load_misses | awk '$1 == 13 { print $2 }')
check "cachegrind's file has line 11" grep -q '^11 ' "$dir/annotate.out"
check "callgrind's file begins as one" grep -q '^# callgrind format' "$dir/callgrind.out"
check "the source stands on a page" grep -q 'misses: 1 &lt; 2 &amp; 3' "$dir/source.html"
check "the verdict says what waiting is" grep -q "as if no wait was hidden" "$dir/verdict.txt"
! command -v cg_annotate >/dev/null || check "cg_annotate reads the file" grep -q "strided.c" <(cg_annotate "$dir/annotate.out" 2>&1)

succeeds "ALGO=$work/strided.c" "LAYER=$layer" MACHINE=toy "$made" MORE=1
says "is in line 11"

# A run that does not end is ended, and counts as far as it came.
sed 's/i < 4096; i++/1; i = (i + 1) % 4096/; s/"/"/' "$work/strided.c" >"$work/endless.c"
succeeds "ALGO=$work/endless.c" "LAYER=$layer" MACHINE=toy "$made" LIMIT=2
says "the first 2 s of the run"
says "in line 11 of endless.c"

finish
