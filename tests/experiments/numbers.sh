#!/usr/bin/env bash
# The tables as other programs read them: every number column holds numbers or nothing, columns.json describes every
# column, facts.csv has the numbers of layers.csv, and the recipes of results/numbers.md run. Run from the project's
# folder; BUILD has the programs (default build).
set -u

program=${BUILD:-build}/bench
# shellcheck source=tests/check.bash
. tests/check.bash

"$program" experiment MODEL=tests/data/three.csv MACHINE=zen3 TIMING=0 OBSERVE=0 STORE=no "RESULTS=$work/results" >"$work/out" 2>"$work/err"
check "an experiment: exit status $?: $(tail -1 "$work/err")" [ -s "$work/results/zen3/three/layers.csv" ]
dir=$work/results/zen3/three
has_files "$dir" columns.json facts.csv

# schema TABLE: the name and type of each column of a table, from columns.json
schema() {
    awk -v path="\"$1\"," '/^   "path": / { here = $2 == path }
        here && /^      "name": / { gsub(/[",]/, "", $2); name = $2 }
        here && /^      "type": / { gsub(/[",]/, "", $2); print name, $2 }' "$dir/columns.json"
}

# unlike TABLE: cells of number columns that hold neither a number nor nothing, and names that differ from the schema's
unlike() {
    schema "$1" >"$work/schema"
    grep -v '^#' "$dir/$1" | awk -F, '
        NR == FNR { split($0, word, " "); name[FNR] = word[1]; type[FNR] = word[2]; n = FNR; next }
        !header++ { if (NF != n) print NF " columns"; for (i = 1; i <= NF; i++) if ($i != name[i]) print "name " $i; next }
        { for (i = 1; i <= n; i++) if (type[i] != "string" && $i !~ /^(-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?)?$/) print name[i], $i }' "$work/schema" -
}

for table in "$dir"/*.csv; do
    check "${table##*/}: $(unlike "${table##*/}" | head -3)" [ -z "$(unlike "${table##*/}")" ]
    check "${table##*/}: says what a row is" grep -q '^# one row: ' "$table"
done
check "a missing number has a reason" [ "$(columns "$dir/layers.csv" measured_time_ns | sort -u)" = not_available:_TIMING=0_was_asked_for ]
check "the reason stands once in a row" [ "$(grep -c 'TIMING=0 was asked for' "$dir/layers.csv") $(grep -o 'TIMING=0 was asked for' "$dir/layers.csv" | wc -l)" = "12 12" ]
check "facts.csv has the numbers of layers.csv" [ "$(columns "$dir/facts.csv" layer algo measure value | awk '$3 == "simulated_loads" { print $1, $2, $4 }')" = \
    "$(columns "$dir/layers.csv" layer algo simulated_loads)" ]
check "... and no missing ones" [ "$(columns "$dir/facts.csv" measure | grep -c '^measured_')" -eq 0 ]

# Both forms of a table are one: the same page, and no difference.
old=$work/old/zen3/three
mkdir -p "${old%/*}"
cp -r "$dir" "$old"
for table in "$dir"/*.csv; do
    { grep '^#' "$table"; csv_rows "$table"; } >"$old/${table##*/}"
done
check "the old form is another" grep -q ',not available: TIMING=0' "$old/layers.csv"
"$program" report "RESULTS=$old" >/dev/null 2>"$work/err"
"$program" report "RESULTS=$dir" >/dev/null 2>>"$work/err"
check "both forms give one page: $(cat "$work/err")" cmp -s "$old/report.html" "$dir/report.html"
"$program" compare "A=$old" "B=$dir" "RESULTS=$work/compared" >"$work/out" 2>"$work/err"
check "... and no difference: exit status $?: $(tail -2 "$work/out")" [ ! -s "$work/err" ]

# ---- the recipes ----

# recipes LANGUAGE: each block of results/numbers.md in a language, in a file of its own
recipes() {
    awk -v begin="^\`\`\`$1\$" -v to="$work/$1." '$0 ~ begin { n++; inside = 1; next } /^```/ { inside = 0 } inside { print >(to n) }' results/numbers.md
}

# tries LANGUAGE COMMAND...: all recipes of a language run, in the folder of the experiment
tries() {
    local language=$1 recipe
    recipes "$language"
    check "there are recipes: $language" [ -s "$work/$language.1" ]
    for recipe in "$work/$language".[0-9]*; do
        if [ "$language" = python ] && grep -q pandas "$recipe" && ! python3 -c 'import pandas' 2>/dev/null; then
            echo "$name: skipped: the recipe for pandas: python3 has no pandas"
            continue
        fi
        if ! command -v "$2" >/dev/null; then
            echo "$name: skipped: the recipes for $language: there is no $2"
            continue
        fi
        (cd "$dir" && "${@:2}" "$recipe") >"$work/said" 2>"$work/err"
        check "a recipe in $language: exit status $?: $(tail -1 "$work/err")" [ -s "$work/said" ]
        check "a recipe in $language warns: $(head -3 "$work/err")" [ ! -s "$work/err" ]
        cp "$work/said" "$work/said.$language.${recipe##*.}"
    done
}

tries python python3
tries r Rscript
tries gnuplot gnuplot -e 'set terminal dumb 78 20'
tries sh sh
check "the recipe of Python alone adds up: $(cat "$work/said.python.3" 2>/dev/null)" [ ! -e "$work/said.python.3" -o \
    "$(grep -o "'base': [0-9]*" "$work/said.python.3" 2>/dev/null)" = "'base': $(columns "$dir/layers.csv" algo simulated_loads | awk '$1 == "base" { n += $2 } END { print n }')" ]

finish
