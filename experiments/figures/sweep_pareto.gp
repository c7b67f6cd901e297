# What more cache buys: cost against the size of all caches, a point per configuration, a line through those that none beats. A panel per model.
# question What does more cache buy?
# caption A point per configuration; the line goes through those that no other beats in both cost and size. Numbers are those
# caption of the column config in configs.csv. Where only tiles vary, there is no such figure
# draws configs.csv: cost of algo: $shown_algos
load figures."/sweep_common.gp"
low = NaN; high = NaN; most = 0
stats file using (most = max2(most, number("cost")), 0) nooutput
unit = most >= 1e7 ? 1e6 : 1
stats file using (low = min2(low, column("cache_bytes")), high = max2(high, column("cache_bytes")), 0) nooutput
if (low == high) { print "the caches are of one size: what varies is not how much cache there is"; exit status 77 }
eval find_models
n_models = words(models)
W = 1000
columns = int(W / char_width)
text = what; eval wrap_text
foot = n_lines * line_height
panel = n_models > 1 ? 280 : 400; gap = 84
H = head_height + n_models * (panel + gap) + foot
eval open_output
title_text = sprintf("What more cache buys on %s: %s", machine, model_text)
subtitle_text = "a point per configuration; on a line: no other costs less with as little cache"
eval put_head
legend_point = circle; do for [a in shown_algos] { legend_text = title_of(a); legend_colour = colour_of(a); eval put_legend }
set label 97 wrapped at screen 0.02, screen (foot - 8) / (1.0 * H) left noenhanced tc rgb "#606060"
set multiplot
set key off
set lmargin at screen 110.0 / W; set rmargin at screen 1 - 24.0 / W
set xlabel "all caches together [KiB]"; set ylabel cost_label.(unit > 1 ? " [millions]" : "") offset 1, 0
low = low / 1024.0 / 1.03; high = high / 1024.0 * 1.03
set logscale x 2; set xrange [low:high]; set yrange [0:*]
tics = ""; n_tics = 0
do for [i = 0:40] { if (2.0**i >= low && 2.0**i <= high) { tics = tics.(n_tics ? ", " : "").sprintf("%.0f", 2.0**i); n_tics = n_tics + 1 } }
if (n_tics < 4) { eval find_log_tics }
eval "set xtics (".tics.")"
set offsets 0, 0, graph 0.05, 0
named = word(shown_algos, 1) # the numbers of one line are enough, and those of several hide each other
only(m, a, v) = stringcolumn("model") eq m && stringcolumn("algo") eq a ? v : NaN
front(m, a, v) = column("pareto") == 1 ? only(m, a, v) : NaN
set datafile missing NaN
do for [p = 1:n_models] {
    m = word(models, p)
    set tmargin at screen 1 - (head_height + (p - 1) * (panel + gap)) / (1.0 * H)
    set bmargin at screen 1 - (head_height + (p - 1) * (panel + gap) + panel) / (1.0 * H)
    if (n_models > 1) { set title m noenhanced offset 0, -0.6 }
    plot for [a in shown_algos] file using (column("cache_bytes") / 1024):(only(m, a, number("cost") / unit)) with points pt 7 ps 0.7 lc rgb colour_of(a), \
         for [a in shown_algos] file using (front(m, a, column("cache_bytes") / 1024)):(front(m, a, number("cost") / unit)) smooth unique \
             with linespoints lw 2 pt 6 ps 1.4 lc rgb colour_of(a), \
         file using (front(m, named, column("cache_bytes") / 1024)):(front(m, named, number("cost") / unit)):(sprintf("%d", column("config"))) \
             with labels offset 1.2, 0.7 font ",9" tc rgb colour_of(named)
    eval drop_head; unset label 97
}
unset multiplot
