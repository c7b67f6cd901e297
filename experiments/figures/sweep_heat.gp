# Cost of every combination of the first two keys that vary, over the best one of all algorithms: a panel per algorithm. Other keys have their best value.
# Where tiles vary, a frame is around the combinations that CSA's own tiles are among.
# question Which combination of two keys costs least?
# caption A panel per algorithm, all in % of the best configuration of all algorithms. Where more than two keys vary,
# caption the others have their best value; of several models, the sum. Frames: CSA's own tiles are among these
# draws configs.csv: cost_percent of algo: $shown_algos
load figures."/sweep_common.gp"
if (y_key eq "") { print "only one key varies: a curve shows it (sweep_pareto)"; exit status 77 }
n_x = words(x_values); n_y = words(y_values); n_algos = words(shown_algos)
if (n_x > 40 || n_y > 40) { print "more than 40 values of a key do not fit a heat map"; exit status 77 }
array Best[n_x * n_y]; array Framed[n_x * n_y]
W = max2(1000, n_algos * (170 + (n_x < 4 ? 4 : n_x) * 78))
columns = int(W / char_width); text = what
eval wrap_text
foot = n_lines * line_height
H = head_height + 160 + (n_y < 3 ? 3 : n_y) * 44 + foot
eval open_output
eval find_models
title_text = sprintf("%s: %s by %s and %s, in %% of the best of all panels", model_text, cost_label, x_key, y_key)
subtitle_text = "simulated machine: ".machine."; these keys are varied; every panel has the same 100 % and the same colours"
eval put_head
set label 97 wrapped at screen 0.01, screen (foot - 8) / (1.0 * H) left noenhanced tc rgb "#606060"
set multiplot
set palette defined (0 "#f7fbff", 0.25 "#9ecae1", 0.5 "#4292c6", 1 "#08306b")
set xrange [0.5:n_x + 0.5]; set yrange [0.5:n_y + 0.5]
unset grid; unset colorbox; unset key
set xtics font ",10"; set ytics font ",10"; set xtics ("" 0); do for [i = 1:n_x] { set xtics add (tic_text(word(x_values, i)) i) }
set ytics ("" 0); do for [i = 1:n_y] { set ytics add (tic_text(word(y_values, i)) i) }
set xlabel x_key; set ylabel y_key
cell_of(dummy) = index_in(x_values, stringcolumn(x_key)) + n_x * (index_in(y_values, stringcolumn(y_key)) - 1)
note(c, i) = (Best[c] = min2(Total[i], Best[c]), Framed[c] = Framed[c] || (Own[i] && Total[i] == Total[i]), \
    n_own = n_own + Own[i], n_rows = n_rows + 1, 0)
x_of(c) = (int(c + 0.5) - 1) % n_x + 1
y_of(c) = int((int(c + 0.5) - 1) / n_x) + 1
value_of(c) = Best[int(c + 0.5)]
is_dark(c) = value_of(c) > 100 + 0.6 * (most - 100)
frame_of(c) = n_own < n_rows && Framed[int(c + 0.5)] ? x_of(c) : NaN
text_of(c, dark) = value_of(c) == value_of(c) && is_dark(c) == dark ? sprintf("%.4g", value_of(c)) : ""
# A configuration costs what all models together do, and has CSA's own tiles if it has them for each model.
last_config = 1
stats file using (last_config = max2(last_config, int(column("config"))), 0) nooutput
array Total[last_config]; array Own[last_config]
add_cost(i) = (Total[i] = Total[i] + number("cost"), Own[i] = Own[i] && number("csa") == 1, 0)
is_of(a) = stringcolumn("algo") eq a && index_in(x_values, stringcolumn(x_key)) && index_in(y_values, stringcolumn(y_key))
find_cells = 'n_own = 0; n_rows = 0; do for [c = 1:n_x * n_y] { Best[c] = NaN; Framed[c] = 0 }; do for [i = 1:last_config] { Total[i] = 0; Own[i] = 1 }; \
    stats file using (is_of(algo) ? add_cost(int(column("config"))) : 0, 0) nooutput; \
    stats file using (is_of(algo) ? note(cell_of(0), int(column("config"))) : 0, 0) nooutput'
least = NaN; most = NaN; has_frames = 0
do for [algo in shown_algos] {
    eval find_cells
    has_frames = has_frames || (n_own && n_own < n_rows)
    do for [c = 1:n_x * n_y] { least = min2(least, Best[c]); most = max2(most, Best[c]) }
}
most = max2(120, 100 * most / least) # a difference of a few percent is no contrast
set cbrange [100:most]
legend_point = open_square; legend_text = "framed: CSA's own tiles"; legend_colour = vermilion; if (has_frames) { eval put_legend }
do for [a = 1:n_algos] {
    algo = word(shown_algos, a)
    eval find_cells
    do for [c = 1:n_x * n_y] { Best[c] = 100 * Best[c] / least }
    set lmargin at screen (a - 1 + 0.16) / n_algos; set rmargin at screen (a - 0.03) / n_algos
    set tmargin at screen 1 - (head_height + 22) / (1.0 * H); set bmargin at screen (70 + foot) / (1.0 * H)
    set title title_of(algo) noenhanced
    plot sample [c = 0:n_x * n_y:1] "+" using (x_of(c)):(y_of(c)):(x_of(c) - 0.5):(x_of(c) + 0.5):(y_of(c) - 0.5):(y_of(c) + 0.5):(value_of(c)) \
             with boxxyerror fillcolor palette fillstyle solid 1.0 noborder, \
         [c = 0:n_x * n_y:1] "+" using (x_of(c)):(y_of(c)):(text_of(c, 0)) with labels tc rgb "black", \
         [c = 0:n_x * n_y:1] "+" using (x_of(c)):(y_of(c)):(text_of(c, 1)) with labels tc rgb "white", \
         [c = 0:n_x * n_y:1] "+" using (frame_of(c)):(y_of(c)):(x_of(c) - 0.46):(x_of(c) + 0.46):(y_of(c) - 0.44):(y_of(c) + 0.44) \
             with boxxyerror lc rgb vermilion lw 2.5 fillstyle empty border
    eval drop_head; unset label 97
}
unset multiplot
