#!/usr/bin/env bash
# make as a user types it: slips are found before anything is built or fetched, and help answers. BUILD: the folder of
# the programs, if they are built. Run from the project's folder.
set -u

program=
# shellcheck source=tests/check.bash
. tests/check.bash

plain_make() { env -u VARIABLES_ARE_KNOWN -u MAKEFLAGS -u MAKELEVEL -u SAN -u BUILD -u CC make "$@"; }

make_says() { # make_says WORDS ARGUMENTS...: make refuses them in one line, before anything is run
    local words=$1
    shift
    plain_make -n "$@" >"$work/out" 2>"$work/err" # -n: what is not refused is not done either
    check "make $*: exit status $?, not 2" [ $? -eq 2 ]
    check "make $*: not one line: $(cat "$work/err" "$work/out")" [ "$(cat "$work/err" "$work/out" | wc -l)" -eq 1 ]
    check "make $*: '$words' is not in: $(cat "$work/err")" grep -qF -- "$words" "$work/err"
}

would() { # would COMMAND ARGUMENTS...: make takes the arguments, and would run such a command
    local command=$1
    shift
    plain_make -n "$@" >"$work/out" 2>&1
    status=$?
    check "make $*: refused: $(tail -n 1 "$work/out")" [ "$status" -eq 0 ]
    check "make $*: '$command' is not in: $(cat "$work/out")" grep -qF -- "$command" "$work/out"
}

# ---- targets ----

make_says "there is no target 'expirement', did you mean experiment?" expirement MODEL=vgg16
make_says "there is no target 'xyzzy'; 'make help' lists them" xyzzy
make_says "there is no target 'vgg16'; it is a model, as in make experiment MODEL=vgg16;" experiment vgg16
make_says "unknown variable 'VARY': make sweep knows it;" experiment MODEL=vgg16 VARY=L2.size=1M
would build/experiment build/experiment
would .ci/deps test-power10

# Builds with sanitizers have no sconv-opt, like builds without MLIR: no library has parts of sconv-opt.
plain_make -n -B SAN=undefined build-undefined/libexperiments.a >"$work/out" 2>&1
check "no library would be built: $(tail -n 1 "$work/out")" grep -q 'experiments/emit/build\.c' "$work/out"
check "it would have what needs MLIR" [ "$(grep -c 'main_sconv_opt\.o' "$work/out")" -eq 0 ]

# ---- missing values, and names ----

make_says "make experiment: MODEL is missing: for example MODEL=vgg16" experiment
make_says "make sweep: VARY is missing" sweep MODEL=vgg16
make_says "make compare: B is missing" compare A=results/host/vgg16
make_says "make plan: LAYER is missing: for example LAYER=vgg16:conv3_1" plan
make_says "MODEL: unknown model 'vgg61', did you mean vgg16? known: googlenet" experiment MODEL=vgg61
make_says "MODEL: unknown model 'alexnt'; known: googlenet" paper MODEL=alexnt
make_says "did you mean alexnet? PolyDL's are alexnet" polydl MODEL=alexnt
make_says "MODEL: unknown model 'resnt18'" judge 'MODEL=vgg16, resnt18'
make_says "MODEL: unknown model 'vgg16 resnet18'" judge 'MODEL=vgg16 resnet18'
make_says "LAYER: unknown model 'vgg', did you mean vgg16?" plan LAYER=vgg:conv3_1
make_says "MODEL: there is no file 'no such/own.csv'" experiment 'MODEL=no such/own.csv'
make_says "MODEL: unknown model 'README.md'; there is a file called so: MODEL=./README.md" experiment MODEL=README.md
make_says "MODEL: unknown model 'README'; known: googlenet" experiment MODEL=README
make_says "(or the path of a network, .onnx, of a layer table, .csv," experiment MODEL=README
make_says "MODEL: there is no file 'net.onnx'" experiment MODEL=net.onnx
make_says "export the network as .onnx" experiment MODEL=net.pt
make_says "JSON files are no models" judge MODEL=vgg16,net.json
make_says "MACHINE: unknown machine 'zen5', did you mean zen3? known: host" judge MACHINE=zen5
make_says "MACHINE: there is no file 'own.cfg'" experiment MODEL=vgg16 MACHINE=own.cfg
make_says "ALGO: unknown algorithm 'scnov', did you mean sconv? known: base" experiment MODEL=vgg16 ALGO=base,scnov
would "build/bench experiment" experiment MODEL=vgg16 ALGO=auto
would "build/bench sweep" sweep MODEL=vgg16 MACHINE=clx4208 VARY=L1.size=16K ALGO=auto
would "build/bench peers" bench-peers MODEL=vgg16 ALGO=base,base_rows
make_says "ALGO: unknown algorithm 'base_rows'" experiment MODEL=vgg16 ALGO=base_rows
make_says "ALGO: unknown algorithm 'onednn'; there is a plug-in: ALGO=kernels/plugin/onednn.c" experiment MODEL=vgg16 ALGO=base,onednn
make_says "ALGO: there is no file 'minee.c'" experiment MODEL=vgg16 ALGO=base,sconv,minee.c
make_says "ALGO: there is no file 'a:b/minee.c'" sweep MODEL=vgg16 VARY=L1.size=16K ALGO=a:b/minee.c:other
would "build/bench experiment" experiment MODEL=vgg16 ALGO=base,kernels/plugin/onednn.c:reorder
MODEL=alexnt make_says "MODEL: unknown model 'alexnt'" judge

