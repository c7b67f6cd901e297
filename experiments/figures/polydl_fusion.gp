# question What does fusing operators bring? (its Figures 20 and 21)
# caption A point per layer, over the size of what both operators write; above 1 fusing is faster
# draws fusion.csv: speedup_over_apart
# reads printed.csv
load figures."/polydl_common.gp"
table = fusion_csv; pairs = "bnorm_relu conv_relu6"; overs = "apart onednn"; n_panels = 2; n_columns = 2; n_series = 2; n_passes = 2
x_log = 1; is_log = 1; y_has = "1"; n_rules = 1; rule(i) = 1; panel_h = 330
series(dummy) = stringcolumn("operators") eq word(pairs, p) ? g : 0; x(dummy) = number("output_bytes") / 2.0**20
y(dummy) = number("speedup_over_".word(overs, g))
series_colour(s) = s == 1 ? blue : orange; series_title(s) = s == 1 ? "over two passes" : "over oneDNN, fused"; array Means[2]
do for [p = 1:2] { Means[p] = ""; do for [g = 1:2] {
    log_sum = 0; n_rows = 0; stats table using (series(0) > 0 && y(0) > 0 ? (log_sum = log_sum + log(y(0)), n_rows = n_rows + 1, 0) : 0, 0) nooutput
    f = p == 1 ? "Figure 20" : "Figure 21"; c = word("fused_over_unfused fused_over_onednn", g); eval find_printed
    Means[p] = Means[p].(g == 2 ? "; " : "").series_title(g).(n_rows ? sprintf(" %.2f", exp(log_sum / n_rows)) : ": not timed").of_paper(printed)
} }
panel_title(p) = p == 1 ? "batch normalisation + ReLU (its Figure 20)" : "convolution + ReLU6 (its Figure 21)"
title_text = "Speed of the fused operators over that of others, one thread"; x_title(p) = "output [MiB]"; value_title(p) = "how many times as fast"
eval legend_of_series; dummy = note("Geometric means, left: ".Means[1].". Right: ".Means[2].".")
load figures."/points.gp"
