#!/usr/bin/env bash
# The paper's page as a user meets it. Run from the project's folder; BUILD has the programs (default build).
set -u

paper=${BUILD:-build}/paper
program=$paper
# shellcheck source=tests/check.bash
. tests/check.bash

refuses "vgg17" MODEL=vgg17
refuses "pool*" MODEL=tests/data/three.csv LAYERS='pool*'
refuses "CACHE" CACHE=tepid
refuses "unknown option 'MACHINE=toy'" MACHINE=toy
refuses "no/such/folder" TIMING=0 MODEL=tests/data/three.csv COUNTS=no/such/folder
cp tests/data/three.csv "$work/parts.csv"
refuses "parts.csv: the folder 'parts' is for other results" MODEL="$work/parts.csv"

three="MODEL=tests/data/three.csv"
check "what is to be observed is named" [ "$("$paper" --guest)" = ppc64le ]
check "... unless nothing is" [ -z "$("$paper" --guest OBSERVE=0)" ]

dir=$work/results/host/paper/three
succeeds MORE=1 "$three" TIMING=0 OBSERVE=0 COMMIT=abc JOBS=1
has_files "$dir" paper.md numbers.csv models.csv speedups.csv host.txt
for figure in 8 9 10 11; do
    check "paper_figure$figure.png is missing" test -s "$dir/paper_figure$figure.png"
    check "the page shows figure $figure" grep -q "(paper_figure$figure.png)" "$dir/paper.md"
done
check "all parts were made" grep -q '^6 parts made, 0 kept' "$work/out"
check "every published number is there" [ "$(columns "$dir/numbers.csv" figure model arch metric | sort -u | wc -l)" -eq 157 ]
check "each number has one use" [ "$(columns "$dir/numbers.csv" figure model arch metric use | sort -u | wc -l)" -eq 157 ]
check "the other papers' numbers are all checked, or counted with a reason" [ "$(sed -n '/^## Other papers/,$p' "$dir/paper.md" | awk '/: printed /{ n++ } match($0, /, [0-9]+ numbers: ./) { split(substr($0, RSTART + 2), word, " "); n += word[1] } END { print n }')" -eq "$(grep -cv '^#' experiments/published/others.csv | awk '{ print $1 - 1 }')" ]
check "... and used" bash -c "! grep -q ',unused,' '$dir/numbers.csv'"
check "what is missing has a reason" [ -z "$(columns "$dir/numbers.csv" use ours remark | awk '$1 == "compared" && $2 == "-" && $3 == "-"')" ]
check "no number is none" bash -c "! grep -E ',-?(nan|inf)' '$dir'/*.csv"
check "numbers of other models are not judged" bash -c "! grep -q '^Table 2,.*,\(agrees\|differs\|points the same way\),' '$dir/numbers.csv'"
check "nothing is taken over" grep -q '; none is taken over; ' "$dir/paper.md"
check "networks that were not run say what to type" grep -q '^| Table 2 | VGG-16 | x86 | conv_time_share | 0.70 | ' "$dir/paper.md"
check "... in the list of sources" grep -q 'whole networks in sequence on the POWER10 of Table 1: no results of three: make models; then for each make network MODEL=results/onnx/<model>.onnx FUSE=no MACHINE=power10 TIMING=0$' "$dir/paper.md"
check "the papers' oddities are worked out" grep -q 'a = 246 and b = 393 is 62.6' "$dir/paper.md"

claim="^The paper's SConv is 1.19 times as fast as Base on its Xeon; "
check "the page begins with the answer" grep -q "$claim" <(sed -n 3p "$dir/paper.md")
check "the terminal ends with it" cmp -s "$dir/verdict.txt" <(tail -n "$(wc -l <"$dir/verdict.txt")" "$work/out")
check "... in two sentences" grep -q "$claim" <(head -2 "$dir/verdict.txt" | tr -s '\n ' ' ')
check "... and with what it follows from" grep -q -- '- Fewer misses in L3: .*; the paper.s Xeon, seven models, 9.9\. $' <(tr -s '\n ' ' ' <"$dir/verdict.txt")
check "report.html begins with it, too" grep -q "^<p class=answer>The paper's SConv is" <(sed '1,/<h2>/d' "$dir/report.html" | head -1)
check "numbers have units" grep -q '^- L1 (Table 1, x86): the paper has 32 kB; agrees: 32 KiB\.$' "$dir/paper.md"
check "figures have captions of their own" [ "$(grep -c '<h4>How much faster' "$dir/report.html")" -eq "$(grep -o '<h4>How much faster[^<]*' "$dir/report.html" | sort -u | wc -l)" ]

