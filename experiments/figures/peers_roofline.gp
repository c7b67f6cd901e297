# Roofline: achieved speed against flop per byte of compulsory traffic, under the sampled FMA peak and read bandwidth. The layers furthest below the
# roof are numbered and named, for Base and for the fastest SConv that was timed.
# question How far from what the core can do?
# caption A point per layer and method; the roof is the FMA peak and the read bandwidth sampled in the same run. The
# caption layers furthest below it are numbered and named; why points may lie above it stands below the figure
# draws layers.csv: measured_gflops of cache: network sweep
load figures."/peers_common.gp"
peak = peak_gflops + 0; bandwidth = read_gbytes + 0
# Points of all methods would hide one another: these are Base and the ends of the others' range. The last is the fastest SConv.
methods = "base onednn_nchw onednn_blocked sconv sconv_tuned"
label_of(m) = title_of_peer(word(methods, m))
array Point[5] = [7, 4, 6, 8, 2]
is_of(m) = stringcolumn("method") eq word(methods, m) && is_network(0)
roof(x) = (peak > 0) ? (bandwidth * x < peak ? bandwidth * x : peak) : NaN
n = 0; lowest = NaN; highest = NaN; left_most = NaN; right_most = NaN
array Is_there[5]
do for [m = 1:5] {
    Is_there[m] = 0
    stats layers_csv using (is_of(m) && number("measured_gflops") > 0 ? (Is_there[m] = Is_there[m] + 1, lowest = min2(lowest, number("measured_gflops")), \
        highest = max2(highest, number("measured_gflops")), left_most = min2(left_most, column("flop_per_byte")), \
        right_most = max2(right_most, column("flop_per_byte")), 0) : 0, 0) nooutput
    n = n > Is_there[m] ? n : Is_there[m]
}

W = 1100
columns = W / 7.0
extremes_of = layers_csv
n_wanted = 4
name_of(dummy) = stringcolumn("model")." ".stringcolumn("layer")
x_of_row(dummy) = column("flop_per_byte")
y_of_row(dummy) = number("measured_gflops")
last = Is_there[5] ? 5 : 4
n_marks = 0; foot = ""; foot_lines = 0
n_above = 0; furthest = 1
is_above(m) = is_of(m) && number("measured_gflops") > roof(column("flop_per_byte"))
do for [m = 1:5] {
    stats layers_csv using (is_above(m) ? (n_above = n_above + 1, \
        furthest = max2(furthest, number("measured_gflops") / roof(column("flop_per_byte"))), 0) : 0, 0) nooutput
}
if (n_above) {
    text = sprintf("%d points lie above the roof, by %.0f %% at most, for three reasons: methods may skip the taps on padding, which the speed counts; \
the core's clock at the time of a layer may be higher than when the peak was sampled; and what the layer before left in the caches is read faster than \
from memory.", n_above, 100 * (furthest - 1))
    eval wrap_text; foot = wrapped."\n"; foot_lines = n_lines
}
array Mark_x[8]; array Mark_y[8]; array Mark_side[8]
do for [which = 1:2] {
    m = which == 1 ? 1 : last
    score(dummy) = is_of(m) && number("measured_gflops") > 0 && number("measured_gflops") < roof(column("flop_per_byte")) ? log(roof(column("flop_per_byte")) / number("measured_gflops")) : NaN
    eval find_extremes
    text = label_of(m).", furthest below the roof:"
    do for [k = 1:n_extremes] {
        n_marks = n_marks + 1; Mark_x[n_marks] = Extreme_x[k]; Mark_y[n_marks] = Extreme_y[k]; Mark_side[n_marks] = which == 1 ? -1.1 : 1.1
        text = text.sprintf(" %d %s (%.0f %% of it)%s", n_marks, Extreme_name[k], 100 * exp(-Extreme_score[k]), k < n_extremes ? "," : "")
    }
    if (n_extremes) { eval wrap_text; foot = foot.wrapped."\n"; foot_lines = foot_lines + n_lines }
}
text = what
eval wrap_text
foot = foot.wrapped; foot_lines = foot_lines + n_lines
top = 96; panel = 460; foot_line = 15.5
H = top + panel + 56 + foot_lines * foot_line
eval open_output
set label 98 sprintf("Roofline: %d convolutions in a network's caches; peak %.0f GFLOP/s, memory %.1f GB/s, both sampled in the same run", n, peak, bandwidth) \
    at screen 0.5, screen 1 - title_line / (1.0 * H) center front font ",13"
set label 99 foot at screen 12.0 / W, screen (foot_lines - 0.3) * foot_line / (1.0 * H) left font ",9" tc rgb "#404040"
set lmargin at screen 70.0 / W
set rmargin at screen 1 - 20.0 / W
set tmargin at screen 1 - top / (1.0 * H)
set bmargin at screen 1 - (top + panel) / (1.0 * H)
set key at screen 0.5, screen 1 - 34.0 / H center top horizontal
set xlabel "flop per byte of input, filter and output, each moved once [flop/byte]"
set ylabel "speed, taps on padding counted [GFLOP/s]"
set logscale xy
set grid xtics ytics lt 1 lc rgb "#e0e0e0" lw 1
set ytics (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 2000, 5000)
set xtics (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)
set xrange [left_most / 1.3:right_most * 1.5]
set yrange [min2(lowest / 1.4, roof(left_most / 1.3)):max2(highest, peak) * 1.4]
do for [k = 1:n_marks] {
    set label 200 + k sprintf("%d", k) at first Mark_x[k], first Mark_y[k] center offset Mark_side[k], (k % 2 ? -0.4 : 0.4) front font ",10"
}
plot for [m = 1:5] layers_csv using (column("flop_per_byte")):(is_of(m) ? number("measured_gflops") : NaN) \
         with points pt Point[m] ps 0.7 lc rgb colour_of_peer(word(methods, m)) title (Is_there[m] ? label_of(m) : ""), \
     roof(x) with lines lw 2 lc rgb "black" title "roof"
