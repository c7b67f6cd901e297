#!/usr/bin/env bash
# Users' convolutions on the bench, as a user meets them. Run from the project's folder; BUILD has the programs (default
# build), SAN names the sanitizers of the programs, OBSERVER is the plugin of QEMU.
set -u

experiment=${BUILD:-build}/experiment
program=$experiment
# shellcheck source=tests/check.bash
. tests/check.bash

if ! command -v cc >/dev/null; then
    echo "plug-ins are not tested: there is no compiler cc"
    exit 0
fi

failing=tests/data/plugins/failing.c
export XDG_CACHE_HOME=$work # where objects are kept
limit=$([ -n "${SAN:-}" ] && echo 10 || echo 4) # emptying caches takes long: 480 MiB of L3, shadow memory, a busy computer
model=tests/data/three.csv
dir=$work/results/host/three # its results
quick=(MACHINE=host OBSERVE=0 REPS=1 "PLUGIN_LIMIT=$limit")

run() { # run ALGO ARGUMENTS...: succeeds
    local status
    "$experiment" "${quick[@]}" "MODEL=$model" "RESULTS=$work/results" "ALGO=$1" "${@:2}" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    check "$*: exit status $status: $(tail -1 "$work/err")" [ "$status" -eq 0 ]
}

list() { # list FUNCTION...: ALGO for these functions of failing.c
    printf base
    printf ",$failing:%s" "$@"
}

time_of() { # time_of ALGO: what layers.csv has for its time in the first layer, with blanks as '_'
    columns "$dir/layers.csv" algo measured_time_ns | awk -v a="$1" '$1 == a { print $2; exit }'
}

says() { # says ALGO WORDS: its times are missing, and WORDS are in the reason, in layers.csv and in the verdict
    local time
    time=$(time_of "$1")
    check "$1: '$2' is not in: $time" grep -qF -- "$(tr ' ,' '_;' <<<"$2")" <<<"$time"
    check "$1: '$2' is not in the verdict" grep -qF -- "$2" <(unwrapped "$dir/verdict.txt")
}

was_timed() { # was_timed ALGO: it has a time, or a neighbour on this computer took all
    check "$1: $(time_of "$1")" grep -qE '^([0-9]|not_available:_disturbed)' <<<"$(time_of "$1")"
}

# ---- the header ----

check "version 1 of the header, in C11" cc -std=c11 -pedantic -Wall -Wextra -Werror -fsyntax-only -Ikernels/plugin tests/data/plugins/abi.c
! command -v c++ >/dev/null || check "... and in C++" c++ -std=c++11 -pedantic -Wall -Wextra -Werror -fsyntax-only -Ikernels/plugin -x c++ tests/data/plugins/abi.c

# A program around a plug-in takes a record or a function, and says which of the two is missing.
for file in naive skeleton; do
    check "drive.c with $file.c" cc -w -Ikernels/plugin kernels/plugin/drive.c kernels/plugin/$file.c -o "$work/drive" && check "... runs" "$work/drive" in_h=5 in_w=5
done
echo 'int nothing;' >"$work/nothing.c"
cc -w -Ikernels/plugin kernels/plugin/drive.c tests/data/plugins/marks.c -o "$work/drive" && check "... with a record alone" "$work/drive" in_h=5 in_w=5
cc -w -Ikernels/plugin kernels/plugin/drive.c "$work/nothing.c" -o "$work/drive" && "$work/drive" 2>"$work/err"
check "... without either: $(cat "$work/err")" grep -q "has neither conv_plugin nor conv" "$work/err"

# ---- runs that cannot begin ----

refuses "more than 16 plug-ins" "ALGO=$(for i in {0..16}; do printf "%s:right," "$failing"; done)base" "MODEL=$model" "${quick[@]}"
refuses "PLUGIN_CFLAGS has a quote that is not closed" "ALGO=$failing:right" "PLUGIN_CFLAGS='" "MODEL=$model" "${quick[@]}"

refuses "PLUGIN_THREADS=2: CLOCK=cpu sees one thread; CLOCK=wall sees all" "ALGO=$failing:right" PLUGIN_THREADS=2 "MODEL=$model" "${quick[@]}"
refuses "PLUGIN_THREADS=1024: this program may use" "ALGO=$failing:right" PLUGIN_THREADS=1024 CLOCK=wall "MODEL=$model" "${quick[@]}"
refuses "PLUGIN_PLAN has more than 511 bytes" "ALGO=$failing:right" "PLUGIN_PLAN=$(printf %512d 0)" "MODEL=$model" "${quick[@]}"

# ---- a plug-in's forbidden act costs the plug-in's columns, and one line ----

run "$(list right crashes aborts exits hangs writes_behind writes_before writes_far)"
was_timed base
was_timed failing_right
says failing_crashes "the plug-in crashed (write to address 0x10) before timing, in layer 'stem/7x7_s2'"
says failing_aborts "the plug-in crashed (Aborted) before timing, in layer 'stem/7x7_s2'"
says failing_exits "the plug-in called exit(3) before timing"
says failing_hangs "the plug-in did not come back before timing: it was ended after $limit s"
says failing_writes_behind "the plug-in wrote outside its output: 1 bytes behind it"
says failing_writes_before "the plug-in wrote outside its output: 4 bytes before it"
says failing_writes_far "the plug-in touched memory 65 bytes behind its output, before timing"

