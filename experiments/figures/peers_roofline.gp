# question How far from what the core can do?
# caption A point per layer and method; the roof is the FMA peak and the read bandwidth sampled in the same run. The layers furthest below it are
# caption numbered and named; why points may lie above it stands below the figure
# draws layers.csv: measured_gflops of cache: network sweep
load figures."/peers_common.gp"; table = layers_csv; peak = peak_gflops + 0; bandwidth = read_gbytes + 0
# Points of all methods would hide one another: Base and the ends of the others' range are drawn. The last method is the fastest SConv.
methods = "base onednn_nchw onednn_blocked sconv sconv_tuned"; n_series = words(methods); array Point[5] = [7, 4, 6, 8, 2]
series(dummy) = is_network(0) && number("measured_gflops") > 0 ? index_in(methods, stringcolumn("method")) : 0; x(dummy) = column("flop_per_byte")
y(dummy) = number("measured_gflops"); roof(x) = peak > 0 ? min2(bandwidth * x, peak) : NaN
point_of(s) = Point[s]; size_of(s) = 0.7; series_colour(s) = colour_of_peer(word(methods, s))
n_references = 1; reference(i, x) = roof(x); W = 1100; panel_h = 460; x_log = 1; is_log = 1; y_has = sprintf("%g", peak)
array Layers[5]; do for [s = 1:5] { Layers[s] = 0 }; n = 0; n_above = 0; furthest = 1
stats table using (series(0) > 0 ? (Layers[series(0)] = Layers[series(0)] + 1, n = max2(n, Layers[series(0)]), y(0) > roof(x(0)) ? \
    (n_above = n_above + 1, furthest = max2(furthest, y(0) / roof(x(0))), 0) : 0) : 0, 0) nooutput
do for [s = 1:5] { if (Layers[s]) { dummy = legend(title_of_peer(word(methods, s)), series_colour(s), Point[s]) } }
dummy = legend("roof", "black", line)
dummy = note(n_above ? sprintf("%d points lie above the roof, by %.0f %% at most, for three reasons: methods may skip the taps on padding, which the speed counts; \
the core's clock at the time of a layer may be higher than when the peak was sampled; and data that the layer before left in the caches are read faster than \
from memory.", n_above, 100 * (furthest - 1)) : "")
extremes_of = table; n_wanted = 4; n_marks_put = 0; x_of_row(dummy) = x(0); y_of_row(dummy) = y(0)
score(dummy) = series(0) == m && y(0) < roof(x(0)) ? log(roof(x(0)) / y(0)) : NaN
do for [m = 1:5] { if (m == 1 || m == (Layers[5] ? 5 : 4)) {
    eval find_extremes; text = title_of_peer(word(methods, m)).", furthest below the roof:"
    do for [k = 1:n_extremes] {
        n_marks_put = n_marks_put + 1
        set label 20 + n_marks_put sprintf("%d", n_marks_put) at first Extreme_x[k], first Extreme_y[k] center offset m == 1 ? -1.1 : 1.1, (k % 2 ? -0.4 : 0.4) front font ",10"
        text = text.sprintf(" %d %s (%.0f %% of it)%s", n_marks_put, Extreme_name[k], 100 * exp(-Extreme_score[k]), k < n_extremes ? "," : "")
    }
    if (n_extremes) { dummy = note(text) }
} }
title_text = sprintf("Roofline: %d convolutions in a network's caches; peak %.0f GFLOP/s, memory %.1f GB/s", n, peak, bandwidth)
x_title(p) = "flop per byte of input, filter and output, each moved once [flop/byte]"; value_title(p) = "speed, taps on padding counted [GFLOP/s]"
load figures."/points.gp"
