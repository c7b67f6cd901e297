# Simulated cycles of all points beside their times: a panel per layer.
# question Does a simulation know which points are fast?
# caption A point of the space each, which nobody had to run for its cycles. On the line, time is proportional to them. Filled: the 20 that the
# caption simulation puts first. rho: Spearman's rank correlation; then the speed of the fastest of these 20, of the fastest of all
# draws replay.csv: ms cycles
# draws ranks.csv: spearman
load figures."/lift_common.gp"
eval n_rows("ranks_csv", "points")
array Name[n]; array Text[n]
n_panels = 0
text_of(c, f) = number(c) == number(c) ? sprintf(f, number(c)) : "not known"
stats ranks_csv using (stringcolumn("ranking") eq "cycles" ? (n_panels = n_panels + 1, Name[n_panels] = stringcolumn("layer"), \
    Text[n_panels] = stringcolumn("layer")."   rho: ".text_of("spearman", "%.2f").", "."the best of 20 ".text_of("few_percent", "%.0f %%"), 0) : 0) nooutput
n_columns = n_panels < 3 ? n_panels : 3
n_panel_rows = int(ceil(1.0 * n_panels / n_columns))
panel = n_columns == 1 ? 560 : 310; gap_x = 84; gap_y = 76; top = 36; foot = 60
W = gap_x + n_columns * (panel + gap_x) - 30; H = top + n_panel_rows * (panel * 0.8 + gap_y) + foot
eval open_output
set multiplot
eval put_note
mine(v) = stringcolumn("layer") eq layer ? v : NaN
set logscale xy
set format xy "%g"
do for [k = 1:n_panels] {
    layer = Name[k]
    left = (gap_x + ((k - 1) % n_columns) * (panel + gap_x)) / (1.0 * W)
    above = 1 - (top + ((k - 1) / n_columns) * (panel * 0.8 + gap_y)) / (1.0 * H)
    set lmargin at screen left; set rmargin at screen left + panel / (1.0 * W)
    set tmargin at screen above; set bmargin at screen above - panel * 0.8 / H
    low = NaN; high = NaN; least = NaN; most = NaN; logs = 0; n_both = 0
    stats replay_csv using (x = mine(number("cycles") / 1e6), y = mine(number("ms")), x == x && y == y ? (low = min2(low, x), \
        high = max2(high, x), least = min2(least, y), most = max2(most, y), logs = logs + log(y / x), n_both = n_both + 1) : 0, 0) nooutput
    set label 1 Text[k] at graph 0.5, graph 1.05 center noenhanced
    if (n_both) {
        low = low / 1.2; high = high * 1.2; least = least / 1.2; most = most * 1.2
        ms_per_cycle = exp(logs / n_both)
        set xrange [low:high]; eval find_log_tics; eval "set xtics (".tics.") rotate by -30"
        xlow = low; xhigh = high; low = least; high = most
        set yrange [low:high]; eval find_log_tics; eval "set ytics (".tics.")"
        from = max2(xlow, low / ms_per_cycle) * 1.001; to = min2(xhigh, high / ms_per_cycle) / 1.001
        set xlabel (k > n_panels - n_columns ? "simulated cycles, millions" : "") offset 0, -0.4
        set ylabel ((k - 1) % n_columns == 0 ? "ms" : "") offset 1, 0
        plot replay_csv using (mine(number("cycles") / 1e6)):(mine(number("ms"))) with points pt 6 ps 0.6 lc rgb sky notitle, \
             replay_csv using (mine(column("rank") <= 20 ? number("cycles") / 1e6 : NaN)):(mine(number("ms"))) with points pt 7 ps 0.8 lc rgb vermilion notitle, \
             [from:to] ms_per_cycle * x with lines lw 1 lc rgb "#404040" notitle
    }
    unset label 97
}
unset multiplot
