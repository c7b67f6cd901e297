# question What bounds the workloads: the multipliers or the memory?
# caption Left of the line, loading 64 bytes a cycle bounds a workload; right, the multipliers do. 100 % is the roof, and a workload's intensity moves
# caption each tensor once. Cycles are the model's.
# draws vyasa.csv: printed_rate tuned_rate intensity
load figures."/style.gp"
table = vyasa_csv; n_panels = 2; n_columns = 2; n_series = 2; n_passes = 2; W = 1200; panel_h = 330; x_log = 1; y_has = "0 100"; n_rules = 1; rule(i) = 100
enter_panel = 'bits = p == 1 ? 16 : 32; peak = p == 1 ? 32 : 8'; series(dummy) = column("bits") == bits ? g : 0; x(dummy) = column("intensity")
y(dummy) = 100 * column(g == 1 ? "printed_rate" : "tuned_rate") / min2(64 * column("intensity"), peak)
# The lowest of both schedules are named.
array Lowest[2] = [NaN, NaN]
do for [p = 1:2] { eval enter_panel; do for [g = 1:2] { stats table using (series(0) > 0 ? (Lowest[p] = min2(Lowest[p], y(0)), 0) : 0, 0) nooutput } }
label(dummy) = y(0) < 80 && y(0) < Lowest[p] + 15 ? stringcolumn("workload") : no_label
point_of(s) = s == 1 ? 6 : 7; size_of(s) = s == 1 ? 1.2 : 0.8; series_colour(s) = s == 1 ? sky : blue
series_title(s) = s == 1 ? "the paper's schedule" : "tuned"
before_plot = 'set arrow 2 from peak / 64.0, graph 0 to peak / 64.0, graph 1 nohead dt 2 lc rgb dark'; x_has = "0.1 1"
title_text = "Share of the roof that each workload reaches"
panel_title(p) = p == 1 ? "16 bits, peak 32 MACs per cycle" : "32 bits, peak 8 MACs per cycle"; x_title(p) = "MACs per byte"
value_title(p) = "MACs per model cycle [% of the roof]"; eval legend_of_series; dummy = legend("left: memory bounds", dark, dashed)
load figures."/points.gp"