# Figures would take most of the time.
mkdir "$work/fake"
printf '#!/bin/sh\nexit 77\n' >"$work/fake/gnuplot"
chmod +x "$work/fake/gnuplot"
PATH=$work/fake:$PATH

run "$(list writes_input is_wrong leaves_out starts_threads fails_later pointwise)"
was_timed base
says failing_writes_input "the plug-in wrote to its input, element 7, before timing"
says failing_is_wrong "computes a wrong result: output element"
says failing_leaves_out "computes a wrong result: output element 5 is"
says failing_starts_threads "the plug-in runs more threads than it may: PLUGIN_THREADS=1"
check "a shape that it cannot do is that layer's reason" [ "$(columns "$dir/layers.csv" algo measured_time_ns |
    grep -c '^points .*only_1x1_filters')" -eq 2 ]

# A plug-in that cannot be compiled or loaded ends the run at the start: exit status 2, and the compiler's words.
ends() { # ends ALGO WORDS: nothing is run, and WORDS are the last line
    "$experiment" "${quick[@]}" "MODEL=$model" "RESULTS=$work/results" "ALGO=base,$1" >"$work/out" 2>"$work/err" </dev/null
    check "$1: exit status $?, not 2" [ $? -eq 2 ]
    check "$1: '$2' is not in: $(tail -1 "$work/err")" grep -qF -- "$2" <(tail -1 "$work/err")
    check "$1: something was done: $(cat "$work/out")" [ ! -s "$work/out" ]
}
rm -rf "$work/results"
ends "$failing:of_tomorrow" "was made for version 2 of conv_plugin.h, this is 1"
ends "$failing:has_no_run" "its record has no run"
ends "$failing:nothing" "has no nothing"
ends tests/data/plugins/no_c.c "it does not compile: what cc says stands above"
check "the compiler's words are shown" grep -q "no_c.c:.*error" "$work/err"
ends tests/data/three.csv "cannot be loaded"
ends tests/data/no.so "ALGO: plug-in tests/data/no.so: tests/data/no.so: No such file or directory"
ends tests/data/nocsv.c "tests/data/nocsv.c: No such file or directory"
printf '#include "conv_plugin.h"\nvoid conv(float *in, float *out)\n{\n    *out = *in;\n}\n' >"$work/other.c"
ends "$work/other.c" "it does not compile"
printf 'int twice(int x)\n{\n    return 2 * x;\n}\n' >"$work/other.c"
ends "$work/other.c" "has no conv_plugin, and no function conv"
printf '#include <unistd.h>\n__attribute__((constructor)) static void begin(void)\n{\n    _exit(7);\n}\n' >"$work/other.c"
ends "$work/other.c" "the plug-in called exit(7) while it was loaded"
check "nothing is left of it" nothing_left
# Paths that are no regular file: a pipe, a device, a socket, a folder, a link to itself. The run does not wait for a
# pipe.
mkfifo "$work/pipe.c" "$work/pipe.so"
ln -s /dev/zero "$work/zero.c"
ln -s /dev/zero "$work/zero.so"
ln -s loop.c "$work/loop.c"
mkdir "$work/folder.c"
for file in pipe.c pipe.so zero.c zero.so; do ends "$work/$file" "it is no file, but a pipe, a device or a socket"; done
ends "$work/loop.c" "Too many levels of symbolic links"
ends "$work/folder.c" "Is a directory"
# A compiler that does not end is killed with its children: a script stands for the compiler.
printf '#!/bin/sh\nsleep 1000 &\necho $! >"%s"\nwait\n' "$work/sleeper" >"$work/slow"
chmod +x "$work/slow"
cp kernels/plugin/naive.c "$work/other.c"
SCONV_CC=$work/slow "$experiment" "${quick[@]}" "MODEL=$model" "RESULTS=$work/results" "ALGO=base,$work/other.c" >/dev/null 2>"$work/err" </dev/null &
for i in {1..600}; do [ -s "$work/sleeper" ] || sleep 0.05; done
kill -TERM $!
wait $!
check "a signal ends it: exit status $?" [ $? -ne 0 ]
for i in {1..100}; do [ ! -e "/proc/$(cat "$work/sleeper")" ] || sleep 0.05; done
check "... and its children" [ -s "$work/sleeper" -a ! -e "/proc/$(cat "$work/sleeper")" ]
# Names of files without their ending.
cp kernels/plugin/naive.c "$work/mine.c"
(cd kernels/plugin && ls naive.c >/dev/null) && ends naive "ALGO: unknown algorithm 'naive'; there is a plug-in: ALGO=kernels/plugin/naive.c"
ends nave "unknown algorithm 'nave', did you mean base? known: base"
mkdir -p "$work/results"

run "$(list unprepared)"
was_timed base
says failing_unprepared "the plug-in's prepare failed: Cannot allocate memory"

