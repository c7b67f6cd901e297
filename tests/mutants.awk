# Prints mutants of C files, drawn at random: FILE, line number, kind, and the changed line, with tabs between. Lines are drawn by -v
# seed=S in a random order, each line with one of the line's mutants. tests/mutate.sh takes as many as build. A line is a candidate if
# the line is code: no comment, no preprocessor's line, no assertion, no declaration of a name alone.
function random(n) { # 0 .. n - 1, by Park and Miller's generator: awks differ in rand()
    state = state * 16807 % 2147483647
    return int(state / 2147483647 * n)
}

function offer(kind, text) { # one of the line's mutants: each is as likely as any other
    if (random(++n_offers) == 0) { offered_kind = kind; offered = text }
}

# Offers the line with each place of a word replaced. `code` is the line without texts and comments, and is as long as the line.
function swap(kind, from, to,    at, start) {
    start = 1
    while (at = index(substr(code, start), from)) {
        at += start - 1
        offer(kind, substr($0, 1, at - 1) to substr($0, at + length(from)))
        start = at + length(from) - 1
    }
}

function swap_constants(    start, number, before, after) {
    start = 1
    while (match(substr(code, start), /[0-9]+/)) {
        start += RSTART - 1
        number = substr(code, start, RLENGTH)
        before = substr(code, start - 1, 1)
        after = substr(code, start + RLENGTH, 1)
        if (before !~ /[A-Za-z0-9_.]/ && after !~ /[A-Za-z0-9_.]/) {
            offer("constant", substr($0, 1, start - 1) (number + 1) substr($0, start + RLENGTH))
            if (number > 0) offer("constant", substr($0, 1, start - 1) (number - 1) substr($0, start + RLENGTH))
        }
        start += RLENGTH
    }
}

function is_balanced(text,    opened, closed) {
    opened = gsub(/\(/, "(", text)
    closed = gsub(/\)/, ")", text)
    return opened == closed
}

function negate(    at, end) {
    if (code !~ /^ *(\} else )?(if|while) \(.*\)( \{)?$/ || !is_balanced(code)) return
    at = index(code, "(")
    end = length(code)
    while (substr(code, end, 1) != ")") end--
    offer("condition", substr($0, 1, at) "!" substr($0, at, end - at + 1) substr($0, end))
}

function drop() { # a statement that fills its line, after a whole statement or a condition
    if (code !~ /^ +[A-Za-z_(*].*(=|\+\+|--|\().*;$/ || !is_balanced(code)) return
    if (code ~ /^ *(return|goto|const|static|struct|enum|unsigned|bool|char|double|float|int|long|size_t|u?int[0-9]+_t|void|FILE)[ (*]/) return
    if (before !~ /[;{})]$/ && before !~ /(else|do|:)$/) return
    offer("statement", substr($0, 1, match($0, /[^ ]/) - 1) ";")
}

function hidden(text) { gsub(/./, "_", text); return text }

# Sets code: texts and characters become underlines, comments go.
function strip(    at, head, tail) {
    code = $0
    while (match(code, /"([^"\\]|\\.)*"|'([^'\\]|\\.)*'/))
        code = substr(code, 1, RSTART - 1) hidden(substr(code, RSTART, RLENGTH)) substr(code, RSTART + RLENGTH)
    while (match(code, /\/\*([^*]|\*[^\/])*\*\//)) {
        head = substr(code, 1, RSTART - 1)
        tail = substr(code, RSTART + RLENGTH)
        code = head ~ /[^ ]/ && tail !~ /[^ ]/ ? head : head hidden(substr(code, RSTART, RLENGTH)) tail
    }
    if (in_comment) {
        at = index(code, "*/")
        code = ""
        in_comment = !at
    } else if (at = index(code, "/*")) {
        code = substr(code, 1, at - 1)
        in_comment = 1
    }
    sub(/ +$/, "", code)
}

BEGIN {
    FS = "\n"
    state = (seed * 48271 + 11) % 2147483646 + 1
    for (i = 0; i < 20; i++) random(2)
    n_words = split("relational < <= relational <= < relational > >= relational >= > relational == != relational != == " \
        "arithmetic + - arithmetic - + arithmetic * / arithmetic / * arithmetic % / arithmetic += -= arithmetic -= += arithmetic ++ -- arithmetic -- ++ " \
        "bits << >> bits >> << bits & | bits | & bits |= &= bits &= |= logical && || logical || &&", word, " ")
}
FNR == 1 { in_comment = in_macro = 0; before = "" }
{
    strip()
    is_code = code != "" && !in_macro && code !~ /^ *#/ && code !~ /(assert|_Static_assert)\(/
    in_macro = (code ~ /^ *#/ || in_macro) && code ~ /\\$/
    n_offers = 0
    if (is_code) {
        for (i = 1; i <= n_words; i += 3) {
            blank = word[i + 1] ~ /^(\+\+|--)$/ ? "" : " " # binary operators stand between blanks
            swap(word[i], blank word[i + 1] blank, blank word[i + 2] blank)
        }
        swap_constants()
        negate()
        drop()
    }
    if (n_offers) printf "%010d\t%s\t%d\t%s\t%s\n", random(2147483646), FILENAME, FNR, offered_kind, offered
    if (code != "") before = code
}
