#!/usr/bin/env bash
# The names in READMEs exist: files and folders, links, make's targets and the targets' variables, programs. Files of a
# run are named in the sources. Run from the project's folder.
set -u

program=
# shellcheck source=tests/check.bash
. tests/check.bash

.ci/facts | sort -r >"$work/facts" # variables come before those who know them

files() { find . -path './build*' -prune -o -path ./.git -prune -o -print; }

look() { # look README...: what they name that is missing, or that only the sources can know
    awk -f tests/readmes.awk "$work/facts" Makefile kernels/lib/libsconv.mk tests/tests.mk tests/foreign.mk \
        counters/watch/watch.mk - "$@"
}

sources_name() { # sources_name WORD: a file that a program writes stands there as a text; anything else as a word
    case $1 in
    *.*) grep -rqE --include='*.[ch]' --include='*.def' "\"$(sed 's/[.]/[.]/g; s/\*/[a-z_]*/g' <<<"$1")\"" sim kernels counters experiments ;;
    *) grep -rqwF --include='*.[ch]' --include='*.txt' --include='*.def' -e "$1" sim kernels counters experiments ;;
    esac
}

wrong() { # wrong README... <FILES: one line for everything that is not there
    local kind where word
    look "$@" | sort -u | while IFS=$'\t' read -r kind where word; do
        [ "$kind" = named ] || echo "$where"
        [ "$kind" != named ] || sources_name "$word" || echo "$where: neither a variable nor a file that the sources know is $word"
    done
}

readmes=()
while read -r readme; do readmes+=("${readme#./}"); done < <(files | grep '/README\.md$')
readmes+=(sim/from-cachegrind.md)

found=$(files | wrong "${readmes[@]}")
check "what READMEs name and is not there:
$found" [ -z "$found" ]
check "without files hundreds are missing" [ "$(look "${readmes[@]}" </dev/null | grep -c '^missing')" -gt 300 ]

longer=$(for readme in $(printf '%s\n' "${readmes[@]}" | grep -vx 'README.md\|results/reference/.*'); do
    words=$(sed '/^<!-- questions -->/,/^<!-- end -->/d' "$readme" | wc -w)
    [ "$words" -le 700 ] || echo "$words $readme"
done)
check "a room asks, and says how to run and to read, in 700 words; what was found goes to results/reference: $longer" [ -z "$longer" ]

said=$(.ci/readmes --check)
check "$said" [ -z "$said" ]

# Each line but the last two names a missing file; the first and the ninth name two.
cat >"$work/README.md" <<'END'
`sim/no_such_room/`, or `sim/no_such_*.c`
`no_such_file.c`
`no_such_table.csv`
`NO_SUCH_VARIABLE=1`
`make no-such-target`
`make judge TIMING=0`
`make test SUITES=nest`

    make experiment MODEL=tests/data/no_such.csv NO_SUCH=1   # a command
    build/no-such-program --machine host

![a figure](no/such/figure.png)
`sim/README.md`, `sim/<room>/trace*.h`, `main_<program>.c`, `results/host/vgg16/report.html`, `observed*.csv`
`make test-power10 SUITE=nest`, `make experiment LAYERS='a b=c' TIMING=0`, `CONV_CPU=avx2 make test`, `build/sconv-gen PLAN=a.json`
END
said=$(files | wrong "$work/README.md")
lines=$(cut -d: -f2 <<<"$said" | sort -n | uniq -c | awk '{ print $2 "x" $1 }' | paste -sd ' ')
check "what is not there is named, $lines: $said" [ "$lines" = "1x2 2x1 3x1 4x1 5x1 6x1 7x1 9x2 10x1 12x1" ]

mkdir -p "$work/results/reference/old"
sed -n 's/^!/a link: &/p; 2p' "$work/README.md" >"$work/results/reference/old/README.md"
said=$(files | wrong "$work/results/reference/old/README.md")
check "of what is dated only links are checked: $said" [ "$(wc -l <<<"$said")-${said##* }" = 1-no/such/figure.png ]

finish
