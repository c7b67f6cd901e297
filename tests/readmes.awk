# Checks that the names in READMEs exist. Run from the project's folder:
#
#     awk -f tests/readmes.awk facts makefiles... - README.md...
#
# The first file has the facts of .ci/facts, variables first. Standard input lists every file and folder of the project.
# Printed lines: "missing<TAB>where: what" for a missing file, and "named<TAB>where<TAB>word" for a word that only the
# sources can know: a file that programs write, or a variable of the environment.

function note(words, set, n, i, part) { # adds words to a set
    n = split(words, part, " ")
    for (i = 1; i <= n; i++)
        set[part[i]]
}

# The variables of a target: the variables of questions and of groups.
function know(target, owners, n, i, owner) {
    n = split(owners, owner, " ")
    for (i = 1; i <= n; i++)
        names["known_" target] = names["known_" target] names["of," owner[i]]
}

FNR == 1 {
    source = "files"
    if (FILENAME ~ /facts$/)
        source = "facts"
    else if (FILENAME ~ /(\.mk|Makefile)$/)
        source = "makefile"
    else if (FILENAME ~ /\.md$/)
        source = "readme"
    folder = FILENAME
    if (!sub(/\/[^\/]*$/, "", folder))
        folder = ""
}

source == "facts" {
    split($0, part, "\t")
    if (part[1] == "variable") {
        known[part[3]]
        names["of," part[2]] = names["of," part[2]] " " part[3]
    } else if (part[1] == "knows")
        know(part[2], part[3])
    else if (part[1] == "target")
        target[part[2]]
}

source == "makefile" && /^[A-Za-z0-9_-][A-Za-z0-9_ -]*:([^=]|$)/ {
    text = $0
    sub(/:.*/, "", text)
    note(text, target)
}