# ---- values that are not a known word, or not in their range: refused before anything is installed or built ----

says_by() { # says_by BENCH WORDS TARGET NAME=VALUE...: make refuses with WORDS; "": make accepts the values
    local said
    said=$(BENCH=$1 .ci/goals "$3" "" "${@:4}" 2>&1)
    check "make ${*:3}, with $1: '$2' is not in: '$said'" [ "${2:+$said}" = "${2:+make $3: $2}${2:+${said#*"$2"}}" ]
    [ -n "$2" ] || check "make ${*:3}, with $1: refused: $said" [ -z "$said" ]
}
goals_say() { says_by "${BUILD:-build}/bench" "$@" && says_by "$work/none" "$@"; } # bench and the facts alone say the same
bench_says() { says_by "${BUILD:-build}/bench" "$@"; }                             # of what stands in files, only bench knows
make_says "make lift: DEVICE: must be a whole number from 0 to 1000, not 'gpu'" lift DEVICE=gpu
goals_say "REPS: must be a whole number from 1 to 1000000, not '0'" experiment MODEL=vgg16 REPS=0
goals_say "LIMIT: must be a whole number from 1 to 1000000, not '5m'" bench-peers LIMIT=5m
goals_say "TIMING: must be 0 or 1, not 'off'" experiment MODEL=vgg16 TIMING=off
goals_say "CACHE: must be cold, warm or network, not 'hot'" experiment MODEL=vgg16 CACHE=hot
goals_say "CONV_CPU: must be baseline, avx2 or avx512, not 'sse'" judge CONV_CPU=sse
goals_say "FORMAT: must be text or json, not 'jsn'" plan LAYER=vgg16:conv3_1 FORMAT=jsn
goals_say "SIMULATE: must be all, sequence or no, not '\'" network MODEL=tests/data/small.onnx 'SIMULATE=\'
goals_say "DEPS: must be yes or no, not 'maybe'" models DEPS=maybe
goals_say "ALGO: there is no file 'minee.c'" experiment MODEL=vgg16 ALGO=base,minee.c
goals_say "SUITE: there is no suite 'nets', did you mean nest?" test SUITE=nets
goals_say "ALGO: unknown algorithm 'scnov', did you mean sconv? known: base" experiment MODEL=vgg16 ALGO=base,scnov
goals_say "ALGO: unknown algorithm 'onednn'; there is a plug-in: ALGO=kernels/plugin/onednn.c" experiment MODEL=vgg16 ALGO=onednn
goals_say "ALGO: there is no file 'a:b/minee.c'" sweep MODEL=vgg16 VARY=L1.size=16K ALGO=a:b/minee.c:other
goals_say "MODEL is missing: for example MODEL=vgg16" experiment
goals_say "B is missing: for example B=before/host/vgg16" compare A=results/host
goals_say "LAYER is missing: for example LAYER=vgg16:conv3_1" plan
goals_say "MODEL: unknown model 'vgg61', did you mean vgg16? known: googlenet" judge MODEL=resnet18,vgg61
goals_say "MODEL: unknown model 'alexnet'; there is a table called so: MODEL=experiments/models/polydl/alexnet.csv" judge MODEL=alexnet
goals_say "MODEL: unknown model 'README.md'; there is a file called so: MODEL=./README.md" experiment MODEL=README.md
goals_say "MODEL: there is no file 'net.onnx'" experiment MODEL=net.onnx
goals_say "MODEL: 'net.pt': PyTorch's files are not read; export the network as .onnx" experiment MODEL=net.pt
goals_say "MODEL: 'vgg16' is a layer table: 'make models MODEL=vgg16' writes a network of it" network MODEL=vgg16
goals_say "MODEL: 'run.log' is no network (.onnx) but layers without what lies between them" network MODEL=run.log
goals_say "MACHINE: unknown machine 'zen5', did you mean zen3? known: host" judge MACHINE=zen5
goals_say "MACHINE: unknown machine 'h100': no GPUs are simulated; make lift runs on one" judge MACHINE=h100
goals_say "MACHINE: there is no file './own.cfg'" judge MACHINE=./own.cfg
goals_say "LAYER: 'conv3_1' is no model; a layer is named with its model, such as LAYER=vgg16:conv3_1" plan LAYER=conv3_1
goals_say "LAYER: unknown model 'vgg', did you mean vgg16?" gen LAYER=vgg:conv3_1
goals_say "UKR: unknown micro-kernel 'bf16': make experiment TYPE=bf16 and TYPE=int8 have others; these compute in fp32 alone" judge UKR=bf16
goals_say "EMIT: must be c, mlir_linalg, sconv_opt or mlir, not 'cuda'" gen LAYER=vgg16:conv3_1 EMIT=cuda
goals_say "" bench-peers 'MODEL=vgg16, resnet18' ALGO=base,base_rows,kernels/plugin/onednn.c:reorder
goals_say "" polydl MODEL=alexnet,gemm,vgg16
goals_say "" experiment MODEL=mb1ic64ih56oc64kh3ph1 MACHINE=sim/machines/toy.cfg UKR=avx2
goals_say "" report MODEL=own
goals_say "no layer of vgg16 matches 'conv9_1'; it has conv1_1, conv1_2, conv2_1, conv2_2, conv3_1, conv3_2, ... (13 in all)" experiment MODEL=vgg16 LAYERS=conv9_1
goals_say "no layer of vgg16 matches 'conv5_1 conv5_2'; it has conv1_1, conv1_2, conv2_1, conv2_2, conv3_1, conv3_2, ... (13 in all); patterns are separated by commas, not by blanks" bench-peers MODEL=vgg16 'LAYERS=conv5_1 conv5_2'
goals_say "" experiment MODEL=vgg16,squeezenet 'LAYERS=conv1_1, fire?/*,conv[34]_*'
goals_say "no layer of vgg16 matches 'conv33_1'; it has conv1_1" plan LAYER=vgg16:conv33_1
bench_says "SET: unknown key 'nc'; did you mean n_c?" plan LAYER=vgg16:conv3_1 SET=nc=32
bench_says "VARY: a cache or TLB has no such key: 'L2.sise', did you mean L2.size?" sweep MODEL=vgg16 MACHINE=zen3 VARY=L2.sise=1M
bench_says "tests/data/small.onnx: input 'x': its dimension 3 of 4, H is open: say it by INPUT" network MODEL=tests/data/small.onnx
bench_says "'$work' has no results of 'make experiment'" compare "A=$work" "B=$work"
says_by "$work/none" "" gen PLAN=any.json
bench_says "cannot open 'any.json'" gen PLAN=any.json
bench_says "" compare A=results/reference/clx4208/vgg16 B=results/reference/clx4208/vgg16
bench_says "" network MODEL=tests/data/small.onnx INPUT=3x32x32
sed 's/^latency_cycles/latency/' sim/machines/toy.cfg >"$work/slow.cfg"
bench_says "$work/slow.cfg:12: unknown key (did you mean latency_cycles?), 'latency'" experiment MODEL=vgg16 "MACHINE=$work/slow.cfg"
sed 's/,/;/g' tests/data/three.csv >"$work/semicolons.csv"
bench_says "$work/semicolons.csv:2: columns are separated by commas, is ';' a separator here?" judge "MODEL=$work/semicolons.csv"
goals_say "" lift DEVICE=0 THREADS=4096
goals_say "" experiment MODEL=vgg16 REPS=1000000 TIMING=0
goals_say "" test SUITE=nest
check "few variables have a range: $(.ci/facts | grep -c '^range')" [ "$(.ci/facts | grep -c '^range')" -gt 50 ]
mkdir "$work/bare" # a computer without Slurm
for tool in sh awk sed grep cat cut tr paste head cksum find; do ln -s "$(command -v $tool)" "$work/bare/"; done
PATH=$work/bare goals_say "LAUNCHER=slurm: this computer has no sbatch" sweep MODEL=vgg16 VARY=nc=1 LAUNCHER=slurm

