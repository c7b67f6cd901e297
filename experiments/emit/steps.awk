# Prints what each step of SConv brings, as a Markdown table: quotients of two algorithms' times, by the clock and by the replay. Reads
# experiments/published/sconv.csv, then each model's model.csv; a model is called what its rows call it.
function quotient(model, slow, fast,    clock, waits) {
    clock = time[model, slow] && time[model, fast] ? sprintf("%.2f", time[model, slow] / time[model, fast]) : "-"
    waits = estimate[model, slow] && estimate[model, fast] ? sprintf("%.2f", estimate[model, fast] / estimate[model, slow]) : "-"
    return clock " / " waits
}
function key(name) {
    name = tolower(name)
    gsub(/-/, "", name)
    return name
}
function mean(slow, fast,    i, clock, waits) {
    for (i = 1; i <= n; i++) {
        if (!(time[models[i], slow] && time[models[i], fast]))
            return "-"
        clock += log(time[models[i], slow] / time[models[i], fast]) / n
        waits += log(estimate[models[i], fast] / estimate[models[i], slow]) / n
    }
    return sprintf("%.2f / %.2f", exp(clock), exp(waits))
}
BEGIN {
    FS = ","
    n_steps = split("base goto sconv_no_vbp sconv_run_time sconv_openblas", slower, " ")
    split("sconv sconv sconv_openblas sconv_openblas sconv", faster, " ")
}
/^#/ { next }
{ gsub(/"[^"]*"/, "text") }
FILENAME != file {
    file = FILENAME
    for (i = 1; i <= NF; i++)
        column[$i] = i
    next
}
FILENAME ~ /published/ {
    if ($1 == "Table 2" && $4 == "conv_speedup")
        printed[key($2), $3] = $5
    next
}
{
    if (!($1 in seen)) {
        seen[$1] = 1
        models[++n] = $1
    }
    time[$1, $2] = $(column["measured_time_ns"]) + 0
    estimate[$1, $2] = $(column["simulated_speedup"]) + 0 # an empty cell is 0
    if (!estimate[$1, $2])
        estimate[$1, $2] = $(column["estimated_speedup"]) + 0
}
END {
    print "| model | Table 2: x86, POWER10 | SConv / Base | tiling and packing its tiles | packing by vectors | filters packed ahead | micro-kernel |"
    print "|---|---|---|---|---|---|---|"
    for (i = 1; i <= n; i++) {
        row = "| " models[i] " | " printed[key(models[i]), "x86"] ", " printed[key(models[i]), "P10"]
        for (s = 1; s <= n_steps; s++)
            row = row " | " quotient(models[i], slower[s], faster[s])
        print row " |"
    }
    row = "| geometric mean | "
    for (s = 1; s <= n_steps; s++)
        row = row " | " mean(slower[s], faster[s])
    print row " |"
}
