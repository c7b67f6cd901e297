# PolyDL's Figure 19: where the picks stand among the variants of matrix multiplications.
# draws picks.csv: worst of model: gemm
# reads rankings.csv
# reads printed.csv
W = 1100; H = 560
load figures."/polydl_common.gp"
eval open_output
eval put_what
f = "Figure 19"; c = "polydl_dnn_fraction_of_max"; eval find_printed
set label 98 "Speed as a share of the fastest variant's, one thread (PolyDL's Figure 19)" at screen 0.5, screen 1 - title_line / (1.0 * H) center font ",14"
set tmargin at screen 1 - 90.0 / H
set bmargin at screen (foot + 80) / H
set key at screen 0.5, screen 1 - 34.0 / H center top horizontal maxrows 2 samplen 2
set offsets 0.5, 0.5, 0, 0
set ylabel "share"
set yrange [0:1.05]
set xtics rotate by 20 right font ",9"
names = "worst microkernel pick_polydl pick_polydl_dnn"
array Shade[4] = [grey, sky, blue, vermilion]
array Title[4] = ["slowest variant", "tiles of 16 (Microkernel)", "PolyDL", "PolyDL-DNN"]
array Mark[4] = [9, 5, 7, 6]
array Size[4] = [1, 0.9, 1, 1.8]
place(dummy) = is_gemm(0) && column("threads") == 1 ? column("place") : NaN
if (printed ne "") { set arrow from graph 0, first printed + 0 to graph 1, first printed + 0 nohead dt 2 lc rgb vermilion
    set label 96 "paper, PolyDL-DNN: ".printed at graph 0.005, first printed - 0.03 left font ",9" tc rgb vermilion }
plot picks_csv using (place(0)):(number("worst") / number("best")):(0):(1 - number("worst") / number("best")) \
        with vectors nohead lw 7 lc rgb "#e8e8e8" notitle, \
     for [k = 1:4] picks_csv using (place(0)):(of_model("gemm", number(word(names, k)) / number("best"))) \
        with points pt Mark[k] ps Size[k] lw 1.5 lc rgb Shade[k] title Title[k], \
     picks_csv using (place(0)):(1):xtic(place(0) == place(0) ? stringcolumn("layer") : "") with points pt 0 notitle
