# PolyDL's Figures 9, 11 and 13: GFLOP/s of the layers of three networks.
# question How fast is what PolyDL picks? (its Figures 9, 11, 13)
# caption A group of bars per layer; the paper's geometric means, of 28 cores, stand beside ours, of one
# draws picks.csv: pick_polydl of model: fastrcnn resnet maskrcnn
# reads printed.csv
W = 1200
load figures."/polydl_common.gp"
eval find_present
panel = 250.0; top = 70.0
H = top + n_present * panel + foot + 20
eval open_output
set multiplot
set label 98 "Speed of the convolutions, one thread (PolyDL's Figures 9, 11, 13)" at screen 0.5, screen 1 - title_line / (1.0 * H) center font ",14"
eval put_what
set key at screen 0.5, screen 1 - 34.0 / H center top horizontal Left reverse samplen 2
set lmargin at screen 0.06
set rmargin at screen 0.985
set ylabel "GFLOP/s"
set yrange [0:*]
set boxwidth 0.2
names = "loops pick_default_order pick_polydl onednn"
metrics = "gflops_geomean_baseline - gflops_geomean_polydl gflops_geomean_onednn"
array Shade[4] = [grey, sky, blue, orange]
array Title[4] = ["the compiler's loops", "Figure 8's order", "PolyDL's pick", "oneDNN"]
do for [p = 1:n_present] {
    m = word(present, p); f = "Figure ".speed_figure(m)
    means = ""
    do for [k = 1:4] {
        c = word(names, k); eval find_mean
        c = word(metrics, k); eval find_printed
        means = means.(k > 1 ? ", " : "").Title[k].sprintf(" %.3g", mean).(printed eq "" ? "" : " (paper: ".printed.")")
    }
    f = "Figure 9"; c = "gflops_geomean_autotvm"; eval find_printed
    if (m eq "fastrcnn" && printed ne "") { means = means.", AutoTVM (paper: ".printed.")" }
    set tmargin at screen 1 - (top + (p - 1) * panel + 24) / H
    set bmargin at screen 1 - (top + p * panel - 26) / H
    set title sprintf("%s (Figure %s), geometric means: %s", m, speed_figure(m), means) noenhanced offset 0, -0.5 font ",10"
    set xtics 1 font ",9"
    set xrange [0.3:*]
    plot for [k = 1:4] picks_csv using (column("place") + (k - 2.5) * 0.2):(of_model(m, number(word(names, k)))) \
        with boxes lc rgb Shade[k] title (p == 1 ? Title[k] : "")
    unset label 97; unset label 98
}
unset multiplot