key=$work/results/clx4208/paper/parts/cold-three/key.txt
check "without vector-based packing, windows are packed one by one" grep -q '^2 .*sconv_no_vbp: .*, one by one$' "$key"
check "... which they are not otherwise" bash -c "! grep 'sconv_openblas: .*one by one' '$key'"
check "at run time, filters are packed, too" grep -q 'sconv_run_time: .*, filters too' "$key"
loads() { columns "${key%/*}/cases.csv" layer algo loads | awk -v algo="$1" '$1 == "pointwise" && $2 == algo { print $3 }'; }
check "that costs loads" [ "$(loads sconv_run_time)" -gt "$(loads sconv_openblas)" ]
check "and so does packing one by one" [ "$(loads sconv_no_vbp)" -gt "$(loads sconv_openblas)" ]

cp "$dir/paper.md" "$work/first"
succeeds MORE=1 "$three" TIMING=0 COMMIT=abc
check "finished parts are kept" grep -q '^0 parts made, 6 kept' "$work/out"
check "the page is the same" cmp -s "$work/first" "$dir/paper.md"
rm -r "$work/results/power10/paper/parts/cold-three"
succeeds MORE=1 "$three" TIMING=0 COMMIT=abc
check "only the missing part is made again" grep -q '^1 parts made, 5 kept' "$work/out"
check "the page is the same again" cmp -s "$work/first" "$dir/paper.md"
succeeds MORE=1 "$three" TIMING=0 COMMIT=abc "WHY_NO_GUEST=no compiler for it"
check "why nothing is observed is said" grep -q 'nothing was observed now: no compiler for it' "$dir/paper.md"
succeeds MORE=1 "$three" TIMING=0 COMMIT=abd
check "another commit makes its own" grep -q '^6 parts made, 0 kept' "$work/out"
succeeds MORE=1 "$three" TIMING=0 COMMIT=abd LAYERS=pointwise
check "some layers make a page of their own, and parts" [ -s "$dir,pointwise/paper.md" ]
check "... and leave those of all layers" [ -s "$work/results/clx4208/paper/parts/cold-three/cases.csv" ]
check "other layers, too" grep -q '^6 parts made, 0 kept' "$work/out"
succeeds MORE=1 "$three" TIMING=0 COMMIT=abd-dirty LAYERS=pointwise
succeeds MORE=1 "$three" TIMING=0 COMMIT=abd-dirty LAYERS=pointwise
check "changed sources never keep" grep -q '^6 parts made, 0 kept' "$work/out"

rm "$dir/paper_figure8.png"
"$(dirname "$program")/redraw" "RESULTS=$dir" >"$work/out" 2>&1
check "figures are drawn again from the tables" test -s "$dir/paper_figure8.png"

no_redraw() { fails_with 2 "$1" "$(dirname "$program")/redraw" "RESULTS=$2"; }
no_redraw "cannot read the folder '$work/none'" "$work/none"
mkdir "$work/none"
no_redraw "no figures to draw again" "$work/none"
echo "figure: ../x" >"$work/none/figures.txt"
no_redraw "figures.txt:1: neither" "$work/none"
echo "model,layer" >"$work/results/clx4208/paper/parts/cold-three,pointwise/cases.csv"

dir=$dir,pointwise
succeeds MORE=1 "$three" LAYERS=pointwise REPS=3 RULER=0 COMMIT=abe
check "this computer is timed" grep -q ',here,[0-9]' "$dir/numbers.csv"
check "with as many rounds as were asked for" grep -q 'runs_averaged,100,compared,here,3,' "$dir/numbers.csv"

"$paper" MORE=1 "$three" LAYERS=pointwise TIMING=0 "RESULTS=$work/results" >"$work/out" 2>"$work/err"
check "times are not replaced by none: exit status $?, not 2" [ $? -eq 2 ]
check "... in one line: $(cat "$work/err")" grep -q "^paper: '$dir' holds times, .*TIMING=0.*: set another RESULTS, or remove the folder" "$work/err"
"$paper" MORE=1 "$three" TIMING=0 "RESULTS=$work/results" >/dev/full 2>"$work/err"
check "a page that nobody reads: exit status $?, not 2" [ $? -eq 2 ]
finish
