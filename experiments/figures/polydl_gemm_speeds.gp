# PolyDL's Figure 18: GFLOP/s of matrix multiplications; of PolyDL the best of its first 5 %, as there.
# question How fast are its picks of matrix multiplications? (its Figure 18)
# caption As polydl_speeds
# draws picks.csv: pick_polydl of model: gemm
# reads printed.csv
W = 1100; H = 560
load figures."/polydl_common.gp"
eval open_output
eval put_what
names = "loops microkernel top5_polydl top5_polydl_dnn onednn base"
metrics = "gflops_geomean_baseline - - gflops_geomean_polydl_dnn gflops_geomean_onednn -"
array Shade[6] = [grey, sky, blue, vermilion, orange, green]
array Title[6] = ["the compiler's loops", "tiles of 16", "PolyDL's top 5 %", "PolyDL-DNN's top 5 %", "oneDNN", "OpenBLAS"]
m = "gemm"; f = "Figure 18"
do for [k = 1:6] {
    c = word(names, k); eval find_mean
    c = word(metrics, k); eval find_printed
    Title[k] = Title[k].(mean == mean ? sprintf(": %.3g", mean) : "").(printed eq "" ? "" : " (paper: ".printed.")")
}
c = "gflops_geomean_pluto"; eval find_printed; pluto = printed
c = "gflops_geomean_autotvm"; eval find_printed; tvm = printed
set label 98 "Speed of matrix multiplications M x N x K, one thread (PolyDL's Figure 18), and geometric means" at screen 0.5, screen 1 - title_line / (1.0 * H) center font ",14"
set label 96 (pluto eq "" ? "" : "The paper's means are of 32 cores. Only the paper has Pluto (".pluto.") and AutoTVM (".tvm.").") at graph 0, graph 1.03 left font ",9"
set tmargin at screen 1 - 124.0 / H
set lmargin at screen 110.0 / W
set rmargin at screen 1 - 20.0 / W
set bmargin at screen (foot + 80) / H
set key at screen 0.5, screen 1 - 34.0 / H center top horizontal maxcols 2 samplen 2
set ylabel "GFLOP/s"
set yrange [0:*]
set boxwidth 0.13
eval label_gemms
place(dummy) = is_gemm(0) && column("threads") == 1 ? column("place") : NaN
plot for [k = 1:6] picks_csv using (place(0) + (k - 3.5) * 0.13):(of_model(m, number(word(names, k)))) with boxes lc rgb Shade[k] title Title[k]
