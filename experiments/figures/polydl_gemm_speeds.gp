# question How fast are its picks of matrix multiplications? (its Figure 18)
# caption As polydl_speeds
# draws picks.csv: pick_polydl of model: gemm
# reads printed.csv
load figures."/polydl_common.gp"
eval find_gemms; names = "loops microkernel top5_polydl top5_polydl_dnn onednn base"; n_bars = 6; n_passes = 6; panel_h = 330
slot(dummy) = is_gemm(0) ? column("place") : 0; bar(dummy) = g; part(k) = number(word(names, g))
bar_colour(b, k) = word(grey." ".sky." ".blue." ".vermilion." ".orange." ".green, b)
title_text = "Speed of matrix multiplications M x N x K, one thread (PolyDL's Figure 18), and geometric means"; value_title(p) = "GFLOP/s"
array Title[6] = ["the compiler's loops", "tiles of 16", "PolyDL's top 5 %", "PolyDL-DNN's top 5 %", "oneDNN", "OpenBLAS"]; m = "gemm"; f = "Figure 18"
do for [k = 1:6] {
    c = word(names, k); eval find_mean; c = word("gflops_geomean_baseline - - gflops_geomean_polydl_dnn gflops_geomean_onednn -", k); eval find_printed
    if (mean == mean) { dummy = legend(Title[k].sprintf(": %.3g", mean).of_paper(printed), bar_colour(k, 1), square) }
}
c = "gflops_geomean_pluto"; eval find_printed; pluto = printed; c = "gflops_geomean_autotvm"; eval find_printed
dummy = note(pluto eq "" ? "" : "The paper's means are of 32 cores. Only the paper has Pluto (".pluto.") and AutoTVM (".printed.").")
load figures."/bars.gp"
