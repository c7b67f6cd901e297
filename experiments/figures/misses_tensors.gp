# Misses of each level for the whole model, by tensor and by class (compulsory, capacity, conflict), for each algorithm.
# question Which tensor's lines miss in each level, and why?
# caption A bar per tensor: compulsory misses (light) cannot be avoided, capacity misses (dark) ask for smaller tiles,
# caption conflict misses (red) for another layout
# draws classes.csv: misses of algo: $plain_algos
# hint CLASSES=3c makes some
# slots layers.csv: layer_index layer $shape_columns
load figures."/common.gp"
classes = classes_csv

algos = plain_algos
n_algos = words(algos)
tensors = "input im2col packed_input filter packed_filter output workspace" # the last one of plug-ins
n_tensors = words(tensors)
is_model(dummy) = column("layer_index") == 0 && index_in(algos, stringcolumn("algo"))

# A bar per algorithm and tensor that occurs, in the order of the lists; a gap between algorithms.
n_all = n_tensors * n_algos
array Seen[n_all]; array X[n_all]; array N_chosen[n_algos]
do for [i = 1:n_all] { Seen[i] = 0 }
do for [i = 1:n_algos] { N_chosen[i] = 0 }
levels = ""
bar_of(dummy) = (index_in(algos, stringcolumn("algo")) - 1) * n_tensors + index_in(tensors, stringcolumn("tensor"))
stats classes using (is_model(0) ? (Seen[bar_of(0)] = 1, \
    levels = index_in(levels, stringcolumn("level")) ? levels : levels." ".stringcolumn("level"), 0) : 0) nooutput
stats layers using (column("chosen") == 1 ? (N_chosen[index_in(algos, stringcolumn("algo"))] = \
    N_chosen[index_in(algos, stringcolumn("algo"))] + 1, 0) : 0) nooutput
x = 0; tics = ""
do for [i = 1:n_all] {
    if (i % n_tensors == 1) { is_first = 1 }
    if (Seen[i] && is_first) { x = x + (x > 0 ? 1.2 : 0); is_first = 0 }
    if (Seen[i]) { x = x + 1; X[i] = x; tics = tics.(x > 1 ? ", " : "").sprintf("'%s' %g", word(tensors, (i - 1) % n_tensors + 1), x) }
}
n_levels = words(levels)

bar = 22; left = 84; gap = 62; panel = 300
width = bar * (x + 0.6)
if (width < 300) { width = 300 }
# Levels stand side by side, or one below the other where that is too wide.
n_columns = left + n_levels * (width + gap) > 1700 ? 1 : n_levels
n_rows = n_levels / n_columns
W = left + n_columns * width + (n_columns - 1) * gap + 16
if (W < 1000) { W = 1000 }
if (n_columns == 1) { width = W - left - 16 }

# Names of algorithms stand over their bars, each in the first of some lines where it does not touch the one before.
array Middle[n_algos]; array Line[n_algos]; array End[6]
do for [i = 1:6] { End[i] = -1e9 }
n_name_lines = 1; left_out = ""
do for [a = 1:n_algos] {
    middle = 0; n = 0
    do for [i = (a - 1) * n_tensors + 1:a * n_tensors] { if (Seen[i]) { middle = middle + X[i]; n = n + 1 } }
    Middle[a] = n ? middle / n : NaN; Line[a] = 6
    if (n) {
        half = 3.6 * strlen(title_of(word(algos, a))) + 4; at = (middle / n) * width / (x + 0.6)
        do for [i = 6:1:-1] { if (at - half > End[i]) { Line[a] = i } }
        End[Line[a]] = at + half; n_name_lines = max2(n_name_lines, Line[a])
    } else {
        n_rows_of = 0
        stats layers using (algo_is(word(algos, a)) ? (n_rows_of = n_rows_of + 1, 0) : 0) nooutput
        if (n_rows_of) { left_out = left_out.(left_out eq "" ? "" : ", ").title_of(word(algos, a)) }
    }
}
columns = W / char_width
text = (left_out eq "" ? "" : "Not here, as it was not simulated in every layer: ".left_out.". ")."Simulated: ".machine.", ".simulator.". Misses are line reads and writes that a level did not have. Compulsory: never asked for before; capacity: \
a fully associative LRU cache of that size misses it, too; conflict: such a cache would not miss it."
eval wrap_text
tick_height = 92
row_height = panel + tick_height + 28
H = head_height + 20 + n_rows * row_height - 28 + n_lines * line_height + 16
eval open_output

colour_compulsory = sky; colour_capacity = blue; colour_conflict = vermilion
title_text = sprintf("%s: missing lines by tensor and kind of miss (%s)", model, layer_text)
eval put_head
legend_text = "compulsory"; legend_point = square; legend_colour = colour_compulsory; eval put_legend
legend_text = "capacity"; legend_colour = colour_capacity; eval put_legend
legend_text = "conflict"; legend_colour = colour_conflict; eval put_legend
last_word(t) = word(t, words(t))
choices = ""; n_any = 0
do for [a in member_algos] {
    n_any = n_any + N_chosen[index_in(algos, a)]
    choices = choices.(strlen(choices) ? ", " : "").sprintf("%s for %d", last_word(title_of(a)), N_chosen[index_in(algos, a)])
}
if (n_any > 0) {
    legend_point = only_text; legend_colour = "#404040"
    legend_text = "CSA chooses ".choices." of these layers"; eval put_legend
}
set multiplot
set key off
set boxwidth 0.8 absolute
set xrange [0.2:x + 0.8]
is_here(l) = is_model(0) && stringcolumn("level") eq word(levels, l)
do for [l = 1:n_levels] {
    x0 = left + ((l - 1) % n_columns) * (width + gap); y0 = head_height + 20 + ((l - 1) / n_columns) * row_height
    set lmargin at screen x0 / (1.0 * W)
    set rmargin at screen (x0 + width) / (1.0 * W)
    set tmargin at screen 1 - y0 / (1.0 * H)
    set bmargin at screen 1 - (y0 + panel) / (1.0 * H)
    set title word(levels, l) font ",12" offset 0, 0.4
    set ylabel (l == 1 || n_columns == 1 ? "missing lines [millions]" : "") offset 1, 0
    eval "set xtics rotate by 90 right scale 0 font ',9' (".tics.")"
    if (l == 2) { eval drop_head }
    if (l == n_levels) { set label 1 wrapped at screen 12.0 / W, screen (n_lines * line_height) / (1.0 * H) left front }
    do for [a = 1:n_algos] {
        if (Middle[a] == Middle[a]) { set label 10 + a title_of(word(algos, a)) at first Middle[a], graph 0.985 - 0.055 * (Line[a] - 1) center front font ",10" }
    }
    set yrange [*:*] # stats leaves out what is beyond a range
    stats classes using (is_here(l) ? column("misses") / 1e6 : NaN) nooutput
    set yrange [0:(STATS_max > 0 ? STATS_max * (1.12 + 0.08 * n_name_lines) : 1)]
    plot classes using (is_here(l) ? X[bar_of(0)] : NaN):(column("misses") / 1e6)\
             with boxes lc rgb colour_conflict, \
         classes using (is_here(l) ? X[bar_of(0)] : NaN):((column("compulsory_misses") + column("capacity_misses")) / 1e6) \
             with boxes lc rgb colour_capacity, \
         classes using (is_here(l) ? X[bar_of(0)] : NaN):(column("compulsory_misses") / 1e6) with boxes lc rgb colour_compulsory
}
unset multiplot
