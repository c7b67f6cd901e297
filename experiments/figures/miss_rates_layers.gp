# Misses of each level, layer by layer: Base, and SConv with either schedule; in % of all loads, and per 1000 multiply-adds.
# question The same for each layer and schedule
# caption Bars are simulated; a dot stands on the schedule that CSA chose. Where this computer has counters, circles are
# caption measured
# draws layers.csv: simulated_l1_miss_percent measured_l1_load_misses of algo: $plain_algos
# slots layers.csv: layer_index layer $shape_columns
load figures."/common.gp"

missing_in = "measured_l1_load_misses"; eval find_reasons
n_measured = 0
stats layers using (is_missing(stringcolumn("measured_l1_load_misses")) ? 0 : (n_measured = n_measured + (column("measured_loads") > 0)), 0) nooutput

eval set_layer_width
columns = W / char_width
text = "Simulated (bars): ".machine.", ".simulator.".".slot_text
eval wrap_text
foot = wrapped; foot_lines = n_lines
text = "Measured".(n_measured ? " (circles): " : ": ").measured_by(n_measured, reason, reasons)."."
eval wrap_text
foot = foot."\n".wrapped; foot_lines = foot_lines + n_lines
text = "Algorithms make different numbers of loads, by which rates divide: misses per 1000 multiply-adds compare them."
eval wrap_text
foot = foot."\n".wrapped; foot_lines = foot_lines + n_lines
n_panels = 2 * n_levels
panel = 150; gap = 30; top = head_height
bottom = name_height + foot_lines * line_height + 16
H = top + n_panels * panel + (n_panels - 1) * gap + bottom
eval open_output

title_text = sprintf("%s: cache misses, layer by layer (%s)", model, layer_text)
eval put_head
eval put_bar_legend
legend_text = "chosen by CSA"; legend_point = dot; legend_colour = "black"; eval put_legend
if (n_measured) { legend_text = "measured"; legend_point = circle; legend_colour = "black"; eval put_legend }
set multiplot
set key off
set xrange [0.4:n_shown + 0.6]
set lmargin at screen 95.0 / W
set rmargin at screen 1 - 15.0 / W
set boxwidth 0.25 absolute
simulated(l, by_work) = by_work ? 1000.0 * column(sprintf("simulated_l%d_load_misses", l)) / column("macs") : \
    column(sprintf("simulated_l%d_miss_percent", l))
measured(l, by_work) = (by_work ? 1000.0 / column("macs") : 100.0 / column("measured_loads")) * column(sprintf("measured_l%d_load_misses", l))
do for [p = 1:n_panels] {
    l = (p + 1) / 2; by_work = p % 2 == 0
    y = top + (p - 1) * (panel + gap)
    set tmargin at screen 1 - y / (1.0 * H)
    set bmargin at screen 1 - (y + panel) / (1.0 * H)
    highest = 0
    stats layers using (offset_of(stringcolumn("algo")) < 1 ? (highest = max2(highest, max2(simulated(l, by_work), measured(l, by_work))), 0) : 0, 0) nooutput
    set yrange [0:(highest > 0 ? 1.08 * highest : 1)]
    set ylabel by_work ? "misses /\n1000 macs" : "misses /\nloads [%]" offset -0.2, 0
    set title level_name(l).(by_work ? ": load misses per 1000 multiply-adds" : ": load misses in % of all loads") font ",12" offset 0, -0.6
    unset xtics
    if (p == 2) { eval drop_head }
    if (p == n_panels) {
        eval put_layer_names
        set label 1 foot at screen 12.0 / W, screen (foot_lines * line_height) / (1.0 * H) left front
    }
    plot for [a in bars] layers using (bar_x(0)):(only(a, simulated(l, by_work))) smooth unique with boxes lc rgb colour_of(a), \
         layers using (bar_x(0)):(is_chosen(simulated(l, by_work))) smooth unique with points pt 7 ps 0.55 lc rgb "black", \
         layers using (bar_x(0)):(measured(l, by_work)) smooth unique with points pt 7 ps 1.1 lc rgb "white", \
         layers using (bar_x(0)):(measured(l, by_work)) smooth unique with points pt 6 ps 1.1 lw 1.2 lc rgb "black"
}
unset multiplot
