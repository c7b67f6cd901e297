# Each schedule over the first one by each yardstick, all layers sorted: where a curve is above 1, the first is the better schedule.
# question Which schedule is better, by how much, and does the choice depend on the yardstick?
# caption Each schedule over input stationary, sorted: where a curve is above 1, input stationary is better; dashed:
# caption what CSA predicts
# draws ratios.csv: predicted_cycles $yardstick_names
load figures."/peers_common.gp"
file = ratios_csv
n_variants = words(variant_names); n_yardsticks = words(yardstick_names)
is_of(v) = stringcolumn("schedule") eq word(variant_names, v)
low = 1; high = 1; n = 0
note(v) = v == v && v > 0 ? (low = v < low ? v : low, high = v > high ? v : high, 0) : 0
stats file using (n = n + is_of(2), note(number("predicted_cycles")), 0) nooutput
do for [y in yardstick_names] { stats file using (note(number(y)), 0) nooutput }
W = 1200; H = 600
eval open_output
eval put_what
set bmargin 4 + n_lines
others = word(variant_labels, 2); titles = word(variant_titles, 2)
do for [v = 3:n_variants] { others = others.", ".word(variant_labels, v); titles = titles.", ".word(variant_titles, v) }
reference = word(variant_titles, 1)
set title sprintf("%s against %s, %d convolutions on %s", others, word(variant_labels, 1), n, machine)
set xlabel "share of the layers, each yardstick sorted on its own [%]"
set ylabel sprintf("%s / %s (above 1: %s is better)", titles, reference, reference)
set xrange [0:100]
set logscale y
low = low / 1.1; high = high * 1.1
set yrange [low:high]
eval find_log_tics
eval "set ytics (".tics.")"
set arrow from 0, 1 to 100, 1 nohead lc rgb "black"
# Curves of the second variant are drawn through, but for what is predicted; those of later ones are dashed, and named after them.
name_of_curve(v, text) = v == 2 || !strlen(text) ? text : word(variant_titles, v).": ".text
# Two borders are the same where a machine has fewer levels than names.
label_of(y) = y > 1 && word(yardstick_labels, y) eq word(yardstick_labels, y - 1) ? "" : word(yardstick_labels, y)
dash_of(v) = v == 2 ? 1 : v
cost_of(v, c) = is_of(v) ? number(c) : NaN
plot for [v = 2:n_variants] file using (column("rank_percent")):(cost_of(v, "predicted_cycles")) \
         with lines lw 2 dt v lc rgb "black" title name_of_curve(v, "predicted cycles"), \
     for [v = 2:n_variants] for [y = 1:n_yardsticks] file using (column("rank_percent")):(cost_of(v, word(yardstick_names, y))) \
         with lines lw 2 dt dash_of(v) lc rgb word(yardstick_colours, y) title name_of_curve(v, label_of(y))