run "base,tests/data/plugins/marks.c" RULER=0 PLUGIN_LIMIT=20
for phase in packing micro_kernel other; do
    check "$phase is no event of its own" grep -q '^{"ph":"X".*"pid":2,.*"provider":"marks".*"phase":"'$phase'"' "$dir/trace.json"
done
run "$(list fails_later)" REPS=40
case $(time_of base) in
not*) ;; # disturbed
*)
    check "a crash names its layer: $(columns "$dir/layers.csv" algo measured_time_ns | grep -m1 '^failing_fails_later not')" \
        grep -q "^failing_fails_later .*crashed_(Illegal_instruction)_in_a_timed_run;_in_layer_'" <(columns "$dir/layers.csv" algo measured_time_ns)
    ;;
esac

# ---- timed runs do the work ----

# Plug-ins that are fast in timed runs alone. Each run has a new input, and the outputs are checked.
timed=tests/data/plugins/timed.c
ways() { printf base && printf ",$timed:%s" "$@"; }
quick=(MACHINE=host OBSERVE=0 REPS=12 RULER=0 PLUGIN_LIMIT=20 LAYERS=depthwise)
dir=$work/results/host/three,depthwise
run "$(ways knows_elements knows_places skips leaves_channels slips is_behind rounds_late writes_late has_it_done comes_back_early forks_late \
    forks_and_crashes honest puts_off begins_early)"
for way in knows_places leaves_channels slips is_behind rounds_late puts_off; do says timed_$way "the plug-in computes a wrong result in a timed run: output element"; done
says timed_writes_late "the plug-in wrote to its input in a timed run, in layer 'depthwise'"
says timed_has_it_done "the plug-in has other threads or processes do its work"
says timed_comes_back_early "the plug-in comes back from a timed run before its output is there"
says timed_forks_late "the plug-in started a process, which runs on, in layer 'depthwise'"
says timed_forks_and_crashes "the plug-in crashed (write to address 0x10) before timing"
check "what leaves its session does not outlive the bench" [ -z "$(grep -lsx plugin_escaped /proc/[0-9]*/comm)" ]
for way in knows_elements skips honest; do # 110592 multiply-adds, one by one: no kept output serves
    check "$way does its work: $(time_of timed_$way)" awk -v t="$(time_of timed_$way)" 'BEGIN { exit !(t > 20000 || t ~ /disturbed/) }'
done
check "what converts images is said: $(grep -c conversions "$dir/verdict.txt")" [ "$(grep -c '  conversions  images are converted outside of its times: [0-9][0-9.]* ms' "$dir/verdict.txt")" -eq 2 ]
check "... also of the fastest" grep -qE '^VERDICT .* is faster than .*x with its conversions of images' <(unwrapped "$dir/verdict.txt")
for cache in warm network; do
    run "$(ways right skips slips is_behind puts_off)" CACHE=$cache
    was_timed timed_right
    for way in slips is_behind puts_off; do says timed_$way "the plug-in computes a wrong result in a timed run: output element"; done
    check "$cache: who skips does its work, or is found: $(time_of timed_skips)" grep -qE 'wrong_result|before_its_output|disturbed|^[0-9]{5}' <<<"$(time_of timed_skips)"
done

# ---- some layers ----

quick=(MORE=1 MACHINE=host OBSERVE=0 REPS=1 RULER=0 "PLUGIN_LIMIT=$limit")
dir=$work/results/host/three
run "$(list pointwise crashes_elsewhere is_wrong_elsewhere right)"
check "what does one layer is told by that: $(unwrapped "$dir/verdict.txt" | grep -o 'points (points).\{90\}')" \
    grep -qE 'points \(points\) does 1 of 3 layers, there [0-9.]+x: [a-z ,]* base; not the others: only 1x1 filters misses simulated.*1 of 3 layers: L1' <(unwrapped "$dir/verdict.txt")
check "who crashes in a layer keeps the others: $(columns "$dir/layers.csv" algo measured_time_ns | grep -c '^failing_crashes_elsewhere [0-9]')" \
    [ "$(columns "$dir/layers.csv" algo measured_time_ns | grep -cE '^failing_crashes_elsewhere ([0-9]|not_available:_disturbed)')" -eq 2 ]
check "... and names it" grep -q "does 2 of 3 layers, there .*: the plug-in crashed (write to address 0x10) before timing, in layer 'pointwise'" <(unwrapped "$dir/verdict.txt")
check "who is wrong in a layer has no times: $(columns "$dir/layers.csv" algo measured_time_ns | grep '^failing_is_wrong_elsewhere' | paste -sd ' ')" \
    [ "$(columns "$dir/layers.csv" algo measured_time_ns | grep -c "^failing_is_wrong_elsewhere not_available:_layer_'pointwise':_.*computes_a_wrong_result")" -eq 3 ]
check "a reason says whose it is: $(grep 'not available' "$work/out" | head -3)" grep -q '^measured time of .*failing_is_wrong_elsewhere.* not available: layer' "$work/out"
check "... and is nobody else's" [ "$(grep -c 'of [a-z_, ]*failing_right.* not available.*wrong\|^measured misses not available.*wrong' "$work/out")" -eq 0 ]

