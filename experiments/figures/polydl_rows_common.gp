# What polydl_haystack.gp and polydl_rankings.gp share: a row of points, with a text beside the row, for each of n_rows things: is_row(r), row_title(r), Row_text.
# Points of a row are moved up and down by turns, so that equal points are seen as several.
n_series = n_rows; n_passes = n_rows; panel_h = 30 + 34 * n_rows
series(dummy) = is_row(g) ? g : 0; y(dummy) = n_rows + 1 - g + 0.09 * (int(column(0)) % 5 - 2)
series_colour(s) = word(blue." ".vermilion." ".orange." ".sky." ".green." #808080 #000000 #cc79a7", (s - 1) % 8 + 1); size_of(s) = 0.7
longest = 0; do for [r = 1:n_rows] { longest = max2(longest, strlen(row_title(r))); longest = max2(longest, strlen(Row_text[r])) }; left = 24 + 7.4 * longest
before_plot = before_plot.'; set grid noytics; set yrange [0.5:n_rows + 0.5]; set ytics ("" 0) scale 0; do for [r = 1:n_rows] { set ytics add (tic_text(row_title(r)."\n".Row_text[r]) n_rows + 1 - r) }'
load figures."/points.gp"
