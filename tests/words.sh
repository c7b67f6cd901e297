#!/usr/bin/env bash
# Counts the pronouns and the other words without a noun in C comments: a comment names its noun again. A room is a folder with
# C files of its own. tests/words.bounds has for each room the most pronouns per 100 words of comments; a bound only falls.
# The literals of strings are no comments. Run from the project's folder:
#
#     tests/words.sh           # fails for each room above its bound, far below its bound, or without a bound
#     tests/words.sh --lower   # lowers the bounds to what is counted, drops rooms that are gone, raises no bound
set -u
export LC_ALL=C

program=
# shellcheck source=tests/check.bash
. tests/check.bash

pronouns='that which those these it its what they them so such same one ones other others'
slack=0.3 # a bound may be that much above the count

# counted FOLDER: for each room in the folder's houses: the room, the words of its comments, the pronouns among the words
counted() {
    (cd "$1" && for house in sim kernels counters experiments tests; do
        [ -d "$house" ] && find "$house" -type f \( -name '*.[ch]' -o -name '*.def' -o -name '*.inc' \) -exec awk -v pronouns="$pronouns" '
        BEGIN {
            n = split(pronouns, part, " ")
            for (i = 1; i <= n; i++)
                is_pronoun[part[i]]
        }
        function count(text, part, i, n) {
            text = tolower(text)
            gsub(/[^a-z\47]+/, " ", text)
            n = split(text, part, " ")
            words[room] += n
            for (i = 1; i <= n; i++)
                pointing[room] += (part[i] in is_pronoun)
        }
        FNR == 1 {
            in_comment = 0
            room = FILENAME
            sub(/\/[^\/]*$/, "", room)
            words[room] += 0
        }
        in_comment || index($0, "/") {
            line = $0
            gsub(/"(\\.|[^"\\])*"/, "\"\"", line)
            while (line != "") {
                if (in_comment) {
                    end = index(line, "*/")
                    count(end ? substr(line, 1, end - 1) : line)
                    in_comment = !end
                    line = end ? substr(line, end + 2) : ""
                } else if (match(line, /\/[*\/]/)) {
                    in_comment = substr(line, RSTART + 1, 1) == "*"
                    line = substr(line, RSTART + 2)
                    if (!in_comment) {
                        count(line)
                        line = ""
                    }
                } else
                    line = ""
            }
        }
        END { for (room in words) print room, words[room], pointing[room] + 0 }' {} +
    done) | awk '{ words[$1] += $2; pointing[$1] += $3 } END { for (room in words) print room, words[room], pointing[room] }' | sort
}

# compared BOUNDS COUNTS ACTION: "complaints" prints a line for each room that is wrong; "lower" prints the new bounds
compared() {
    awk -v action="$3" -v slack="$slack" '
    function least(percent, tenths) { # the least bound with one decimal
        tenths = int(percent * 10)
        return sprintf("%.1f", (tenths + (tenths < percent * 10 - 1e-9)) / 10)
    }
    function complain(text) { if (action == "complaints") print text }
    counts { percent[$1] = $2 ? 100 * $3 / $2 : 0; next }
    !($1 in percent) {
        complain($1 " is no room any more: tests/words.sh --lower drops the line")
        next
    }
    {
        seen[$1]
        if (percent[$1] > $2 + 1e-9)
            complain(sprintf("%s: %.2f pronouns per 100 words of comments are more than the bound %s: name the nouns", $1, percent[$1], $2))
        else if (percent[$1] < $2 - slack - 1e-9)
            complain(sprintf("%s: %.2f pronouns per 100 words of comments: lower the bound %s with tests/words.sh --lower", $1, percent[$1], $2))
        if (action == "lower")
            print $1, least(percent[$1]) + 0 < $2 + 0 ? least(percent[$1]) : $2
    }
    END {
        for (room in percent) {
            if (!(room in seen))
                complain(room ": the room has no bound: add to tests/words.bounds the line: " room " " least(percent[room]))
        }
    }' counts=1 "$2" counts=0 "$1" | sort
}

if [ "${1-}" = --lower ]; then
    counted . >"$work/counts"
    compared tests/words.bounds "$work/counts" lower >"$work/bounds" && cp "$work/bounds" tests/words.bounds
    exit
fi

tree=$work/tree
mkdir -p "$tree/sim/deep/er" "$tree/tests"
says() { # says COUNTS: the words and pronouns of the file that standard input gives
    cat >"$tree/sim/deep/er/x.c"
    [ "$(counted "$tree")" = "sim/deep/er $1" ]
}
check "a pronoun in a comment is counted" says '4 1' <<<'int a; /* It is a number */'
check "... and one behind //" says '3 1' <<<'int a; // the same number'
check "... and those of several lines and comments" says '8 4' <<<$'/* Those\n * are ones, */ int a; /* and others */ int b; // which\n/**/ int it; // end/*\nint that; // of'
check "a word of code is none" says '0 0' <<<'int it = that / 2;'
check "... nor one in a string" says '2 0' <<<'puts("/* it */ \" // that"); // the end'
check "... nor a longer word" says '3 0' <<<"// itself, itself's others'"
rm "$tree/sim/deep/er/x.c"
for file in a.h b.def c.inc d.md; do echo '// what' >"$tree/sim/deep/$file"; done
echo '// it' >"$tree/tests/x.c"
check "headers and tables have comments, and a README has none" [ "$(counted "$tree")" = $'sim/deep 3 3\ntests 1 1' ]

judged() { # judged BOUNDS COUNTS ACTION: what the action says
    compared <(echo "$1") <(echo "$2") "$3"
}
counts='sim/base 1000 50'
check "a room at its bound passes" [ -z "$(judged 'sim/base 5.0' "$counts" complaints)" ]
check "... and one a little below" [ -z "$(judged 'sim/base 5.3' "$counts" complaints)" ]
check "a room above its bound fails" grep -q '^sim/base: 5.00 .* more than the bound 4.9:' <(judged 'sim/base 4.9' "$counts" complaints)
check "... and one far below" grep -q '^sim/base: 5.00 .*: lower the bound 5.4 ' <(judged 'sim/base 5.4' "$counts" complaints)
check "... and one without a bound" grep -q ': sim/base 5.0$' <(judged '' "$counts" complaints)
check "... and a bound without a room" grep -q '^sim/gone is no room' <(judged $'sim/base 5.0\nsim/gone 3.0' "$counts" complaints)
check "a bound falls to the count, rounded up" [ "$(judged 'sim/base 7.0' 'sim/base 1000 51' lower)" = 'sim/base 5.1' ]
check "... and to a tenth above" [ "$(judged 'sim/base 7.0' 'sim/base 2000 101' lower)" = 'sim/base 5.1' ]
check "... from two digits, too" [ "$(judged 'sim/base 10.0' "$counts" lower)" = 'sim/base 5.0' ]
check "... and does not rise" [ "$(judged 'sim/base 4.0' "$counts" lower)" = 'sim/base 4.0' ]
check "... and goes with its room" [ "$(judged $'sim/base 4.0\nsim/gone 3.0' "$counts" lower)" = 'sim/base 4.0' ]

counted . >"$work/counts"
check "there are rooms to look at" [ "$(wc -l <"$work/counts")" -gt 30 ]
compared tests/words.bounds "$work/counts" complaints >"$work/complaints"
while read -r complaint; do bad "$complaint"; done <"$work/complaints"
passed=$((passed + $(wc -l <"$work/counts") - $(wc -l <"$work/complaints")))

finish
