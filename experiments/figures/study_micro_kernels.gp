# What a faster micro-kernel does to packing's share and to Base / SConv: both replayed with micro-kernels from SSE to AMX.
# question What becomes of packing and of SConv when the micro-kernel gets faster, by replay?
# caption Two bounds: loads that miss hit all the same, or wait; dashed: SConv. Labels are what has about such a
# caption micro-kernel
# draws micro_kernels.csv: base_packing_percent sconv_packing_percent speedup
load figures."/peers_common.gp"
file = micro_kernels_csv
W = 1200; H = 620
eval open_output
set multiplot layout 1,2 title "A faster micro-kernel, nothing else: Base and SConv replayed, sample of layers, caches of clx4208, cold" margins 0.06, 0.975, 0.31, 0.88 spacing 0.08
eval put_what
set key at screen 0.5, 0.18 center top horizontal Left reverse maxrows 2 samplen 3
set logscale x 2
set autoscale x noextend
set offsets graph 0.03, graph 0.05, 0, 0
set xtics font ",10" scale 0.5
set xlabel "multiply-adds per cycle of the micro-kernel" offset 0, -1
array Shade[2] = [blue, vermilion]
cases = "hit wait"
array Said[2] = ["loads that miss hit all the same", "loads that miss wait"]
of(c, v) = stringcolumn("misses") eq c ? v : NaN
short(w) = strstrt(w, ",") ? w[1:strstrt(w, ",") - 1] : w
name(x) = sprintf("%d\n%s", column("macs_per_cycle"), tic_text(short(stringcolumn("what"))))
set datafile missing NaN
set ylabel "im2col and packing, of all cycles [%]"
set yrange [0:*]
plot for [k = 1:2] file using (column("macs_per_cycle")):(of(word(cases, k), number("base_packing_percent"))):xtic(name(0)) with linespoints pt 7 lw 2 lc rgb Shade[k] title "Base, ".Said[k], \
     for [k = 1:2] file using (column("macs_per_cycle")):(of(word(cases, k), number("sconv_packing_percent"))):xtic(name(0)) with linespoints pt 6 lw 2 dt 2 lc rgb Shade[k] title "SConv, ".Said[k]
unset label 99
set ylabel "cycles of Base / cycles of SConv"
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb "#404040"
set yrange [0:*]
plot for [k = 1:2] file using (column("macs_per_cycle")):(of(word(cases, k), number("speedup"))):xtic(name(0)) with linespoints pt 7 lw 2 lc rgb Shade[k] notitle
unset multiplot
