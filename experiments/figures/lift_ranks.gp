# question Does a simulation know which points are fast?
# caption A point of the space each, which nobody had to run for its cycles. On the line, time is proportional to them. Filled: the 20 that the
# caption simulation puts first. rho: Spearman's rank correlation; then the speed of the fastest of these 20, of the fastest of all
# draws replay.csv: ms cycles
# draws ranks.csv: spearman
load figures."/lift_common.gp"; table = ranks_csv; is_panel(dummy) = stringcolumn("ranking") eq "cycles"; n_panels = 0
stats table using (n_panels = n_panels + is_panel(0), 0) nooutput
array Name[n_panels]; array Text[n_panels]; array Per_cycle[n_panels]; p = 0; known(v, f) = v == v ? sprintf(f, v) : "not known"
stats table using (is_panel(0) ? (p = p + 1, Name[p] = stringcolumn("layer"), Text[p] = sprintf("%s   rho: %s, best of 20: %s", Name[p], known(number("spearman"), "%.2f"), known(number("few_percent"), "%.0f %%")), 0) : 0, 0) nooutput
table = replay_csv; n_columns = n_panels < 3 ? n_panels : 3; W = n_columns == 1 ? 700 : 1200; panel_h = 260; gap_y = 90; n_series = 2; n_passes = 2; x_log = 1; is_log = 1; labels_in_all = 1
series(dummy) = stringcolumn("layer") eq Name[p] && (g == 1 || column("rank") <= 20) ? g : 0; x(dummy) = number("cycles") / 1e6; y(dummy) = number("ms")
do for [p = 1:n_panels] {
    g = 1; logs = 0; n_both = 0
    stats table using (series(0) > 0 && x(0) > 0 && y(0) > 0 ? (logs = logs + log(y(0) / x(0)), n_both = n_both + 1, 0) : 0, 0) nooutput
    Per_cycle[p] = n_both ? exp(logs / n_both) : NaN
}
n_references = 1; reference(i, x) = Per_cycle[p] * x
point_of(s) = s == 1 ? 6 : 7; size_of(s) = s == 1 ? 0.6 : 0.8; series_colour(s) = s == 1 ? sky : vermilion
series_title(s) = s == 1 ? "all points" : "the 20 that the simulation puts first"
title_text = "Simulated cycles of the points beside their times"; panel_title(p) = Text[p]; x_title(p) = "simulated cycles, millions"
value_title(p) = (p - 1) % n_columns ? "" : "time [ms]"; eval legend_of_series; dummy = legend("time proportional to cycles", "black", line)
load figures."/points.gp"
