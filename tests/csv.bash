# CSV files in the shell tests: columns are chosen by their names, never by their places. Sourced.
# shellcheck shell=bash

# csv_rows CSV: without comments; commas in quotes become semicolons, so that a comma ends a field. The last column
# why_missing is taken off: each empty cell with a reason there is "not available: <reason>".
csv_rows() {
    grep -v '^#' "$1" | sed -E ':a; s/^(([^"]*"[^"]*")*[^"]*"[^",]*),/\1;/; ta' | awk -F, -v OFS=, '
        function fill(word, reason, i, n) {
            n = sub(/[*]$/, "", word) ? length(word) : 0
            for (i in name)
                if ($i == "" && (n ? substr(name[i], 1, n) == word : name[i] == word)) $i = "not available: " reason
        }
        NR == 1 { explains = $NF == "why_missing"; for (i = 1; i < NF; i++) name[i] = $i }
        explains {
            text = NR == 1 ? "" : $NF
            NF--
            gsub(/^"|"$/, "", text)
            n = split(text, part, / [|] /)
            for (k = 1; k <= n; k++) {
                at = index(part[k], ": ")
                n_words = split(substr(part[k], 1, at - 1), word, /[+]/)
                for (j = 1; j <= n_words; j++) fill(word[j], substr(part[k], at + 2))
            }
        }
        { print }'
}

# columns CSV NAME...: the named columns of every row, blanks between; the header is left out. A value with quotes and
# an empty value are '-'; a blank in a value is '_'. A name that the file does not have is an error, and nothing is
# printed.
columns() {
    csv_rows "$1" | awk -F, -v names="${*:2}" '
        NR == 1 {
            n = split(names, name, " ")
            for (i = 1; i <= NF; i++) at[$i] = i
            for (k = 1; k <= n; k++) if (!(name[k] in at)) { print "no column " name[k] >"/dev/stderr"; exit 1 }
            next
        }
        {
            line = ""
            for (k = 1; k <= n; k++) {
                value = $at[name[k]]
                if (value == "" || value ~ /"/) value = "-"
                gsub(/ /, "_", value)
                line = line (k > 1 ? " " : "") value
            }
            print line
        }'
}

columns_but() { # columns_but CSV PATTERN: every column whose name does not match, with the header
    csv_rows "$1" | awk -F, -v pattern="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) keep[i] = $i !~ pattern }
        { line = ""; for (i = 1; i <= NF; i++) if (keep[i]) line = line "," $i; print line }'
}

sum_of() { # sum_of COLUMN CSV
    columns "$2" "$1" | awk '{ sum += $1 } END { print sum + 0 }'
}

# alike CSV CSV COMMAND [ARGUMENT...]: COMMAND CSV ARGUMENT... prints equal texts of both files, and a text that is not
# empty
alike() {
    local one two
    one=$("$3" "$1" "${@:4}") && two=$("$3" "$2" "${@:4}") && [ -n "$one" ] && [ "$one" = "$two" ]
}
