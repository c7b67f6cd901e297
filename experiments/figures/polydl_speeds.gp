# question How fast is what PolyDL picks? (its Figures 9, 11, 13)
# caption A group of bars per layer; the paper's geometric means, of 28 cores, stand beside ours, of one
# draws picks.csv: pick_polydl of model: fastrcnn resnet maskrcnn
# reads printed.csv
load figures."/polydl_common.gp"
eval find_networks; names = "loops pick_default_order pick_polydl onednn"; n_bars = 4; n_passes = 4; panel_h = 190; labels_in_all = 1; slot_title = ""
array Title[4] = ["the compiler's loops", "Figure 8's order", "PolyDL's pick", "oneDNN"]
slot(dummy) = stringcolumn("model") eq word(networks, p) && one_thread(0) ? column("place") : 0; bar(dummy) = g; part(k) = number(word(names, g))
bar_colour(b, k) = word(grey." ".sky." ".blue." ".orange, b); slot_label(i) = sprintf("%d", i); slots_in(p) = Places[p]
# Geometric means stand in the panels' titles.
metrics = "gflops_geomean_baseline - gflops_geomean_polydl gflops_geomean_onednn"; array Means[n_panels + 1]
do for [p = 1:n_panels] {
    m = word(networks, p); f = "Figure ".word("9 11 13", index_in("fastrcnn resnet maskrcnn", m)); Means[p] = m." (".f."), geometric means: "
    do for [k = 1:4] { c = word(names, k); eval find_mean; c = word(metrics, k); eval find_printed; Means[p] = Means[p].(k > 1 ? ", " : "").Title[k].sprintf(" %.3g", mean).of_paper(printed) }
    f = "Figure 9"; c = "gflops_geomean_autotvm"; eval find_printed
    if (m eq "fastrcnn" && printed ne "") { Means[p] = Means[p].", AutoTVM".of_paper(printed) }
}
panel_title(p) = Means[p]; value_title(p) = "GFLOP/s"; title_text = "Speed of the convolutions, one thread (PolyDL's Figures 9, 11, 13)"
do for [k = 1:4] { dummy = legend(Title[k], bar_colour(k, 1), square) }
dummy = note("Numbers below the bars are places of the layers in the networks.")
load figures."/bars.gp"