# Texts of a plug-in: control characters, and characters of a figure's language, are cleaned.
run "$(ways odd_words one_title same_title)" TIMING=0 MACHINE=toy
dir=$work/results/toy/three
check "words are clean: $(grep -ac '^failing' "$work/err")" [ -z "$(LC_ALL=C grep -alP '[\x00-\x08\x0b-\x1f\x7f]|\xff|\xc2\x9b|\xe2\x80\xae' "$work/out" "$work/err" "$dir"/*.csv "$dir"/*.txt)" ]
check "... and tell the same: $(columns "$dir/layers.csv" algo simulated_loads | grep -m1 odd_words)" grep -qF 'timed_odd_words not_available:_not_this_[31m_shape_??_?;_ever' <(columns "$dir/layers.csv" algo simulated_loads)
check "two of one title are told apart: $(grep 'in figures' "$work/err")" grep -q "same_title is called 'One title (2)' in figures: there is another 'One title'" "$work/err"

quick=(MACHINE=host OBSERVE=0 REPS=1 "PLUGIN_LIMIT=$limit")
dir=$work/results/host/three

# Threads: the requested number and no more; an algorithm with several threads is marked.
run "base,tests/data/plugins/team.c" PLUGIN_PLAN=2 PLUGIN_LIMIT=20
says team "the plug-in's prepare failed: Invalid argument"
if [ "$(nproc)" -ge 2 ]; then
    run base,tests/data/plugins/team.c PLUGIN_THREADS=2 PLUGIN_PLAN=2 CLOCK=wall RULER=0 PLUGIN_LIMIT=20
    was_timed team_2_threads
    check "the verdict names the threads, without what figures would take for a format" grep -q '100 *team, 2 threads' <(unwrapped "$dir/verdict.txt")
    run "base,tests/data/plugins/team.c" PLUGIN_THREADS=2 TIMING=0 MACHINE=toy "RESULTS=$work/team"
    check "accesses are those of one: $(columns "$work/team/toy/three/layers.csv" algo simulated_loads | grep -m1 team)" \
        [ "$(columns "$work/team/toy/three/layers.csv" algo simulated_loads | grep -c '^team_2_threads [0-9]')" -eq 3 ]
fi

# ---- faults that the first run does not show, and changes outside the plug-in ----

quick=(MACHINE=toy OBSERVE=0 TIMING=0 "PLUGIN_LIMIT=$limit")
dir=$work/results/toy/three
doubts() { # doubts ALGO WORDS: it is not simulated, and WORDS are in the reason of a layer
    check "$1: '$2' is not in: $(columns "$dir/layers.csv" algo simulated_loads | grep -m1 "^$1 ")" grep -qF -- "$(tr ' ,' '_;' <<<"$2")" \
        <(columns "$dir/layers.csv" algo simulated_loads | grep "^$1 ")
}
run "$(list is_wrong_again adds_nothing remembers rounds forks comes_back_twice)" PLUGIN_LIMIT=20
doubts failing_is_wrong_again "a wrong result in its second run, on the input times -1.00366: output element 3 is"
doubts failing_adds_nothing "computes a wrong result: output element 7679 is"
doubts failing_remembers "a wrong result in its second run"
doubts failing_rounds "a wrong result in its second run"
doubts failing_forks "the plug-in started a process, which runs on"
check "... which is ended" [ -z "$(grep -lsa 'failing\.c:forks' /proc/[0-9]*/cmdline)" ]
check "who forks and waits is right" [ "$(columns "$dir/layers.csv" algo simulated_loads | grep -c '^failing_comes_back_twice [0-9]')" -eq 3 ]
run "$(list changes_signals prints right)" PLUGIN_LIMIT=20
doubts failing_changes_signals "the plug-in changed which signals are handled"
check "it prints as much as it likes" [ "$(columns "$dir/layers.csv" algo simulated_loads | grep -c '^failing_prints [0-9]')" -eq 3 ]
check "... of which the first 16 KB are shown: $(wc -c <"$work/err")" [ "$(wc -c <"$work/err")" -lt 20000 -a "$(wc -c <"$work/err")" -gt 16384 ]
check "and that it is not all" grep -q "what else the plug-in prints is not shown" "$work/err"

# Names: taken names, and impossible names. The file is for a different CPU, or no file.
mkdir "$work/two words"
cp kernels/plugin/naive.c "$work/two words/base.c"
cp kernels/plugin/naive.c "$work/two words/q\"'\$(touch x);Ünï.c"
head -c 3000 "$(find "$work/convsim" -name '*.so' | head -n 1)" >"$work/half.so"
{ head -c 18 "$work/half.so"; printf '\025\000'; tail -c +21 "$work/half.so"; } >"$work/ppc.so" # e_machine: POWER
run "base,$work/two words/base.c,$failing:right,$failing:right,$work/two words/q\"'\$(touch x);Ünï.c" LAYERS=depthwise
named() { columns "$dir,depthwise/layers.csv" algo simulated_loads | grep "^$1 " | cut -d' ' -f2; }
for algo in base_2 failing_right failing_right_2 q____touch_x____n__; do
    check "$algo: $(named "$algo")" [ "$(named "$algo" | grep -c '^[0-9]')" -eq 1 ]
