# Line loads that CSA's cost model predicts (SConv Eq. 8 to 14) against what the simulator counts: one point per layer and schedule. The worst
# predictions are numbered and named.
# question Does CSA's cost model (SConv Eq. 8 to 14) predict the lines that move?
# caption Points on the line are predicted exactly; above it too many are predicted. Upper row: without loads of the
# caption output, which the equations leave out; lower row: all loads. Zeros stand at the edge marked 0. The worst
# caption predictions are numbered and named
# draws layers.csv: predicted_l2_lines predicted_l3_lines predicted_dram_lines of algo: $member_algos
# draws layers.csv: simulated_l2_lines simulated_l3_lines simulated_dram_lines of algo: $member_algos
# slots layers.csv: layer_index layer $shape_columns
load figures."/common.gp"

# What serves the lines: the levels outwards of the first, and memory.
columns_of = "l2 l3 dram"
equations = "14 13 8+11"
symbols = "N_L2 N_L3 N_DRAM"
n_sources = n_levels
source_column(c) = word(columns_of, c == n_sources ? 3 : c)
source_name(c) = c == n_sources ? "memory" : level_name(c + 1)
source_law(c) = word(symbols, c == n_sources ? 3 : c).", Eq. ".word(equations, c == n_sources ? 3 : c)
kinds = "simulated_tile simulated"

panel = 290; gap_x = 85; top = head_height + 4; left = 92; list_height = 72
gap_y = 76 + list_height
W = n_sources == 3 ? 1290 : n_sources == 2 ? 950 : 620
columns = W / char_width
text = "Simulated: ".machine.", ".simulator.". Above: without loads of the output, which the equations leave out; below: all loads. ".\
    "Zero, which a logarithmic axis cannot show, stands at the edge marked 0. Numbered: the worst predictions, more than 1.25 times off, each layer once.".(n_layers > n_shown ? " ×n: so many layers of the same shape." : "")
eval wrap_text
bottom = 62 + list_height + n_lines * line_height
H = top + 2 * panel + gap_y + bottom
text_mode = "enhanced"
eval open_output

predicted(d) = column(sprintf("predicted_%s_lines", d))
title_text = sprintf("%s: cache lines loaded from each level, predicted by CSA against simulated (%s)", model, layer_text)
eval put_head
# By turns, and of two sizes, so that points at one place are seen, both.
array Point[2] = [circle, open_square]
size_of(a) = index_in(member_algos, a) % 2 ? 1 : 1.5
point_of(a) = Point[(index_in(member_algos, a) - 1) % 2 + 1]
do for [a in member_algos] { legend_text = title_of(a); legend_point = point_of(a); legend_colour = colour_of(a); eval put_legend }
legend_text = "chosen by CSA"; legend_point = dot; legend_colour = "black"; eval put_legend
if (n_sources > 1) { legend_text = "— predicted = simulated"; legend_point = only_text; legend_colour = "#404040"; eval put_legend }

# A prediction is off by a factor; where one of the two is zero, the more lines the worse, and worse than any factor.
n_wanted = 3
extremes_of = layers
is_drawn(dummy) = index_in(member_algos, stringcolumn("algo")) > 0
off_by(p, s) = p > 0 && s > 0 ? abs(log(p / s)) : p + s > 0 ? 100 + log(p + s) : 0
score(dummy) = is_drawn(0) && predicted(d) >= 0 && column(sim) >= 0 && off_by(predicted(d), column(sim)) > log(1.25) ? \
    off_by(predicted(d), column(sim)) : NaN
name_of(dummy) = slot_name(0)
x_of_row(dummy) = column(sim)
y_of_row(dummy) = predicted(d)
factor_text(p, s) = p > 0 && s > 0 ? sprintf("%.3g times", p / s) : p > 0 ? sprintf("%.0f lines, 0 simulated", p) : sprintf("0 lines, %.0f simulated", s)

set multiplot
set key off
point_size = n_shown > 60 ? 0.7 : 1
set logscale xy
set grid xtics ytics lt 1 lc rgb "#e0e0e0" lw 1
width = (W - left - 20 - (n_sources - 1) * gap_x) / (1.0 * n_sources)
do for [row = 1:2] {
    do for [c = 1:n_sources] {
        d = source_column(c)
        sim = sprintf("%s_%s_lines", word(kinds, row), d)
        low = NaN; high = NaN; n_points = 0
        lowest(v) = v > 0 ? (low != low || v < low ? v : low) : low
        stats layers using (is_drawn(0) ? (low = lowest(predicted(d)), low = lowest(column(sim)), \
            high = max2(high, max2(predicted(d), column(sim))), n_points = n_points + (predicted(d) >= 0 && column(sim) >= 0)) : 0, 0) nooutput
        if (low != low) { low = 1; high = 10 }
        zero = 10.0 ** (floor(log10(low)) - 1)
        far = 10.0 ** ceil(log10(high * 1.05))
        shown(v) = v > 0 ? v : v == 0 ? zero : NaN
        x0 = left + (c - 1) * (width + gap_x); y0 = top + (row - 1) * (panel + gap_y)
        set lmargin at screen x0 / (1.0 * W)
        set rmargin at screen (x0 + width) / (1.0 * W)
        set tmargin at screen 1 - y0 / (1.0 * H)
        set bmargin at screen 1 - (y0 + panel) / (1.0 * H)
        set xrange [zero / 1.6:far]
        set yrange [zero / 1.6:far]
        set format xy "10^{%L}"
        set xtics zero * 10, (far / zero > 1e7 ? 100 : 10), far enhanced
        set ytics zero * 10, (far / zero > 1e7 ? 100 : 10), far enhanced
        set xtics add ("0" zero)
        set ytics add ("0" zero)
        set title sprintf("served by %s (%s)", source_name(c), source_law(c)) noenhanced font ",11" offset 0, -0.6
        set xlabel (row == 1 ? "simulated, without output [lines]" : "simulated, all [lines]") offset 0, 0.3
        set ylabel (c == 1 ? "predicted [lines]" : "") offset 0.5, 0
        unset label 2
        if (row * c == 2) { eval drop_head }
        if (row == 2 && c == n_sources) { set label 1 wrapped at screen 12.0 / W, screen (n_lines * line_height) / (1.0 * H) left front noenhanced }
        if (n_points == 0) { set label 2 "no values" at graph 0.5, graph 0.5 center tc rgb "#606060" }
        eval find_extremes
        do for [k = 1:n_wanted] {
            unset label 200 + k; unset label 300 + k
            if (k <= n_extremes) {
                set label 200 + k sprintf("%d", k) at first shown(Extreme_x[k]), first shown(Extreme_y[k]) center \
                    offset (k == 1 ? 0 : k == 2 ? 1.5 : -1.5), (k == 1 ? 0.9 : 0.3) front noenhanced font ",11"
                set label 300 + k sprintf("%d  %s: %s", k, Extreme_name[k], factor_text(Extreme_y[k], Extreme_x[k])) \
                    at screen (x0 - 30) / (1.0 * W), screen 1 - (y0 + panel + 58 + (k - 1) * 18) / (1.0 * H) left front noenhanced font ",10"
            }
        }
        plot x with lines lc rgb "#404040" lw 1, \
             for [a in member_algos] layers using (shown(column(sim))):(only(a, shown(predicted(d)))) \
                 with points pt point_of(a) ps point_size * size_of(a) lw 1.3 lc rgb colour_of(a), \
             layers using (shown(column(sim))):(is_chosen(shown(predicted(d)))) with points pt 7 ps 0.45 * point_size lc rgb "black"
    }
}
unset multiplot
