# question How do speed-ups over im2col + GEMM spread over shapes that nobody tuned on?
# caption A curve is an algorithm, its shapes sorted: where the curve crosses 1, the shapes to the right are slower than Base
# draws jury.csv: speedup simulated_speedup
load figures."/style.gp"; table = jury_csv; column_of = is_timed + 0 ? "speedup" : "simulated_speedup"
shown = ""; n_rows = 0
stats table using (stringcolumn("algo") ne "base" && number(column_of) > 0 ? (shown = with_word(shown, stringcolumn("algo")), n_rows = n_rows + 1, 0) : 0, 0) nooutput
n_series = max2(words(shown), 1); won(a) = sprintf("%.1f", 100.0 * Won[index_in(shown, a)] / max2(Rows[index_in(shown, a)], 1))
array Won[n_series]; array Rows[n_series]; do for [s = 1:n_series] { Won[s] = 0; Rows[s] = 0 }
count(a, v) = (Rows[index_in(shown, a)] = Rows[index_in(shown, a)] + 1, Won[index_in(shown, a)] = Won[index_in(shown, a)] + (v > 1), 0)
stats table using (index_in(shown, stringcolumn("algo")) && number(column_of) > 0 ? count(stringcolumn("algo"), number(column_of)) : 0, 0) nooutput
is_sorted = 1; n_passes = n_series
series(dummy) = stringcolumn("algo") eq word(shown, g) && number(column_of) > 0 ? g : 0; y(dummy) = number(column_of)
point_of(s) = 0; line_of(s) = 1; width_of(s) = 3; series_colour(s) = colour_of(word(shown, s))
W = 1000; panel_h = 400; is_log = 1; limits = "0:100"; y_has = "1"; n_rules = 1; rule(i) = 1
subtitle_text = ""; title_text = (is_timed + 0 ? "Speed-up over Base" : "SIMULATED speed-up over Base").", shapes that nobody tuned on"
x_title(p) = "share of the shapes, each curve sorted on its own [%]"; value_title(p) = (is_timed + 0 ? "time" : "cycles")." of Base / of the algorithm"
do for [s = 1:n_series] { dummy = legend(title_of(word(shown, s)).sprintf(": faster in %s %%", won(word(shown, s))), colour_of(word(shown, s)), -1) }
# ConvBench's paper (arXiv:2407.10730): SConv is faster in 93.6 % of 9,243 shapes.
before_plot = 'set label 21 "" at 93.6, 1 point pt diamond ps 2 lc rgb colour_paper front'
dummy = legend("ConvBench's paper: 93.6 % of 9,243 shapes", colour_paper, diamond)
load figures."/points.gp"
