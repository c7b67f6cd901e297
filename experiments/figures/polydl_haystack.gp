# PolyDL's Figure 15: the speeds of its picks over those of HayStack's, all convolutions.
# question Does PolyDL pick better than HayStack? (its Figure 15)
# caption Layers right of 1 say so
# draws picks.csv: pick_haystack
# reads printed.csv
W = 1000; H = 560
load figures."/polydl_common.gp"
eval open_output
eval put_what
set title "Speed of the pick over that of HayStack's pick, all convolutions, one thread (PolyDL's Figure 15)" noenhanced
set bmargin at screen (foot + 60) / H
set key at graph 0.02, graph 0.96 left top
set xlabel "speed of the pick / speed of HayStack's pick"
set ylabel "layers at or below [%]"
set logscale x
set yrange [0:1.02]
set ytics ("0" 0, "20" 0.2, "40" 0.4, "60" 0.6, "80" 0.8, "100" 1)
set arrow from 1, graph 0 to 1, graph 1 nohead lc rgb "#404040" dt 2
ratio(c) = is_gemm(0) ? NaN : one_thread(number(c) / number("pick_haystack"))
mean_of(c) = 'sum = 0; n = 0; stats picks_csv using (v = ratio("'.c.'"), v == v ? (sum = sum + v, n = n + 1, 0) : 0, 0) nooutput; mean = n ? sum / n : NaN'
names = "polydl polydl_dnn"
low = 0.9; high = 1.1
note(v) = v > 0 ? (low = min2(low, v), high = max2(high, v), 0) : 0
stats picks_csv using (note(ratio("pick_polydl")), note(ratio("pick_polydl_dnn")), 0) nooutput
low = low / 1.02; high = high * 1.02
set xrange [low:high]
eval find_log_tics
eval "set xtics (".tics.")"
array Shade[2] = [blue, vermilion]
array Title[2]; array mean_is[2]
do for [k = 1:2] {
    eval mean_of("pick_".word(names, k)); mean_is[k] = mean == mean
    f = "Figure 15"; c = word(names, k)."_vs_haystack"; eval find_printed
    Title[k] = title_of_ranking(word(names, k)).(mean == mean ? sprintf(": mean %.3f", mean) : ": no picks").(printed eq "" ? "" : " (paper: ".printed.")")
}
plot for [k = 1:2] picks_csv using (ratio("pick_".word(names, k))):(1) smooth cnormal with steps lw 2 lc rgb Shade[k] notitle, \
     for [k = 1:2] NaN with lines lw 2 lc rgb Shade[k] title (mean_is[k] ? Title[k] : "")
