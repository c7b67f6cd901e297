# Simulated lines against measured ones, a point per layer and algorithm; both in % of the measured loads, so that no axis has a denominator of
# its own. Variables: those of style.gp; what: what was counted and replayed, one line.
# question Are the simulated lines those that a real machine counted?
# caption A point per layer and algorithm, both in % of the measured loads; on the line they agree. Upper row: caches
# caption alone; lower row: the machine as its file has it
# draws simulated_vs_measured.csv: measured_percent_of_loads
# draws simulated_vs_measured.csv: caches_alone_percent_of_loads as_machine_percent_of_loads
load figures."/style.gp"

points_file = simulated_vs_measured_csv
quantities = "l1_lines_in_by_demand l1_lines_in l2_lines_in memory_lines_in"
quantity_title(i) = i == 1 ? "into L1, by demand" : i == 2 ? "into L1, all" : i == 3 ? "into L2" : "from memory"
array Symbol[6] = [open_square, circle, 8, 10, 12, 2] # square, circle, triangles, rhombus, cross
symbol_of(a) = Symbol[(index_in(algos, a) - 1) % 6 + 1]
# The algorithms that were counted, in the order of their records.
algos = ""; rows_of = 0
do for [a in algo_names] {
    rows_of = 0
    stats points_file using (stringcolumn("algo") eq a ? (rows_of = rows_of + 1, 0) : 0) nooutput
    if (rows_of) { algos = algos." ".a }
}
views = "caches_alone as_machine"

panel = 265; gap_x = 64; gap_y = 88; top = head_height + 30; left = 92
W = left + 4 * panel + 3 * gap_x + 24
columns = W / char_width
text = "One point per layer and algorithm, in % of the measured loads. On the line both agree; above it too many are simulated. Zero, which a logarithmic axis cannot show, stands at the edge marked 0. Upper row: LRU caches \
that fetch what is asked for and no more, the paper's view; lower row: the machine as its file has it. Lines were ".what."."
eval wrap_text
H = top + 2 * panel + gap_y + 62 + n_lines * line_height
eval open_output

title_text = "Lines that the counters counted against lines that were simulated"
subtitle_text = ""
eval put_head
do for [a in algos] { legend_text = title_of(a); legend_point = symbol_of(a); legend_colour = colour_of(a); eval put_legend }

is_of(q, a) = stringcolumn("quantity") eq q && stringcolumn("algo") eq a
set multiplot
set key off
set format xy "%g"
set grid xtics ytics lt 1 lc rgb "#e0e0e0" lw 1
do for [v = 1:2] {
    do for [c = 1:4] {
        q = word(quantities, c)
        simulated = word(views, v)."_percent_of_loads"
        low = NaN; high = NaN; n_points = 0; n_zeros = 0
        reach(v) = v > 0 ? (low = min2(low, v), high = max2(high, v), 0) : (n_zeros = n_zeros + 1, 0)
        note(m, s) = m >= 0 && s >= 0 ? (n_points = n_points + 1, reach(m), reach(s)) : 0
        unset logscale; set xrange [*:*]; set yrange [*:*]
        stats points_file using (stringcolumn("quantity") eq q ? note(number("measured_percent_of_loads"), number(simulated)) : 0) nooutput
        set logscale xy
        if (low != low) { low = 0.1; high = 10 }
        low = low / 1.15; high = high * 1.15
        axis_pixels = panel; eval find_log_tics
        zero = low / (1.0 * high / low)**0.08
        if (n_zeros) { tics = "'0' ".sprintf("%.9g", zero).(n_tics ? ", " : "").tics; low = zero / 1.05 }
        shown(v) = v > 0 ? v : v == 0 ? zero : NaN
        set xrange [low:high]
        set yrange [low:high]
        eval "set xtics (".tics."); set ytics (".tics.")"
        x0 = left + (c - 1) * (panel + gap_x); y0 = top + (v - 1) * (panel + gap_y)
        set lmargin at screen x0 / (1.0 * W)
        set rmargin at screen (x0 + panel) / (1.0 * W)
        set tmargin at screen 1 - y0 / (1.0 * H)
        set bmargin at screen 1 - (y0 + panel) / (1.0 * H)
        set title sprintf("%s: lines %s", v == 1 ? "caches alone" : "as the machine is", quantity_title(c)) font ",11" offset 0, -0.6
        set xlabel (v == 2 ? "measured [% of loads]" : "") offset 0, 0.4
        set ylabel (c == 1 ? "simulated [% of measured loads]" : "") offset 0.6, 0
        if (v == 1 && c == 2) { eval drop_head }
        if (v == 2 && c == 4) { set label 1 wrapped at screen 12.0 / W, screen (n_lines * line_height) / (1.0 * H) left front }
        unset label 2
        if (n_points == 0) { set label 2 "nothing to compare" at graph 0.5, graph 0.5 center }
        plot x with lines lw 1 lc rgb "#404040", \
             for [a in algos] points_file using (is_of(q, a) ? shown(number("measured_percent_of_loads")) : NaN):(shown(number(simulated))) \
                 with points pt symbol_of(a) ps 0.8 lc rgb colour_of(a)
    }
}
unset multiplot
