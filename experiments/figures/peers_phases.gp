# The paper's Figure 10: where the time of Base and SConv goes. 100 % is the time of Base's call. The shares come from runs in steps,
# which take steps_to_call times as long as the call: the bars are that high. What of Base's is beyond 100 % is what measuring in steps costs.
# question Where does the time go? (Figure 10)
# caption Four bars per model: Base, SConv, SConv with OpenBLAS's micro-kernel, tuned SConv. 100 % is the time of Base's
# caption call. Base's shares come from a run in steps, whose bar is as much higher or lower as that run took longer or
# caption shorter than the call
# draws phases.csv: ukr_percent packing_percent steps_to_call
load figures."/peers_common.gp"
n = 0; n_unscaled = 0
stats phases_csv using (n = max2(n, column("number")), n_unscaled = n_unscaled + !(number("steps_to_call") > 0), 0) nooutput

base = word(peer_names, 1)
bars = base." ".sconv_peers
n_bars = words(bars)
titles = title_of_peer(base)." (run in steps)"
do for [m in sconv_peers] { titles = titles."; ".title_of_peer(m) }
W = 260 + n * 150
if (W < 1000) { W = 1000 }
columns = W / 7.0
text = "Bars from left: ".titles.". 100 % is the time of Base's call; Base in \
steps takes as much longer or shorter as its bar differs from it.".(n_unscaled ? " Bars whose times are not known show shares of their own." : "")
eval wrap_text
foot = wrapped; foot_lines = n_lines
text = what
eval wrap_text
foot = foot."\n".wrapped; foot_lines = foot_lines + n_lines
top = 72; panel = 400; foot_line = 15.5
H = top + panel + 56 + foot_lines * foot_line
eval open_output
set label 98 "Where the time goes, in % of Base's time" at screen 0.5, screen 1 - title_line / (1.0 * H) center front font ",14"
set label 99 foot at screen 12.0 / W, screen (foot_lines - 0.3) * foot_line / (1.0 * H) left font ",9" tc rgb "#404040"
set lmargin at screen 70.0 / W
set rmargin at screen 1 - 20.0 / W
set tmargin at screen 1 - top / (1.0 * H)
set bmargin at screen 1 - (top + panel) / (1.0 * H)
set key at screen 0.5, screen 1 - 34.0 / H center top horizontal
set ylabel n_unscaled ? "time [% of Base's, or of its own]" : "time [% of Base's]"
set xrange [0.4:n + 0.6]
set yrange [0:*]
set boxwidth 0.76 / n_bars
set xtics scale 0
set arrow from graph 0, first 100 to graph 1, first 100 nohead lc rgb "black" front

parts = "im2col packing ukr other"
array Label[4] = ["im2col", "packing", "micro-kernels", "other"]
array Colour[4] = [vermilion, orange, green, grey]
# A column with a reason instead of a number makes all of an expression undefined that reads it as a number.
scale(dummy) = strstrt(stringcolumn("steps_to_call"), "not available") ? 1 : number("steps_to_call")
up_to(p) = scale(0) * (sum [i = 1:p] number(word(parts, i)."_percent"))
is_of(b) = stringcolumn("method") eq word(bars, b)
plot for [p = 4:1:-1] for [b = 1:n_bars] phases_csv using (column("number") + (b - 0.5 * (n_bars + 1)) * 0.84 / n_bars):(is_of(b) ? up_to(p) : NaN) with boxes lc rgb Colour[p] notitle, \
     for [p = 1:4] NaN with boxes lc rgb Colour[p] title Label[p], \
     phases_csv using (column("number")):(NaN):xticlabel(tic_text(stringcolumn("model"))) notitle