done
check "it says so: $(grep 'is called' "$work/err")" [ "$(grep -c 'is called .*_2 here: there is another' "$work/err")" -eq 2 ]
ends "$work/two words" "Is a directory"
ends ./ "Is a directory"
ends "$work/half.so" "ALGO: plug-in $work/half.so: "
ends "$work/ppc.so" "is for another CPU family"

others=tests/data/plugins/right.c
run "base,$others:x87,$others:aligns,$others:allocas,$others:tells,$others:compresses,tests/data/plugins/winograd.c" PLUGIN_LIMIT=20
check "what is right is not refused: $(columns "$dir/layers.csv" algo simulated_loads | grep -m1 '^right.*not')" \
    [ "$(columns "$dir/layers.csv" algo simulated_loads | grep -c '^right_[a-z0-9]* [0-9]')" -eq 15 ]
check "Winograd's results are not exact, and right: $(columns "$dir/layers.csv" algo simulated_loads | grep '^winograd' | paste -sd ';')" \
    [ "$(columns "$dir/layers.csv" algo simulated_loads | grep -c '^winograd .*only_3x3_filters')" -eq 3 ]
printf 'name,in_c,in_h,in_w,out_c,k_h,k_w,stride_h,stride_w,pad_top,pad_left,pad_bottom,pad_right,group,dilation_h,dilation_w
deep,64,9,9,4,3,3,1,1,1,1,1,1,1,1,1\nshallow,1,9,9,4,3,3,1,1,0,1,0,1,1,1,1\n' >"$work/three.csv"
model=$work/three.csv
run base,tests/data/plugins/winograd.c,tests/data/plugins/blocked.c "RESULTS=$work/winograd"
check "... where it can: $(columns "$work/winograd/toy/three/layers.csv" algo simulated_loads | grep '^winograd' | paste -sd ';')" \
    [ "$(columns "$work/winograd/toy/three/layers.csv" algo simulated_loads | grep -c '^winograd [0-9]')" -eq 2 ]
check "a nest blocked for registers: $(columns "$work/winograd/toy/three/layers.csv" algo simulated_loads | grep '^blocked' | paste -sd ';')" \
    [ "$(columns "$work/winograd/toy/three/layers.csv" algo simulated_loads | grep -c '^blocked [0-9]')" -eq 2 ]
model=tests/data/three.csv
quick=(MACHINE=host OBSERVE=0 REPS=1 "PLUGIN_LIMIT=$limit")

# ---- the skeleton, and kept results ----

cp kernels/plugin/skeleton.c "$work/mine.c"
cat >"$work/odd.csv" <<'EOF'
name,in_c,in_h,in_w,out_c,k_h,k_w,stride_h,stride_w,pad_top,pad_left,pad_bottom,pad_right,group,dilation_h,dilation_w
wide,3,5,300,9,3,3,1,1,1,1,1,1,1,1,1
strided,7,23,19,11,5,3,3,2,2,0,1,4,1,1,1
dilated,4,17,17,8,3,3,1,1,2,2,2,2,1,2,2
grouped,12,9,9,20,3,1,1,1,0,3,0,0,4,1,1
padded,2,3,3,1,3,3,1,2,6,7,5,6,1,1,1
pointwise,17,6,50,33,1,1,1,1,0,0,0,0,1,1,1
EOF
model=$work/odd.csv
dir=$work/results/host/odd
run "base,$work/mine.c"
check "the skeleton is right for every shape: $(grep -m1 mine "$dir/verdict.txt")" [ "$(columns "$dir/layers.csv" algo measured_time_ns |
    grep -cE '^mine ([0-9]|not_available:_disturbed)')" -eq 6 ]
compiled=$(find "$work/convsim" -name '*.so' | wc -l)
mv "$work/results" "$work/first"
run "base,$work/mine.c"
check "what did not change is not compiled again" [ "$(find "$work/convsim" -name '*.so' | wc -l)" -eq "$compiled" ]
sed -i 's/FILTERS = 8/FILTERS = 4/' "$work/mine.c"
run "base,$work/mine.c" PLUGIN_CFLAGS=-DNOTHING
check "what did is" [ "$(find "$work/convsim" -name '*.so' | wc -l)" -eq $((compiled + 1)) ]
mkdir "$work/with own"
{
    printf '#include "own.h"\n#include "conv_plugin.h"\n#define conv plain\n'
    cat kernels/plugin/naive.c
    printf '#undef conv\nvoid conv(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out)\n'
    printf '{\n    plain(s, in, filters, out);\n    *out += IS_WRONG;\n}\n\nint main(void)\n{\n    return 1;\n}\n'
} >"$work/with own/deep.c"
cp "$work/with own/deep.c" "$work/with own/plus.cpp"
forms=(deep.c)
! command -v c++ >/dev/null || forms+=(plus.cpp)
for is_wrong in 0 1; do
    echo "enum { IS_WRONG = $is_wrong };" >"$work/with own/own.h"
    run "base$(printf ",$work/with own/%s" "${forms[@]}")" MACHINE=toy TIMING=0 LAYERS=pointwise
    for name in "${forms[@]%.*}"; do
        what=$(columns "$work/results/toy/odd,pointwise/layers.csv" algo simulated_loads | grep "^$name ")
        check "$name, a header beside it, a main in it, IS_WRONG=$is_wrong: $what" grep -q "$([ $is_wrong = 1 ] && echo wrong_result || echo "^$name [0-9]")" <<<"$what"
    done
