# question What does more memory buy?
# caption The paper's Figure 6. On the line: no other point is as fast with as little memory. Filled: drawn near the best one so far.
# draws points.csv: ms
load figures."/lift_common.gp"; table = points_csv; shown = ""
stats table using (shown = shown eq "" || stringcolumn("layer") eq "conv1_2" ? stringcolumn("layer") : shown, 0) nooutput
n_series = 3; n_passes = 2; W = 900; panel_h = 330; x_log = 1; is_log = 1
series(dummy) = stringcolumn("layer") ne shown ? 0 : g == 1 ? (column("near") == 1) + 1 : column("front") == 1 ? 3 : 0
x(dummy) = column("memory_bytes") / 1e6; y(dummy) = number("ms")
point_of(s) = word("6 7 4", s) + 0; size_of(s) = s == 3 ? 1.6 : 0.9; line_of(s) = s == 3; series_colour(s) = word(sky." ".blue." ".vermilion, s)
series_title(s) = word("'drawn anywhere' 'drawn near the best one' 'the front'", s)
title_text = "Time over memory of the points of layer ".shown; x_title(p) = "memory of all buffers [MB]"; value_title(p) = "time [ms]"; eval legend_of_series
load figures."/points.gp"
