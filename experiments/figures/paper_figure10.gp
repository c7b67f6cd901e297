# question Where does the time go?
# caption Two bars per model, a row per source; estimates do not tell the micro-kernel from the rest
# draws models.csv: base_packing_percent
# reads numbers.csv
load figures."/paper_common.gp"; table = models_csv
is_shown(dummy) = stringcolumn("algo") eq paper_algo && !is_parts(stringcolumn("view")) && number("base_packing_percent") == number("base_packing_percent")
eval find_views; eval find_models
n_panels = n_views; n_bars = 2; n_parts = 3; n_passes = 2; panel_h = 150; gap_y = 44; left = 70; limits = "0:101" # shares that were rounded
mark_points = "diamond"; mark_sizes = "1.5"
prefix(dummy) = g == 1 ? "base_" : ""; kernel(dummy) = number(prefix(0)."kernel_percent"); packing(dummy) = number(prefix(0)."packing_percent")
# Where the micro-kernel is not known, the third part is the micro-kernel and others.
array Has_kernel[n_panels + 1]; do for [p = 1:n_panels] { Has_kernel[p] = 0; stats table using (this_view(0) == p && number("base_kernel_percent") >= 0 ? (Has_kernel[p] = 1, 0) : 0, 0) nooutput }
slot(dummy) = this_view(0) == p && packing(0) == packing(0) ? column("model_index") : 0; bar(dummy) = g
part(k) = k == 1 ? packing(0) : k == 2 ? (Has_kernel[p] ? kernel(0) : 0) : 100 - packing(0) - (Has_kernel[p] ? kernel(0) : 0)
bar_colour(b, k) = k == 1 ? "#d55e00" : k == 2 ? "#56b4e9" : Has_kernel[p] ? "#bbbbbb" : "#a8c8dc"; array Paper[2 * n_panels + 1]
do for [p = 1:n_panels] { do for [g = 1:2] { eval published(word("base_packing_share_percent_avg sconv_packing_share_percent_avg", g), Arch[p]); Paper[2 * p + g - 2] = found } }
mark(m) = column("model_index") == n_slots ? Paper[2 * p + g - 2] : NaN # beside the mean, the last slot
title_text = "Figure 10: where the time of the convolutions goes"; subtitle_text = "left bar: Base; right bar: SConv (OpenBLAS's micro-kernel)"
panel_title(p) = Heading[p]; value_title(p) = "share of the time [%]"; n_known = int(sum [p = 1:n_panels] Has_kernel[p])
dummy = legend("im2col and packing", "#d55e00", square)
if (n_known) { dummy = legend("micro-kernel", "#56b4e9", square) + legend("others", "#bbbbbb", square) }
dummy = legend(n_known < n_panels ? "micro-kernel and others" : "", "#a8c8dc", square); dummy = legend("paper: packing, on average", "black", diamond)
load figures."/bars.gp"