done

# ---- simulated counts ----

counts() { # counts ALGO: loads, stores, and all that went through the levels
    columns "$dir/layers.csv" layer algo simulated_loads simulated_stores simulated_l1_load_misses simulated_l3_load_misses |
        awk -v a="$1" '$2 == a { $2 = ""; print }'
}

touched() { # touched ALGO: what a tensor's lines were asked for at L1, by all phases together
    columns "$dir/traffic.csv" algo level tensor reads writes |
        awk -v a="$1" '$1 == a && $2 == "L1" && $3 != "workspace" { r[$3] += $4; w[$3] += $5 } END { for (t in r) print t, r[t], w[t] }' | sort
}

if [ "$(uname -m)" = x86_64 ] && grep -q ' avx2 ' /proc/cpuinfo && command -v gcc >/dev/null; then
    quick=(MACHINE=toy UKR=avx2 OBSERVE=0 TIMING=0)
    dir=$work/results/toy/odd
    run "base,$work/mine.c"
    check "every layer is simulated: $(counts mine | paste -sd ';')" [ "$(counts mine | awk '$2 > 0 && $3 > 0 && $4 > 0' | wc -l)" -eq 6 ]
    counts mine >"$work/once"
    run "base,$work/mine.c"
    check "the same code gives the same counts" cmp -s "$work/once" <(counts mine)
    run "base,$work/mine.c" CACHE=warm
    check "warm caches have what the run before left" [ "$(counts mine | awk '{ n += $5 } END { print n }')" -lt "$(awk '{ n += $5 } END { print n }' "$work/once")" ]
    run "base,$failing:right,$failing:pointwise,$failing:hangs,$failing:is_wrong" "PLUGIN_LIMIT=$limit"
    check "what plain loops load and store: $(counts failing_right | head -1)" [ "$(counts failing_right |
        awk '$1 == "dilated" { print ($2 >= 2 * 4 * 9 * 8 * 15 * 15 && $3 >= 8 * 15 * 15) }')" = 1 ]
    check "a shape that it cannot do is not simulated" [ "$(columns "$dir/layers.csv" layer algo simulated_loads |
        grep -c '^[a-z]* points .*only_1x1_filters')" -eq 5 ]
    check "nor what computes wrong values" [ "$(columns "$dir/layers.csv" algo simulated_loads | grep -c '^failing_is_wrong .*wrong_result')" -eq 6 ]
    check "nor what does not end" grep -q 'failing_hangs not_available:_the_plug-in_did_not_come_back_before_timing' \
        <(columns "$dir/layers.csv" algo simulated_loads)

    # A plug-in's own phases, and the plug-in's text.
    run "base,tests/data/plugins/marks.c" PLUGIN_LIMIT=20
    phase() { columns "$dir/traffic.csv" algo level phase tensor reads writes | awk -v p="$1" -v t="$2" '$1 == "marks" && $2 == "L1" && $3 == p && $4 == t { r += $5; w += $6 } END { print r + 0, w + 0 }'; }
    columns "$dir/layers.csv" in_c in_h in_w out_c out_h out_w | sort -u | awk '{ i += int(($1 * $2 * $3 + 15) / 16); o += int(($4 * $5 * $6 + 15) / 16) } END { print i, o }' >"$work/lines"
    read -r lines_in lines_out <"$work/lines"
    check "it packs its input once: $(phase packing input), $lines_in vectors" [ "$(phase packing input)" = "$lines_in 0" ]
    check "... into what it calls so" [ "$(phase packing packed_input)" = "0 $lines_in" ]
    check "it clears its output: $(phase zero_output output), $lines_out vectors" [ "$(phase zero_output output)" = "0 $lines_out" ]
    check "it reads its input nowhere else" [ "$(phase micro_kernel input)" = "0 0" ]
    run "base,tests/data/plugins/marks.c" PLUGIN_LIMIT=20 PLUGIN_PLAN=3
    check "the user's plan is its own: $(phase packing input)" [ "$(phase packing input)" = "$((3 * lines_in)) 0" ]

    # The recording code uses a signal, and a plug-in may block this signal, too.
    run "$(ways blocks_signals)" PLUGIN_LIMIT=20
    check "who blocks signals for a while is recorded: $(counts timed_blocks_signals | paste -sd ';')" [ "$(counts timed_blocks_signals | awk '$2 > 0' | wc -l)" -eq 6 ]

    # Pages of the workspace lie in the order of the first touch, also if loops go on from page to page: 128 lines, and
    # some of the stack.
    run "base,tests/data/plugins/backwards.c" PLUGIN_LIMIT=20
    own() { columns "$dir/classes.csv" layer algo level tensor compulsory_misses | awk -v l="$1" '$1 == l && $2 == "backwards" && $3 == "L1" && $4 == "workspace" { print $5 }'; }
    for layer in wide pointwise; do
        check "$layer: lines of eight pages: $(own $layer)" [ "$(own $layer)" -ge 128 -a "$(own $layer)" -lt 156 ]
    done

    # Generated code, as a plug-in and as the plan's replay.
    model=tests/data/three.csv
    dir=$work/results/toy/three
    isas=avx2
    ! grep -q ' avx512vl ' /proc/cpuinfo || isas="avx2 avx512"
    for isa in $isas; do for layer in stem/7x7_s2 pointwise depthwise; do
        "${BUILD:-build}/sconv-gen" MODEL=$model "LAYERS=$layer" MACHINE=toy "UKR=$isa" >"$work/code.c" 2>"$work/err"
        function=$(sed -n 's/^void \(sconv_[a-z0-9_]*\)_pack_filters(.*/\1/p' "$work/code.c")
        sed "s/@function@/$function/" tests/data/plugins/generated.c.in >"$work/generated.c"
        run "sconv_gen,$work/generated.c" "LAYERS=$layer" "UKR=$isa" "RESULTS=$work/forms"
        dir=$(dirname "$(find "$work/forms/toy" -name traffic.csv)")
        check "$isa, $layer: two forms of the same code make the same accesses: $(touched sconv_gen | diff - <(touched generated))" \
            [ -n "$(touched sconv_gen)" ] && check "... to every tensor" [ "$(touched sconv_gen)" = "$(touched generated)" ]
        rm -rf "$work/forms"
    done; done
