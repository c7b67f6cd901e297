# What a faster micro-kernel does to packing's share and to Base / SConv, when nothing else gets faster.
# question What becomes of packing and of SConv when the micro-kernel gets faster?
# caption Predicted from the recorded machines' costs, multiply-adds scaled; dashed: SConv
# draws rates.csv: base_packing_percent sconv_packing_percent speedup
load figures."/peers_common.gp"
file = rates_csv
W = 1200; H = 560
eval open_output
set multiplot layout 1,2 title "A faster micro-kernel, nothing else: predicted from the recorded machines' costs, all layers, cold" margins 0.06, 0.985, 0.30, 0.86 spacing 0.08
eval put_what
set key at screen 0.5, 0.19 center top horizontal Left reverse maxrows 1 samplen 3
set logscale x 2
set autoscale x noextend
set offsets graph 0.02, graph 0.02, 0, 0
set xtics (4, 8, 16, 32, 64, 128, 256, 512)
set xlabel "multiply-adds of the micro-kernel per cycle"
machines = "zen3 spr"
array Shade[2] = [vermilion, blue]
of(m, v) = stringcolumn("machine") eq m ? v : NaN
set datafile missing NaN
set ylabel "im2col and packing, of the time [%]"
set yrange [0:*]
plot for [k = 1:2] file using (column("macs_per_cycle")):(of(word(machines, k), number("base_packing_percent"))) with linespoints pt 7 lw 2 lc rgb Shade[k] title word(machines, k).", Base", \
     for [k = 1:2] file using (column("macs_per_cycle")):(of(word(machines, k), number("sconv_packing_percent"))) with linespoints pt 6 lw 2 dt 2 lc rgb Shade[k] title word(machines, k).", SConv"
unset label 99
set ylabel "cycles of Base / cycles of SConv"
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb "#404040"
set yrange [0:*]
plot for [k = 1:2] file using (column("macs_per_cycle")):(of(word(machines, k), number("speedup"))) with linespoints pt 7 lw 2 lc rgb Shade[k] notitle
unset multiplot
