# Missing lines per 1000 multiply-adds of each algorithm, library or plug-in: a column of panels for each machine, a row for each level.
# question Whose lines miss in which level, on which machine?
# caption A bar per algorithm or library, of pieces for the tensors that its missing lines belong to. Bars of one level
# caption have one scale on all machines. The workspace is all memory of a library's own
# draws tensors.csv: misses_per_1000_macs
load figures."/style.gp"
file = tensors_csv
tensors = "input filter output packed_input packed_filter im2col workspace"
array Colour[7] = [blue, green, vermilion, sky, "#88ccaa", orange, grey]
n_tensors = words(tensors)

# What occurs, in the order of the table.
machines = ""; levels = ""; algos = ""; models = ""; n_layers = 0
note(list, w) = index_in(list, w) ? list : list." ".w
stats file using (machines = note(machines, stringcolumn("machine")), levels = note(levels, stringcolumn("level")), \
    algos = note(algos, stringcolumn("algo")), models = note(models, stringcolumn("model")), n_layers = max2(n_layers, column("layers")), 0) nooutput
n_machines = words(machines); n_levels = words(levels); n_algos = words(algos)
longest = 0
do for [a in algos] { longest = max2(longest, strlen(title_of(a))) }

bar = 34; left = 70; gap = 30; panel = 190; row_gap = 34
width = max2(bar * (n_algos + 0.5), 960.0 / n_machines - gap)
tick_height = 14 + 7.2 * longest
W = left + n_machines * width + (n_machines - 1) * gap + 16
columns = W / char_width
text = what
eval wrap_text
H = head_height + 20 + n_levels * panel + (n_levels - 1) * row_gap + tick_height + n_lines * line_height + 10
eval open_output
title_text = sprintf("%s: whose lines miss, per 1000 multiply-adds", models[2:*])
subtitle_text = sprintf("simulated; sums over %d layers%s", n_layers, words(models) > 1 ? " at most" : "")
eval put_head
legend_point = square
do for [k = 1:n_tensors] { legend_text = word(tensors, k); legend_colour = Colour[k]; eval put_legend }
set multiplot
set key off
set boxwidth 0.8 absolute
set xrange [0.4:n_algos + 0.6]
names = ""
do for [i = 1:n_algos] { names = names.(i > 1 ? ", " : "").sprintf('"%s" %d', tic_text(title_of(word(algos, i))), i) }
is_here(l, m) = stringcolumn("level") eq word(levels, l) && stringcolumn("machine") eq word(machines, m)
up_to(k) = (sum [i = 1:k] column(word(tensors, i)))
do for [l = 1:n_levels] {
    highest = 0
    stats file using (stringcolumn("level") eq word(levels, l) ? (highest = max2(highest, column("misses_per_1000_macs")), 0) : 0) nooutput
    do for [m = 1:n_machines] {
        set lmargin at screen (left + (m - 1) * (width + gap)) / (1.0 * W)
        set rmargin at screen (left + (m - 1) * (width + gap) + width) / (1.0 * W)
        set tmargin at screen 1 - (head_height + 20 + (l - 1) * (panel + row_gap)) / (1.0 * H)
        set bmargin at screen 1 - (head_height + 20 + (l - 1) * (panel + row_gap) + panel) / (1.0 * H)
        set title word(machines, m).", ".word(levels, l) font ",12" offset 0, -0.4
        set ylabel (m == 1 ? "lines per 1000 multiply-adds" : "") offset 1, 0
        if (l == n_levels) { eval 'set xtics rotate by 90 right scale 0 font ",10" ('.names.')' } else { set xtics scale 0 ('' 0) }
        if (l == n_levels && m == n_machines) { set label 1 wrapped at screen 12.0 / W, screen (n_lines * line_height) / (1.0 * H) left front font ",9" }
        set yrange [0:(highest > 0 ? highest * 1.08 : 1)]
        plot for [k = n_tensors:1:-1] file using (is_here(l, m) ? index_in(algos, stringcolumn("algo")) : NaN):(up_to(k)) \
            with boxes lc rgb Colour[k]
        eval drop_head
    }
}
unset multiplot