fi

if [ "$(uname -m)" = x86_64 ] && grep -q ' avx2 ' /proc/cpuinfo && command -v gcc >/dev/null; then
    "${BUILD:-build}/sweep" MODEL=tests/data/three.csv MACHINE=toy UKR=avx2 "VARY=L1.size=1K..4K*2" "ALGO=base,$work/mine.c,$failing:pointwise" \
        STORE=no "RESULTS=$work/swept" >"$work/out" 2>"$work/err"
    check "somebody's kernel on other machines: $(tail -1 "$work/err")" [ "$(grep -c '^three,.*,mine,' "$work/swept/toy/sweep/three/sweep.csv")" -ge 3 ]
fi

# Smaller layers of a kind, for long tests.
model=tests/data/three.csv
quick=(MACHINE=toy UKR=ref OBSERVE=0 TIMING=0)
run "base,$work/mine.c" SMALLER=1 LAYERS=stem/7x7_s2 "RESULTS=$work/smaller"
dir=$work/smaller/toy/three_to_1M,stem~7x7_s2
check "smaller layers: $(find "$work/smaller" -name verdict.txt)" grep -q '1 of 1 layers are smaller ones of the same kind.*at most 1 million' \
    <(unwrapped "$dir/verdict.txt")
check "... by every algorithm: $(columns "$dir/layers.csv" algo macs simulated_loads | paste -sd ';')" \
    [ "$(columns "$dir/layers.csv" macs simulated_loads | awk '$1 <= 1e6 && $2 > 0' | wc -l)" -eq 2 ]

# ---- shipped plug-ins: right for every shape, or the library says no ----

ship=kernels/plugin
shipped=base,$ship/naive.c,$ship/openblas.c
[ ! -e /usr/include/oneapi/dnnl/dnnl.h ] || shipped=$shipped,$ship/onednn.c,$ship/onednn.c:reorder,$ship/onednn.c:blocked
[ ! -e /usr/include/libxsmm.h ] || shipped=$shipped,$ship/libxsmm.c
{ [ ! -e /usr/include/xnnpack.h ] || [ ! -e /usr/include/pthreadpool.h ]; } || shipped=$shipped,$ship/xnnpack.c
[ ! -e build/libsconv.a ] || [ -n "${SAN:-}" ] || shipped=$shipped,$ship/libsconv.c
quick=(MACHINE=host OBSERVE=0 REPS=1 PLUGIN_LIMIT=20)
model=$work/odd.csv
dir=$work/results/host/odd
run "$shipped"
check "nobody computes wrong values: $(columns "$dir/layers.csv" algo measured_time_ns | grep -m1 'not_av' | grep -v disturbed)" [ -z "$(columns \
    "$dir/layers.csv" algo measured_time_ns | grep 'not_av' | grep -vE 'disturbed|^(onednn|xnnpack|libxsmm).*(Invalid|not_supported)|LIBXSMM_(has_no|pads_both)')" ]
case ${SAN:-} in
*address*) ;; # the sanitizer's functions must come first
*)
    run "base,tests/data/plugins/own_library.c"
    says own_library "computes a wrong result"
    ;;
esac
check "nor does the compiler warn: $(grep -m1 warning "$work/err")" [ "$(grep -c warning "$work/err")" -eq 0 ]

