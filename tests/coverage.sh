#!/usr/bin/env bash
# Branch and MC/DC coverage of the suites, by room: builds the suites with clang's source coverage, runs the suites, prints a table,
# leaves an HTML report, and holds the bounds of coverage.bounds, which only rise. `--raise` writes risen bounds. Run by make coverage.
set -euo pipefail

build=${BUILD:-build-coverage} bounds=tests/coverage.bounds
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(printf '%s\n' /usr/bin/clang-[1-9]* | grep -oE '[0-9]+$' | sort -n | tail -1)
[ "${version:-0}" -ge 18 ] || { echo "coverage: clang 18 or newer counts conditions (MC/DC), and there is none: apt-get install clang-19 llvm-19" >&2; exit 2; }

make --no-print-directory -j"$(nproc)" BUILD="$build" CC="clang-$version" LDFLAGS=-fprofile-instr-generate \
    CFLAGS='-g1 -fprofile-instr-generate -fcoverage-mapping -fcoverage-mcdc' "$build/tests"

# Each suite is a process: a suite that crashes takes only its own counts away, and fails.
export LLVM_PROFILE_FILE=$work/%p.profraw
"$build/tests" --list | cut -d: -f1 | sort -u >"$work/suites"
xargs -P "$(nproc)" -I{} sh -c '"$0" --suite "$1" >"$2/$1.log" 2>&1 || echo "$1"' "$build/tests" {} "$work" <"$work/suites" >"$work/failed"
"llvm-profdata-$version" merge -o "$build/coverage.profdata" "$work"/*.profraw
unset LLVM_PROFILE_FILE

"llvm-cov-$version" show "$build/tests" -instr-profile="$build/coverage.profdata" -format=html -show-branches=count -show-mcdc \
    -output-dir="$build/coverage" -ignore-filename-regex='(^|/)tests/' >/dev/null
# The columns of a summary: file, then (count, missed, percent) of regions, functions, lines, branches and conditions.
"llvm-cov-$version" report "$build/tests" -instr-profile="$build/coverage.profdata" -show-mcdc-summary -use-color=0 \
    -ignore-filename-regex='(^|/)tests/' |
    awk -v root="$(pwd)/" '
        NF == 16 && $1 != "TOTAL" && $1 ~ /\.[ch]$/ {
            sub("^" root, "", $1)
            n = split($1, part, "/")
            room = part[1] (n > 2 ? "/" part[2] : "") (part[1] == "experiments" && n > 3 && (part[2] == "bench" || part[2] == "papers" || part[2] == "choices") ? "/" part[3] : "")
            branches[room] += $11; missed[room] += $12; conditions[room] += $14; unseen[room] += $15
        }
        function percent(n, miss) { return n ? 100 * (n - miss) / n : 100 }
        END { for (room in branches) printf "%-28s %8d %6.1f %8d %6.1f\n", room, branches[room], percent(branches[room], missed[room]),
                  conditions[room], percent(conditions[room], unseen[room]) }' | sort >"$work/table"
printf '%-28s %8s %6s %8s %6s\n' room branches '%' MC/DC '%'
cat "$work/table"
echo "every line: $build/coverage/index.html"

# The bounds: room, percent of branches, percent of conditions.
if [ "${1-}" = --raise ]; then
    touch "$bounds"
    awk 'NR == FNR { b[$1] = $2; c[$1] = $3; next } { x = int($3); y = int($5); print $1, (x > b[$1] ? x : b[$1]), (y > c[$1] ? y : c[$1]) }' \
        "$bounds" "$work/table" >"$work/bounds"
    cp "$work/bounds" "$bounds"
fi
awk 'NR == FNR { b[$1] = $2; c[$1] = $3; next }
    !($1 in b) { print "coverage: FAILED: no bound of " $1; bad = 1; next }
    $3 + 0.05 < b[$1] || $5 + 0.05 < c[$1] { print "coverage: FAILED: " $1 ": " $3 " and " $5 " %, below the bounds " b[$1] " and " c[$1]; bad = 1 }
    END { exit bad }' "$bounds" "$work/table" >&2
[ ! -s "$work/failed" ] || { echo "coverage: FAILED: suites: $(paste -sd' ' "$work/failed")" >&2; exit 1; }
