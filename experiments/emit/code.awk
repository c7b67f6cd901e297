# Prints a Markdown table of all layers of a code.csv: each form's speed divided by the library's speed, as geometric means with the
# extremes, and the CPU time of compiling; then the layers where sconv_opt is slowest.
BEGIN { FS = "," }
/^#/ { next }
!n_columns {
    for (n_columns = 1; n_columns <= NF; n_columns++)
        column[$n_columns] = n_columns
    next
}
{ layer = $column["layer"]; form = $column["code"] }
$column["time_ns"] + 0 > 0 {
    time[layer, form] = $column["time_ns"]
    compile[layer, form] = $column["compile_s"]
    if (!(form in seen)) {
        seen[form] = 1
        forms[++n_forms] = form
    }
    if (!(layer in known)) {
        known[layer] = 1
        layers[++n_layers] = layer
    }
}
function ratios(form,    i, x, sum, n, least, most) {
    for (i = 1; i <= n_layers; i++) {
        if (!time[layers[i], form] || !time[layers[i], "library"])
            continue
        x = time[layers[i], "library"] / time[layers[i], form]
        sum += log(x)
        least = !n || x < least ? x : least
        most = !n || x > most ? x : most
        n++
    }
    return n ? sprintf("%.2f (%.2f to %.2f)", exp(sum / n), least, most) : "-"
}
function seconds(form,    i, sum, most, n) {
    for (i = 1; i <= n_layers; i++) {
        if (!time[layers[i], form])
            continue
        sum += compile[layers[i], form]
        most = compile[layers[i], form] > most ? compile[layers[i], form] : most
        n++
    }
    return form == "library" ? "" : sprintf("%.2f, at most %.2f", sum / n, most)
}
END {
    print "| code of " n_layers " layers | speed beside the library | seconds of CPU to compile |\n|---|---|---|"
    for (i = 1; i <= n_forms; i++)
        print "| `" forms[i] "` | " ratios(forms[i], "library") " | " seconds(forms[i]) " |"
    slow = "sconv_opt"
    for (n = 1; n <= 8 && n <= n_layers; n++) {
        worst = ""
        for (i = 1; i <= n_layers; i++) {
            x = time[layers[i], slow] ? time[layers[i], "library"] / time[layers[i], slow] : 9
            if (!told[layers[i]] && (worst == "" || x < slowest)) {
                worst = layers[i]
                slowest = x
            }
        }
        told[worst] = 1
        printf "%s%s %.2f", n == 1 ? "\nslowest of `" slow "`: " : ", ", worst, slowest
    }
    print ""
}