# The emulator's view of a shared object equals the view of code that records itself, for one file.
if [ -n "${OBSERVER:-}" ] && [ -e "$OBSERVER" ] && [ "$(uname -m)" = x86_64 ] && grep -q ' avx2 ' /proc/cpuinfo && command -v qemu-x86_64 >/dev/null; then
    quick=(MACHINE=toy UKR=avx2 OBSERVE=0 TIMING=0 "OBSERVER=$OBSERVER")
    model=tests/data/three.csv
    dir=$work/results/toy/three
    gcc -O3 -march=native -mno-avx512f -mno-fma -fno-tree-vectorize -mstringop-strategy=libcall -fPIC -shared -I$ship $ship/naive.c -o "$work/shared.so"
    run "base,$ship/naive.c,$work/shared.so" "PLUGIN_CFLAGS=-fPIC -mno-fma -fno-tree-vectorize" # an emulator reads masked vectors and operands of FMAs whole
    for algo in naive shared; do touched $algo >"$work/$algo"; done
    check "the emulator sees what the code records: $(paste "$work/naive" "$work/shared" | paste -sd ';')" cmp -s "$work/naive" "$work/shared"
    check "... of every tensor" [ "$(wc -l <"$work/naive")" -eq 3 ]
    run "base,$ship/openblas.c"
    check "and libraries: $(columns "$dir/layers.csv" algo simulated_loads | grep -m1 openblas)" [ "$(columns "$dir/layers.csv" algo simulated_loads |
        grep -c '^openblas_rows [0-9]')" -eq 3 ]
    run "base,tests/data/plugins/strings.c"
    check "and instructions that cannot be watched: $(columns "$dir/layers.csv" algo simulated_loads | grep -m1 strings)" \
        [ "$(columns "$dir/layers.csv" algo simulated_loads | grep -c '^strings [0-9]')" -eq 3 ]
    quick=(MACHINE=toy UKR=avx2 OBSERVE=0 TIMING=0)
    run "base,$ship/openblas.c"
    check "... in the verdict, too" grep -q 'not simulated: nobody sees what libraries access' <(unwrapped "$dir/verdict.txt")
    check "without the emulator's plugin, that is the reason" grep -q '^openblas_rows .*nobody_sees_what_libraries_access' <(columns "$dir/layers.csv" algo simulated_loads)
fi

# ---- simulated cycles: of the instructions that a plug-in executes ----

if [ "$(uname -m)" = x86_64 ]; then
    quick=(MACHINE=zen3 OBSERVE=0 TIMING=0)
    model=tests/data/three.csv
    dir=$work/results/zen3/three
    {
        echo '#define conv plain'
        echo "#include \"$PWD/$ship/naive.c\""
        echo '#undef conv'
        echo 'static float copy[1 << 20];'
        echo 'void conv(const struct conv_plugin_shape *s, const float *in, const float *filters, float *out) {'
        echo '    const int n = s->batch * s->in_channels * s->in_h * s->in_w;'
        echo '    for (int i = 0; i < 40 * n; i++) copy[i % n] = in[i % n];'
        echo '    plain(s, copy, filters, out); }'
    } >"$work/copies.c"
    run "base,$ship/naive.c,tests/data/plugins/marks.c,$work/copies.c"
    check "each layer has cycles" [ "$(columns "$dir/layers.csv" algo simulated_cycles | grep -cE '^(naive|marks|copies) [0-9]')" -eq 9 ]
    check "stores to scratch memory are packing: $(columns "$dir/layers.csv" algo simulated_packing_cycles | paste -sd ' ')" \
        [ "$(columns "$dir/layers.csv" algo simulated_packing_cycles | awk '$1 == "copies" && $2 > 10000' | wc -l)" -eq 3 ]
    check "... and spills are not" [ "$(columns "$dir/layers.csv" algo simulated_packing_cycles | awk '$1 == "naive" && $2 == 0' | wc -l)" -eq 3 ]
    check "marks say more than stores" [ "$(columns "$dir/layers.csv" algo simulated_packing_cycles | awk '$1 == "marks" && $2 > 0' | wc -l)" -eq 3 ]
    check "the verdict says why" grep -qE 'why naive takes [0-9]+ % more simulated cycles than base' <(unwrapped "$dir/verdict.txt")
    check "... and the screen" grep -qE '^why +by simulation, .* (naive|marks|copies) more than base' "$work/out"
fi

# ---- later readers do not run the plug-in ----

dir=$work/results/host/odd

rm -r "$work/mine.c" "$work/convsim"
check "its code may be gone when results are compared" "${BUILD:-build}/compare" "A=$work/first/host/odd" "B=$work/results/host/odd" "RESULTS=$work/compared" >"$work/out" 2>"$work/err"
[[ $(time_of mine) == [0-9]* ]] && grep -q '^mine [0-9]' <(columns "$work/first/host/odd/layers.csv" algo measured_time_ns) &&
    check "... and they have its rows" grep -rq ',mine,' "$work/compared" --include=compare.csv

echo "plugin: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
