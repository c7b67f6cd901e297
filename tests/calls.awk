# Who calls whom, from what `nm -A` says of object files, OBJECTS/path.o, whose sources are path.c. Prints "path.c other.c" for each
# file that needs a symbol of another one; with circles=1 prints the circles instead: files that all need each other, in a line.
#
#     nm -A objects... | awk -v objects=build/obj/ -f tests/calls.awk

{
    file = $0
    sub(/\.o:.*/, ".c", file)
    file = substr(file, length(objects) + 1)
    if ($(NF - 1) == "U") needs[file, ++n_needs[file]] = $NF
    else if ($(NF - 1) ~ /^[TDBRVWC]$/) {
        if ($NF in home) home[$NF] = "" # a symbol of several files: nobody knows whose
        else home[$NF] = file
    }
    if (!(file in known)) { known[file]; files[++n_files] = file }
}

function print_sorted(names, n,    i, k, name, line) {
    for (i = 2; i <= n; i++) {
        name = names[i]
        for (k = i; k > 1 && names[k - 1] > name; k--) names[k] = names[k - 1]
        names[k] = name
    }
    for (i = 1; i <= n; i++) line = line (i > 1 ? " " : "") names[i]
    print line
}

# Tarjan's: the files on the stack that are reached again from each other are a circle.
function visit(a,    i, b, names, n) {
    order[a] = low[a] = ++n_visited
    stack[++height] = a
    is_on[a] = 1
    for (i = 1; i <= n_called[a]; i++) {
        b = called[a, i]
        if (!(b in order)) visit(b)
        if (is_on[b] && low[b] < low[a]) low[a] = low[b]
    }
    if (low[a] != order[a]) return
    do {
        b = stack[height--]
        is_on[b] = 0
        names[++n] = b
    } while (b != a)
    if (n > 1) print_sorted(names, n)
}

END {
    for (k = 1; k <= n_files; k++) {
        a = files[k]
        for (i = 1; i <= n_needs[a]; i++) {
            b = home[needs[a, i]]
            if (b == "" || b == a || (a, b) in seen) continue
            seen[a, b]
            called[a, ++n_called[a]] = b
            if (!circles) print a, b
        }
    }
    for (k = 1; circles && k <= n_files; k++)
        if (!(files[k] in order)) visit(files[k])
}
