# PolyDL's Figure 19: where the picks stand among the variants of matrix multiplications.
# question Where are the picks among their variants? (its Figure 19)
# caption As polydl_spread
# draws picks.csv: worst of model: gemm
# reads printed.csv
W = 1100; H = 560
load figures."/polydl_common.gp"
eval open_output
eval put_what
f = "Figure 19"; c = "polydl_dnn_fraction_of_max"; eval find_printed
set label 98 "Speed over that of the fastest variant, one thread (PolyDL's Figure 19)" at screen 0.5, screen 1 - title_line / (1.0 * H) center font ",14"
set tmargin at screen 1 - 106.0 / H
set lmargin at screen 110.0 / W
set rmargin at screen 1 - 20.0 / W
set bmargin at screen (foot + 80) / H
set key at screen 0.5, screen 1 - 34.0 / H center top horizontal Left reverse maxrows 2 samplen 2
set label 95 "Tiles of 16 are none of the variants: they may be faster than all of these." at graph 0.01, graph 1.03 left font ",9"
set offsets 0.5, 0.5, 0, 0
set ylabel "speed / fastest variant's"
set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb "#404040"
set yrange [0:*]
eval label_gemms
names = "worst microkernel pick_polydl top5_polydl top5_polydl_dnn"
array Shade[5] = [grey, sky, blue, blue, vermilion]
array Title[5] = ["slowest variant", "tiles of 16 (Microkernel)", "PolyDL's first", "PolyDL, best of its top 5 %", "PolyDL-DNN, best of its top 5 %"]
array Mark[5] = [9, 5, 7, 6, 4]
array Size[5] = [1, 0.9, 0.9, 1.6, 2.2]
place(dummy) = is_gemm(0) && column("threads") == 1 ? column("place") : NaN
if (printed ne "") { set arrow from graph 0, first printed + 0 to graph 1, first printed + 0 nohead dt 2 lc rgb vermilion
    set label 96 "dashed: the paper's geometric mean of PolyDL-DNN, ".printed at graph 0.99, graph 1.03 right font ",9" tc rgb vermilion }
plot picks_csv using (place(0)):(number("worst") / number("best")):(0):(1 - number("worst") / number("best")) \
        with vectors nohead lw 7 lc rgb "#e8e8e8" notitle, \
     for [k = 1:5] picks_csv using (place(0)):(of_model("gemm", number(word(names, k)) / number("best"))) \
        with points pt Mark[k] ps Size[k] lw 1.5 lc rgb Shade[k] title Title[k]
