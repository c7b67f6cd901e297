# What study_rates.gp and study_micro_kernels.gp share: the share of packing, and the speed-up, over the speed of the micro-kernel, for two groups of rows.
n_panels = 2; n_columns = 2; n_series = 2 * words(groups); n_passes = n_series; W = 1200; panel_h = 330; x_log = 1; y_has = "0 1"; gap_x = 80
series(dummy) = stringcolumn(column_of_group) eq word(groups, (g + 1) / 2) && (p == 1 || g % 2) ? g : 0; x(dummy) = column("macs_per_cycle")
y(dummy) = number(p == 2 ? "speedup" : g % 2 ? "base_packing_percent" : "sconv_packing_percent")
point_of(s) = s % 2 ? 7 : 6; line_of(s) = s % 2 ? 1 : 2; series_colour(s) = group_colour((s + 1) / 2); n_rules = 1; rule(i) = p == 2 ? 1 : NaN
panel_title(p) = p == 1 ? "im2col and packing" : "SConv's gain"; x_title(p) = "multiply-adds of the micro-kernel per cycle"; labels_in_all = 1
value_title(p) = p == 1 ? "share of the time [%]" : "time of Base / time of SConv"
do for [s = 1:n_series] { dummy = legend((s % 2 ? "Base: " : "SConv: ").group_title((s + 1) / 2), series_colour(s), -line_of(s)) }
load figures."/points.gp"
