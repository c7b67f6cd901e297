# PolyDL's Figure 18: GFLOP/s of matrix multiplications; of PolyDL the best of its first 5 %, as there.
# draws picks.csv: pick_polydl of model: gemm
# reads printed.csv
W = 1100; H = 560
load figures."/polydl_common.gp"
eval open_output
eval put_what
names = "loops microkernel top5_polydl top5_polydl_dnn onednn base"
metrics = "gflops_geomean_baseline - - gflops_geomean_polydl_dnn gflops_geomean_onednn -"
array Shade[6] = [grey, sky, blue, vermilion, orange, green]
array Title[6] = ["the compiler's loops", "tiles of 16", "PolyDL, best of its top 5 %", "PolyDL-DNN, best of its top 5 %", "oneDNN", "OpenBLAS"]
m = "gemm"; f = "Figure 18"
do for [k = 1:6] {
    c = word(names, k); eval find_mean
    c = word(metrics, k); eval find_printed
    Title[k] = Title[k].(mean == mean ? sprintf(": geomean %.3g", mean) : "").(printed eq "" ? "" : " (paper: ".printed.")")
}
c = "gflops_geomean_pluto"; eval find_printed; pluto = printed
c = "gflops_geomean_autotvm"; eval find_printed; tvm = printed
set label 98 "Speed of matrix multiplications M_N_K, one thread (PolyDL's Figure 18)" at screen 0.5, screen 1 - title_line / (1.0 * H) center font ",14"
set label 96 (pluto eq "" ? "" : "paper, 32 cores; there alone: Pluto ".pluto.", AutoTVM ".tvm) at graph 0.99, graph 0.96 right font ",9"
set tmargin at screen 1 - 100.0 / H
set bmargin at screen (foot + 80) / H
set key at screen 0.5, screen 1 - 34.0 / H center top horizontal maxrows 3 samplen 2
set ylabel "GFLOP/s"
set yrange [0:*]
set boxwidth 0.13
eval label_gemms
place(dummy) = is_gemm(0) && column("threads") == 1 ? column("place") : NaN
plot for [k = 1:6] picks_csv using (place(0) + (k - 3.5) * 0.13):(of_model(m, number(word(names, k)))) with boxes lc rgb Shade[k] title Title[k]