cp tests/data/three.csv "$work/it's own.csv"
cp sim/machines/toy.cfg "$work/own.cfg"
would "build/bench experiment" experiment "MODEL=$work/it's own.csv" "MACHINE=$work/own.cfg" ALGO=sconv_is,base
would "build/bench judge" judge MODEL=all
would "build/bench judge" judge 'MODEL=vgg16, resnet18' MACHINE=power10
would "build/bench paper" paper
would "build/bench polydl" polydl MODEL=gemm,alexnet,vgg16
would build/sconv-plan plan LAYER=mb1ic64ih56oc64kh3ph1
would build/onnx2layers layers MODEL=tests/data/three.csv
would build/sconv-gen gen LAYER=vgg16:conv3_1
would build/cachesim cachesim
would build/simbench bench-sim MACHINE=3c
would "build/bench report" report MODEL=own

# ---- values that are commands ----

# make's command lines do not hold a user's values, and no part of a value runs while make reads the values.
spelt_by_name() { # spelt_by_name TARGET ARGUMENTS...
    plain_make -n "$@" >"$work/out" 2>&1
    status=$?
    check "make $*: refused: $(tail -n 1 "$work/out")" [ "$status" -eq 0 ]
    check "make $*: a value is in a line for the shell: $(grep -m 1 PWNED "$work/out")" [ "$(grep -c PWNED "$work/out")" -eq 0 ]
    check "make $*: a value was executed" [ ! -e PWNED ]
    rm -f PWNED
}
hostile='x"; touch PWNED; `touch PWNED`; '"'"'; touch PWNED; "'
cp tests/data/three.csv "$work/a;touch PWNED.csv"
known_of() { # known_of TARGET ARGUMENTS...: in $known, those whose variables it knows
    local names argument
    names=$(.ci/facts | awk -F'\t' -v target="$1" '$1 == "variable" { of[$2] = of[$2] " " $3 } $1 == "knows" && $2 == target { owners = $3 }
        END { n = split(owners, owner, " "); for (i = 1; i <= n; i++) print of[owner[i]] }' | paste -sd ' ')
    known=()
    for argument in "${@:2}"; do
        [[ " $names " != *" ${argument%%=*} "* ]] || known+=("$argument")
    done
}
for target in experiment judge polydl sweep steps; do
    known_of "$target" "MODEL=$work/a;touch PWNED.csv" "RESULTS=$hostile" "STORE=$hostile" "LAYERS=[p$hostile]*" "MACHINE=zen3" VARY=L1.size=16K
    check "make $target knows few of these: ${known[*]}" [ ${#known[@]} -ge 3 ]
    spelt_by_name "$target" "${known[@]}"
done
spelt_by_name bench-threads "MODEL=$work/a;touch PWNED.csv"
spelt_by_name bench-sim "STREAM=$hostile"
spelt_by_name test SUITE=nest "SEED=$hostile"
spelt_by_name stack "GUEST=$hostile"

# ---- help ----

help() { plain_make --no-print-directory help "$@"; }

overview=$(help)
check "make help has $(wc -l <<<"$overview") lines" [ "$(wc -l <<<"$overview")" -le 77 ]
plain_make help 2>"$work/err" | true
check "make help with a reader that has seen enough: exit status ${PIPESTATUS[0]}" [ "${PIPESTATUS[0]}" -eq 0 ]
check "make help has no users and no developers" [ "$(grep -c '^For users:$\|^For developers:$' <<<"$overview")" -eq 2 ]
check "make help and the Makefiles name different targets" [ "$(grep -c '^  make ' <<<"$overview")" -eq \
    "$(($(cat Makefile kernels/lib/libsconv.mk tests/tests.mk tests/foreign.mk | grep -c '^[a-z0-9-]*:.* ###* ') + $(grep -c '^target ' .ci/variables) + $(find experiments -name 'question_*.c' | wc -l)))" ]
mapfile -t targets < <(.ci/facts | awk -F'\t' '$1 == "target" && $2 != "help" { print $2 }')
check "targets are missing: ${targets[*]}" [ ${#targets[@]} -gt 40 ]
everything=$overview$'\n'$(help "${targets[@]}" build)
check "lines of more than 100 columns: $(awk 'length > 100' <<<"$everything")" [ -z "$(awk 'length > 100' <<<"$everything")" ]
for target in "${targets[@]}"; do
    check "make help $target says nothing about it" grep -q "^make $target: ." <<<"$everything"
done
sweep=$(help sweep)
check "make help sweep does not explain VARY" grep -q '^  VARY  *keys of the machine' <<<"$sweep"
check "make help sweep names all variables of sweep: $(grep -o '^  [A-Z_]* ' <<<"$sweep" | paste -sd ' ')" \
    [ "$(grep -c '^  [A-Z_]\+ ' <<<"$sweep")" -eq "$(.ci/facts | grep -c '^variable	sweep	')" ]
check "make help sweep explains what sweep does not know" [ "$(grep -c '^  TIMING' <<<"$sweep")" -eq 0 ]
check "make help build does not explain SAN" grep -q '^  SAN ' <<<"$(help build)"
check "make help swep succeeds" sh -c "! make help swep 2>$work/err"
check "make help swep: $(cat "$work/err")" grep -q "make help: there is no target 'swep', did you mean sweep?" "$work/err"

# ---- manuals ----

for template in experiments/bench/course/bench.1.in experiments/emit/sconv-plan.1.in experiments/emit/sconv-gen.1.in experiments/emit/sconv-opt.1.in experiments/layers/onnx2layers.1.in; do
    .ci/help --manual "$template" 9.8.7 >"$work/page.1"
    check "$template: not filled in: $(grep -m 1 '^@\|@VERSION' "$work/page.1")" [ "$(grep -c '^@\|@VERSION' "$work/page.1")" -eq 0 ]
    check "$template: the version is missing" grep -q '^\.TH.*9\.8\.7' "$work/page.1"
    ! command -v groff >/dev/null ||
        check "$template: $(groff -man -Tutf8 -ww -z "$work/page.1" 2>&1 | head -n 1)" [ -z "$(groff -man -Tutf8 -ww -z "$work/page.1" 2>&1)" ]
done
.ci/help --manual experiments/bench/course/bench.1.in 1 >"$work/page.1"
for variable in $(.ci/facts | awk -F'\t' '$1 == "variable" && $2 ~ /^(experiment|sweep|polydl|plan)$/ { print $3 }' | sort -u); do
    check "the manual of bench misses $variable" grep -qx "\.B $variable" "$work/page.1"
done
check "the manual of sconv-plan misses --json" grep -qx '\.B \\-\\-json' <(.ci/help --manual experiments/emit/sconv-plan.1.in 1)

# ---- tab completion ----

completes() { # completes LINE WORDS [FUNCTION]: bash would offer these words behind that line
    local said
    # shellcheck disable=SC2016  # bash expands it
    said=$(bash --norc -c 'source .ci/completion.bash; COMP_LINE=$1 COMP_POINT=${#1}; COMP_WORDBREAKS=" =:"
        "${2:-_convolution_make}" "${1%% *}" "${1##* }" "" 2>/dev/null; echo "${COMPREPLY[*]}"' completion "$1" "${3-}")
    check "'$1' is completed by '$said', not by '$2'" [ "$said" = "$2" ]
}

completes 'make exper' experiment
completes 'make fx' ''
completes 'make form' 'format format-check'
completes 'make sweep VA' 'VARY='
completes 'make judge VA' ''
completes 'make judge MODEL=vgg16 MACH' 'MACHINE='
completes 'make judge MACHINE=clx4208-' clx4208-real
completes 'make judge MODEL=vgg16,squeeze' vgg16,squeezenet
completes 'make judge MODEL=alexn' ''
completes 'make polydl MODEL=alexn' alexnet
completes 'make experiment ALGO=base,sconv_gen_' base,sconv_gen_tuned
completes 'make experiment ALGO=au' auto
completes 'make experiment CACHE=w' warm
completes 'make experiment MODEL=tests/data/thr' tests/data/three.csv
completes 'make help swe' sweep
completes 'make plan LAYER=vgg' 'vgg16:'
completes 'make plan MACHINE=zen3 LAYER=vgg16:conv5' 'conv5_1 conv5_2 conv5_3'
completes 'make gen LAYER=vgg16:conv3_1' conv3_1
completes 'make gen LAYER=vgg61:conv' ''
completes 'make plan LAYER=tests/data/three.csv:po' pointwise
completes 'make -n sweep LAY' 'LAYERS='
completes 'build/sconv-plan FORM' 'FORMAT=' _convolution_program
completes 'build/sconv-plan --js' '--json' _convolution_program
completes 'build/sconv-gen LAYER=resnet18:conv0' conv0 _convolution_program
completes 'build/experiment TIM' 'TIMING=' _convolution_program
completes 'build/bench jud' 'judge' _convolution_program
completes 'build/bench judge MACH' 'MACHINE=' _convolution_program
completes 'build/bench peers --col' '--columns' _convolution_program
touch "$work/Elsewhere.mk"
# shellcheck disable=SC2016  # bash expands it
check "make elsewhere is not completed as before" [ "$(bash --norc -c 'source .ci/completion.bash; cd "$1"; COMP_LINE="make Else" COMP_POINT=9
    _convolution_make make Else make 2>/dev/null; echo "${COMPREPLY[*]}"' completion "$work")" = Elsewhere.mk ]

# ---- where to install ----

make_says "make install-sconv: cannot write to $work/own.cfg/lib" install-sconv "PREFIX=$work/own.cfg"
make_says "PREFIX=\$HOME/.local installs for yourself, root can install for all" install "PREFIX=$work/own.cfg"
would ".ci/install sconv" install-sconv "PREFIX=$work/new/place"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    check "nobody could install in /usr/local" [ "$(setpriv --reuid=65534 --regid=65534 --clear-groups sh -s -- /tmp /usr/local/lib <.ci/writable)" = /usr/local/lib ]
fi

# ---- where make is run, and by whom ----

make_says "make -C $PWD experiment" --no-print-directory -C / -f "$PWD/Makefile" experiment MODEL=vgg16
env -u VARIABLES_ARE_KNOWN -u MAKEFLAGS -u MAKELEVEL LC_ALL=xx_XX.UTF-8 make -n experiment MODEL=vgg16 >"$work/out" 2>&1
check "a language that is not installed: $(grep -m 1 setlocale "$work/out")" [ "$(grep -c setlocale "$work/out")" -eq 0 ]
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid=65534 --regid=65534 --clear-groups test -r Makefile; then
    setpriv --reuid=65534 --regid=65534 --clear-groups env -u VARIABLES_ARE_KNOWN -u MAKEFLAGS -u MAKELEVEL make -j2 BUILD=/usr/its /usr/its/bench >"$work/out" 2>&1
    check "somebody else's folder: not one line: $(cat "$work/out")" [ "$(wc -l <"$work/out")" -eq 1 ]
    check "... does not say what to do: $(cat "$work/out")" grep -q 'cannot write to /usr/its (as nobody): BUILD=' "$work/out"
fi

# A report of results in git is ignored by git.
! git rev-parse --git-dir >/dev/null 2>&1 || check "a report of the references is not ignored" git check-ignore -q results/reference/zen3/lift/report.html

# ---- citation ----

citation=.github/CITATION.cff
check "$citation lacks what the format asks for" [ "$(grep -cE '^(cff-version|message|title|authors):' "$citation")" -eq 4 ]
check "$citation: a reference has no DOI, or no such thing" [ "$(grep -cE '^    doi: 10\.[0-9]{4,5}/[^ ]+$' "$citation")" -eq "$(grep -c '^  - type:' "$citation")" ]

# ---- the README's commands ----

typed=$(awk -F'`' '/^\| you want to/ { rows = 1 } rows && /^$/ { exit } rows && NF > 2 { print $2 }' README.md)
check "the README's table has commands: $typed" [ "$(wc -l <<<"$typed")" -gt 15 ]
check "typed as if it were built: $(grep -v '^make ' <<<"$typed")" [ -z "$(grep -v '^make ' <<<"$typed")" ]
if [ -n "${BUILD-}" ]; then
    plain_make "BUILD=$BUILD" DEPS=no plan LAYER=vgg16:conv3_1 MACHINE=clx4208 FORMAT=json >"$work/plan.json" 2>"$work/err"
    status=$?
    check "make plan fails: $(cat "$work/err")" [ "$status" -eq 0 ]
    # Targets that no other test types: the smallest case of each.
    typed() { # typed WORDS ARGUMENTS...: make runs the target, and its output has WORDS
        plain_make "BUILD=$BUILD" DEPS=no "${@:2}" "RESULTS=$work/results" >"$work/out" 2>"$work/err"
        status=$?
        check "make ${*:2}: exit status $status: $(tail -n 2 "$work/err")" [ "$status" -eq 0 ]
        check "make ${*:2}: '$1' is not said: $(tail -n 3 "$work/out")" grep -q -- "$1" "$work/out"
    }
    typed '^median layer  l1_lines_in ' validate MORE=1 MODEL=squeezenet LAYERS=fire9/squeeze1x1 ALGO=base
    check "make validate leaves no table" [ -s "$work/results/zen3/validation/squeezenet,fire9~squeeze1x1/simulated_vs_measured.csv" ]
    plain_make -s "BUILD=$BUILD" DEPS=no layers MODEL=tests/data/small.onnx INPUT=3x16x16 "OUT=$work/small.csv" >"$work/out" 2>&1
    check "make layers: $(tail -n 1 "$work/out")" grep -q '^name,batch,in_c,' "$work/small.csv"
    plain_make "BUILD=$BUILD" DEPS=no bench-speed MODEL=tests/data/three.csv >"$work/out" 2>&1
    check "make bench-speed: $(tail -n 1 "$work/out")" [ "$(grep -c '^replay of all 3 layers\|^micro-kernels: \|^three, 10 rep\|^replay of three' "$work/out")" -eq 4 ]
    # shellcheck disable=SC2094  # only make's message about an end is written
    plain_make "BUILD=$BUILD" DEPS=no plan LAYER=vgg16:conv3_1 MACHINE=clx4208 FORMAT=json 2>"$work/err" | true
    check "a reader that has seen enough: exit status ${PIPESTATUS[0]}: $(cat "$work/err")" [ "${PIPESTATUS[0]}" -eq 0 ]
    check "make plan prints more than JSON: $(head -n 3 "$work/plan.json")" [ "$(head -c 1 "$work/plan.json")" = '{' ]
fi

echo "make: $passed passed, $failed failed"
[ "$failed" -eq 0 ]
