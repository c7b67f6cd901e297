# PolyDL's Figures 10, 12 and 14: how far apart a layer's variants are, and where the picks stand.
# question How far apart are a layer's variants, and where are the picks? (its Figures 10, 12, 14)
# caption Grey: from the slowest variant to the fastest, which is 1. Of what is no variant, points may lie above or
# caption below
# draws picks.csv: worst of model: fastrcnn resnet maskrcnn
# reads printed.csv
W = 1200
load figures."/polydl_common.gp"
eval find_present
panel = 230.0; top = 70.0
H = top + n_present * panel + foot + 20
eval open_output
set multiplot
set label 98 "Speed over that of the fastest variant, one thread (PolyDL's Figures 10, 12, 14)" at screen 0.5, screen 1 - title_line / (1.0 * H) center font ",14"
eval put_what
set key at screen 0.5, screen 1 - 34.0 / H center top horizontal Left reverse samplen 2
set lmargin at screen 0.06
set rmargin at screen 0.985
highest = 1
do for [c in "pick_default_order pick_polydl pick_polydl_dnn"] {
    stats picks_csv using (v = number(c) / number("best"), v == v && !is_gemm(0) ? (highest = max2(highest, v), 0) : 0, 0) nooutput
}
set yrange [0:1.05 * highest]
set ylabel "speed / fastest variant's"
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb "#404040"
names = "worst pick_default_order pick_polydl pick_polydl_dnn"
array Shade[4] = [grey, sky, blue, vermilion]
array Title[4] = ["slowest variant", "Figure 8's order (Microkernel)", "PolyDL", "PolyDL-DNN"]
array Mark[4] = [9, 5, 7, 6]
array Size[4] = [1, 0.9, 1, 1.6]
do for [p = 1:n_present] {
    m = word(present, p); f = "Figure ".spread_figure(m)
    c = "pick_polydl"; eval find_mean; over = mean
    c = "pick_default_order"; eval find_mean; over = over / mean
    c = "percent_over_default_loop_order_avg"; eval find_printed; paper = printed eq "" ? "" : sprintf("%.2f", 1 + printed / 100.0)
    c = "speedup_over_microkernel_avg"; eval find_printed; paper = printed eq "" ? paper : printed
    set tmargin at screen 1 - (top + (p - 1) * panel + 24) / H
    set bmargin at screen 1 - (top + p * panel - 26) / H
    set title sprintf("%s (%s): PolyDL's pick is %.2f times as fast as Figure 8's order", m, f, over).(paper eq "" ? "" : " (paper: ".paper.")") \
        noenhanced offset 0, -0.5 font ",10"
    set xtics 1 font ",9"
    set xrange [0.3:*]
    plot picks_csv using (column("place")):(of_model(m, number("worst") / number("best"))):(0):(of_model(m, 1 - number("worst") / number("best"))) \
            with vectors nohead lw 5 lc rgb "#e8e8e8" notitle, \
         for [k = 1:4] picks_csv using (column("place")):(of_model(m, number(word(names, k)) / number("best"))) \
            with points pt Mark[k] ps Size[k] lw 1.5 lc rgb Shade[k] title (p == 1 ? Title[k] : "")
    unset label 97; unset label 98
}
unset multiplot
