# What more cache buys: cost against the size of all caches, a point per configuration, a line through those that none beats.
# draws configs.csv: cost of algo: $shown_algos
load figures."/style.gp"
file = configs_csv
n_algos = words(shown_algos)
W = 1000; H = 620
eval open_output
columns = int(W / char_width)
text = what; eval wrap_text
set label 97 wrapped at screen 0.02, screen 0.03 + 0.025 * (n_lines - 1) left noenhanced font ",9" tc rgb "#606060"
set bmargin 5 + n_lines
set title sprintf("What more cache buys on %s: a point per configuration", machine) noenhanced
set xlabel "all caches together [KiB]"; set ylabel cost_label
set logscale x 2; set yrange [0:*]
set key top right
set offsets graph 0.03, graph 0.03, graph 0.05, graph 0.02
only(a, v) = stringcolumn("algo") eq a ? v : NaN
front(a, v) = stringcolumn("algo") eq a && column("pareto") == 1 ? v : NaN
set datafile missing NaN
plot for [a in shown_algos] file using (column("cache_bytes") / 1024):(only(a, number("cost"))) with points pt 7 ps 0.7 lc rgb colour_of(a) notitle, \
     for [a in shown_algos] file using (front(a, column("cache_bytes") / 1024)):(front(a, number("cost"))) smooth unique \
         with linespoints lw 2 pt 6 ps 1.4 lc rgb colour_of(a) title title_of(a).": none is better and as small"