source == "files" {
    sub(/^\.\//, "")
    path[$0]
    base = $0
    sub(/.*\//, "", base)
    has_base[base]
}

function missing(what) { print "missing\t" FILENAME ":" FNR ": " what }

function may_be_named(word) { print "named\t" FILENAME ":" FNR "\t" word }

# ---- files ----

function is_there(p, pattern, q) {
    while (sub(/(^|\/)[^\/.][^\/]*\/\.\.(\/|$)/, "/", p))
        sub(/^\//, "", p)
    sub(/\/$/, "", p)
    if (p !~ /\*/)
        return p in path
    pattern = p
    gsub(/[.]/, "[.]", pattern)
    gsub(/[+]/, "[+]", pattern)
    gsub(/\*/, "[^/]*", pattern)
    pattern = "^" pattern "$"
    for (q in path) {
        if (q ~ pattern)
            return 1
    }
    return 0
}

# Tells whether the path begins in the README's folder, in a folder around it, in the row's room, or among committed
# results.
function is_found(p, from) {
    if (is_there((folder == "" ? "" : folder "/") room p))
        return 1
    for (from = folder; from != ""; ) {
        if (is_there(from "/" p))
            return 1
        if (!sub(/\/[^\/]*$/, "", from))
            from = ""
    }
    return is_there(p) || is_there("results/reference/" p)
}

# Tells whether a file has the name, without its folder.
function is_named(base, b) {
    if (base !~ /\*/)
        return base in has_base
    gsub(/[.]/, "[.]", base)
    gsub(/\*/, "[^/]*", base)
    for (b in has_base) {
        if (b ~ "^" base "$")
            return 1
    }
    return 0
}

# Tells whether a run or a build makes the file.
function is_made(p) { return p ~ /^((results\/)?(host|\*)|build[^\/]*)\// || p ~ /^results\/store\.sqlite/ }

function check_path(p, shown) {
    shown = p
    gsub(/<[^>]*>/, "*", p)
    if (p ~ /^build[^\/]*\/.*[a-z]$/)
        check_program(p)
    if (is_made(p) || is_found(p))
        return
    if (p !~ /\// && is_named(p))
        return
    if (p !~ /\// && p ~ /\.(csv|md|html|txt|sqlite|cfg|json|png|svg)$/)
        may_be_named(p)
    else
        missing("there is no file " shown)
}

# build/sconv-gen is made of main_sconv_gen.c; build/judge, a link to bench, asks the question of question_judge.c.
function check_program(p, name) {
    if (p ~ /\/root$/)
        return
    name = p
    sub(/.*\//, "", name)
    gsub(/-/, "_", name)
    if (!(("main_" name ".c") in has_base) && !(("question_" name ".c") in has_base))
        missing("no program is " p)
}

# ---- commands ----

function variable(word) {
    sub(/=.*/, "", word)
    return word
}

function check_variable(name) {
    if (!(name in known))
        may_be_named(name)
}

# A value that begins in a folder of the project is a file.
function check_value(word) {
    sub(/^[^=]*=/, "", word)
    if (word ~ /^(counters|experiments|kernels|results\/reference|sim|tests)\//)
        check_path(word)
}

# make's words, from the first behind `make` on.
function check_make(word, from, n, i, allowed, targets, w) {
    allowed = names["of,build"] names["of,cpu"]
    for (i = from; i <= n; i++) {
        w = word[i]
        if (w ~ /=/ || w ~ /^-/ || w ~ /\.\.\.$/)
            continue
        if (!(w in target))
            missing("make has no target " w)
        targets++
        allowed = allowed " " names["known_" w] (w ~ /^test-/ ? names["known_test"] : "")
    }
    if (!targets)
        allowed = allowed " " names["known_all"]
    for (i = from; i <= n; i++) {
        if (word[i] ~ /^[A-Za-z_]+=/ && index(" " allowed " ", " " variable(word[i]) " ") == 0)
            missing("make " word[from] " knows no variable " variable(word[i]))
    }
}

# A command line, or a fragment of a command line.
function check_command(text, word, n, i) {
    gsub(/'[^']*'/, "quoted", text)
    gsub(/<[^>]*>/, "*", text)
    sub(/[ \t]*(#|[>|;&]).*/, "", text)
    sub(/^[ \t]+/, "", text)
    sub(/   .*/, "", text) # on a screen, the purpose of the command
    n = split(text, word, " ")
    for (i = 1; i <= n; i++)
        check_value(word[i])
    for (i = 1; i <= n && word[i] ~ /^[A-Z][A-Z0-9_]*=/; i++)
        check_variable(variable(word[i]))
    if (word[i] == "make")
        check_make(word, i + 1, n)
    else if (word[i] ~ /^build[^\/]*\//) {
        check_program(word[i])
        for (i++; i <= n; i++) {
            if (word[i] ~ /^[A-Z][A-Z0-9_]*=/)
                check_variable(variable(word[i]))
        }
    } else if (word[i] ~ /^\.?[a-z]+\// && n > i)
        check_path(word[i])
}

# Micro-kernels are in files of their names, with one _ before the instruction set.
function stem(name) {
    sub(/__/, "_", name)
    return name
}

# A text in backquotes.
function check_quoted(text) {
    if (text ~ /^[A-Z][A-Z0-9_]*$/)
        check_variable(text)
    else if (text ~ /^(conv|csa|csa2|ctr|exp|f32|obs|pack|sim)_[a-z0-9_]+$/) {
        if (!is_named(stem(text) "*"))
            may_be_named(text)
    } else if (text ~ /^([A-Z][A-Z0-9_]*=|make( |$)|build\/|\.?[a-z]+\/[^ ]* )/)
        check_command(text)
    else if (text !~ /[^A-Za-z0-9_.<>*\/+-]/ && text !~ /^[*.][^\/]*$|^\.\.\./ &&
             text ~ /\/|\.(c|h|def|sh|awk|js|css|gp|mk|inc|bash|3|1|csv|md|html|txt|sqlite|cfg|json|png|svg)$/)
        check_path(text)
}

# A dated page describes its date: only its links lead somewhere today.
function is_dated() { return FILENAME ~ /(^|\/)results\/reference\// }

source == "readme" && /^    / {
    text = $0
    sub(/^ */, "", text)
    if (!is_dated() && text ~ /^([A-Z][A-Z0-9_]*=[^ ]* )*(make|build[^ \/]*\/[^ ]*)( |$)/)
        check_command(text)
    next
}

source == "readme" {
    text = $0
    room = ""
    if (match(text, /^\| `[a-z_]+\/`/))
        room = substr(text, 4, RLENGTH - 4)
    while (match(text, /\]\([^)]*\)/)) { # a link
        link = substr(text, RSTART + 2, RLENGTH - 3)
        text = substr(text, 1, RSTART - 1) substr(text, RSTART + RLENGTH)
        sub(/#.*/, "", link)
        if (link != "" && link !~ /:/ && !is_there((folder == "" ? "" : folder "/") link))
            missing("there is no file " link)
    }
    while (!is_dated() && match(text, /`[^`]+`/)) {
        quoted = substr(text, RSTART + 1, RLENGTH - 2)
        text = substr(text, RSTART + RLENGTH)
        check_quoted(quoted)
    }
}
