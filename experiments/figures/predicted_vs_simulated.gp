# Line loads that CSA's cost model predicts (SConv Eq. 8 to 14) against what the simulator counts: one point per layer and schedule.
load figures."/common.gp"

n_sconv = 0
stats layers using (stringcolumn("algo")[1:5] eq "sconv" ? (n_sconv = n_sconv + 1) : 0, 0) nooutput
if (n_sconv == 0) {
    print "no predictions to draw: SConv was not selected"
    exit status 77
}

levels = "l2 l3 dram"
level_names = "L2 L3 DRAM"
equations = "14 13 8+11"
kinds = "simulated_tile simulated"

W = 1150; panel = 290; gap_x = 85; gap_y = 92; top = head_height + 4; left = 92
columns = W / char_width
text = "Simulated: ".machine.", ".simulator.". Above: without loads of the output, which the equations leave out; below: all loads. ".\
    "Zero, which a logarithmic axis cannot show, stands at the edge marked 0."
eval wrap_text
bottom = 70 + n_lines * line_height
H = top + 2 * panel + gap_y + bottom
text_mode = "enhanced"
eval open_output

predicted(d) = column(sprintf("predicted_%s_lines", d))
title_text = sprintf("%s: cache lines loaded from each level, predicted by CSA against simulated (%s)", model, layer_text)
eval put_head
legend_text = "SConv IS"; legend_point = circle; legend_colour = colour_is; eval put_legend
legend_text = "SConv WS"; legend_point = open_square; legend_colour = colour_ws; eval put_legend
legend_text = "chosen by CSA"; legend_point = dot; legend_colour = "black"; eval put_legend
legend_text = "— predicted = simulated"; legend_point = only_text; legend_colour = "#404040"; eval put_legend
set multiplot
set key off
point_size = n_shown > 60 ? 0.7 : 1
set logscale xy
set grid xtics ytics lt 1 lc rgb "#e0e0e0" lw 1
width = (W - left - 20 - 2 * gap_x) / 3.0
do for [row = 1:2] {
    do for [c = 1:3] {
        d = word(levels, c)
        sim = sprintf("%s_%s_lines", word(kinds, row), d)
        low = NaN; high = NaN; n_points = 0
        lowest(v) = v > 0 ? (low != low || v < low ? v : low) : low
        stats layers using (algo_is("base") ? 0 : (low = lowest(predicted(d)), low = lowest(column(sim)), \
            high = max2(high, max2(predicted(d), column(sim))), n_points = n_points + (predicted(d) >= 0 && column(sim) >= 0)), 0) nooutput
        if (low != low) { low = 1; high = 10 }
        zero = 10.0 ** (floor(log10(low)) - 1)
        far = 10.0 ** ceil(log10(high * 1.05))
        shown(v) = v > 0 ? v : v == 0 ? zero : NaN
        x0 = left + (c - 1) * (width + gap_x); y0 = top + (row - 1) * (panel + gap_y)
        set lmargin at screen x0 / W
        set rmargin at screen (x0 + width) / W
        set tmargin at screen 1 - y0 / (1.0 * H)
        set bmargin at screen 1 - (y0 + panel) / (1.0 * H)
        set xrange [zero / 1.6:far]
        set yrange [zero / 1.6:far]
        set format xy "10^{%L}"
        set xtics zero * 10, (far / zero > 1e7 ? 100 : 10), far enhanced
        set ytics zero * 10, (far / zero > 1e7 ? 100 : 10), far enhanced
        set xtics add ("0" zero)
        set ytics add ("0" zero)
        set title sprintf("N_{%s} (Eq. %s)%s", word(level_names, c), word(equations, c), row == 2 ? ", against all lines" : ", without output") enhanced font ",12" offset 0, -0.6
        set xlabel "simulated [lines]" offset 0, 0.3
        set ylabel (c == 1 ? "predicted [lines]" : "") offset 0.5, 0
        unset label 2
        if (row + c == 3) { eval drop_head }
        if (row == 2 && c == 3) { set label 1 wrapped at screen 12.0 / W, screen (n_lines * line_height) / (1.0 * H) left front noenhanced }
        if (n_points == 0) { set label 2 "no values" at graph 0.5, graph 0.5 center tc rgb "#606060" }
        plot x with lines lc rgb "#404040" lw 1, \
             layers using (shown(column(sim))):(only("sconv_is", shown(predicted(d)))) with points pt 6 ps point_size lw 1.3 lc rgb colour_is, \
             layers using (shown(column(sim))):(only("sconv_ws", shown(predicted(d)))) with points pt 4 ps point_size lw 1.3 lc rgb colour_ws, \
             layers using (shown(column(sim))):(is_chosen(shown(predicted(d)))) with points pt 7 ps 0.45 * point_size lc rgb "black"
    }
}
unset multiplot
