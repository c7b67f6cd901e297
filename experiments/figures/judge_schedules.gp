# question Which schedule is better, by how much, and does the choice depend on the yardstick?
# caption Each schedule over input stationary, sorted: where a curve is above 1, input stationary is better; dashed: what CSA predicts
# draws ratios.csv: predicted_cycles $yardstick_names
load figures."/style.gp"
table = ratios_csv; n_variants = words(variant_names); yardsticks = "predicted_cycles ".yardstick_names; n_yardsticks = words(yardsticks)
n = 0; stats table using (n = n + (stringcolumn("schedule") eq word(variant_names, 2)), 0) nooutput
# A pass, and a series, per schedule and yardstick. Two borders are the same where a machine has fewer levels than names.
n_series = (n_variants - 1) * n_yardsticks; n_passes = n_series; variant(s) = (s - 1) / n_yardsticks + 2; yardstick(s) = (s - 1) % n_yardsticks
label_of(y) = y == 0 ? "predicted cycles" : y > 1 && word(yardstick_labels, y) eq word(yardstick_labels, y - 1) ? "" : word(yardstick_labels, y)
series(dummy) = stringcolumn("schedule") eq word(variant_names, variant(g)) ? g : 0; x(dummy) = column("rank_percent")
y(dummy) = number(word(yardsticks, yardstick(g) + 1)); point_of(s) = 0; line_of(s) = variant(s) > 2 ? variant(s) : yardstick(s) ? 1 : 2
series_colour(s) = yardstick(s) ? word(yardstick_colours, yardstick(s)) : "black"
W = 1200; panel_h = 420; is_log = 1; limits = "0:100"; y_has = "1"; n_rules = 1; rule(i) = 1
names = ""; titles = ""; do for [v = 2:n_variants] { names = names.(v > 2 ? ", " : "").word(variant_labels, v); titles = titles.(v > 2 ? ", " : "").word(variant_titles, v) }
title_text = sprintf("%s against %s, %d convolutions on %s", names, word(variant_labels, 1), n, machine)
x_title(p) = "share of the layers, each yardstick sorted on its own [%]"
value_title(p) = sprintf("%s / %s (above 1: %s is better)", titles, word(variant_titles, 1), word(variant_titles, 1))
do for [s = 1:n_series] { text = label_of(yardstick(s)); if (strlen(text)) { dummy = legend((variant(s) > 2 ? word(variant_titles, variant(s)).": " : "").text, series_colour(s), -line_of(s)) } }
load figures."/points.gp"
