# PolyDL's Figures 20 and 21: what fusing brings, layer by layer, over the size of the tensor that both operators write.
# question What does fusing operators bring? (its Figures 20 and 21)
# caption A point per layer, over the size of what both operators write; above 1 fusing is faster
# draws fusion.csv: speedup_over_apart
# reads printed.csv
W = 1200; H = 620
load figures."/polydl_common.gp"
eval open_output
eval put_what
pairs = "bnorm_relu conv_relu6"
figure_of(k) = word("20 21", k)
title_of(k) = k == 1 ? "batch normalisation + ReLU (PolyDL's Figure 20)" : "convolution + ReLU6 (PolyDL's Figure 21)"
overs = "apart onednn"
metric_of(k) = word("fused_over_unfused fused_over_onednn", k)
array Shade[2] = [blue, orange]
array Over[2] = ["two passes", "oneDNN, fused"]
set logscale xy
set xlabel "output [MiB]"
set format y "%g"
set key at graph 0.5, graph 1.02 center bottom vertical maxrows 2 Left reverse samplen 1
note(v) = v > 0 ? (low = min2(low, v), high = max2(high, v), 0) : 0
set ylabel "how many times as fast"
of_pair(p, v) = stringcolumn("operators") eq p ? v : NaN
find_geomean = 'log_sum = 0; n_rows = 0; stats fusion_csv using (v = of_pair(p, number(c)), v == v && v > 0 ? \
    (log_sum = log_sum + log(v), n_rows = n_rows + 1, 0) : 0, 0) nooutput; mean = n_rows ? exp(log_sum / n_rows) : NaN'
array Title[2]
set bmargin at screen (foot + 60) / H
set tmargin at screen 0.79
set label 98 "Speed of the fused operators over that of others, one thread" at screen 0.5, 0.96 center font ",14"
set multiplot
do for [k = 1:2] {
    set lmargin at screen 0.07 + (k - 1) * 0.49
    set rmargin at screen 0.49 + (k - 1) * 0.49
    set title title_of(k) noenhanced offset 0, 2.6
    p = word(pairs, k)
    low = NaN; high = NaN
    stats fusion_csv using (note(of_pair(p, number("output_bytes") / 2.0**20)), 0) nooutput
    if (low != low) { low = 0.1; high = 10 }
    low = low / 1.3; high = high * 1.3
    set xrange [low:high]; axis_pixels = 0.42 * W; eval find_log_tics
    eval "set xtics (".tics.")"
    low = 1; high = 1
    do for [o in overs] { stats fusion_csv using (note(of_pair(p, number("speedup_over_".o))), 0) nooutput }
    low = low / 1.15; high = high * 1.15
    set yrange [low:high]; axis_pixels = 0; eval find_log_tics
    eval "set ytics (".tics.")"
    do for [o = 1:2] {
        c = "speedup_over_".word(overs, o); eval find_geomean
        f = "Figure ".figure_of(k); save_c = c; c = metric_of(o); eval find_printed; c = save_c
        Title[o] = "over ".Over[o].(mean == mean ? sprintf(": geometric mean %.2f", mean) : ": not timed").(printed eq "" ? "" : " (paper: ".printed.")")
    }
    if (k == 2) { unset ylabel }
    plot 1 with lines dt 2 lc rgb "#404040" notitle, \
         for [o = 1:2] fusion_csv using (number("output_bytes") / 2.0**20):(of_pair(p, number("speedup_over_".word(overs, o)))) \
             with points pt 7 ps 0.8 lc rgb Shade[o] title Title[o]
    if (k == 1) { unset label 97; unset label 98 }
}
unset multiplot
