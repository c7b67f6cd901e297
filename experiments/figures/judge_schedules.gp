# WS over IS by each yardstick, all layers sorted: where a curve is above 1, input stationary is the better schedule.
# draws ratios.csv: predicted_cycles l1_l2_lines l2_l3_lines l3_memory_lines eq6_cycles estimated_cycles
load figures."/peers_common.gp"
file = ratios_csv
low = 1; high = 1
note(v) = v == v && v > 0 ? (low = v < low ? v : low, high = v > high ? v : high, 0) : 0
n = 0
stats file using (n = n + 1, note(number("predicted_cycles")), note(number("l1_l2_lines")), note(number("l2_l3_lines")), \
    note(number("l3_memory_lines")), note(number("eq6_cycles")), note(number("estimated_cycles")), 0) nooutput
W = 1200; H = 600
eval open_output
eval put_what
set bmargin 4 + n_lines
set title sprintf("Weight stationary against input stationary, %d convolutions on %s", n, machine)
set xlabel "share of the layers, each yardstick sorted on its own [%]"
set ylabel "WS / IS (above 1: input stationary is better)"
set xrange [0:100]
set logscale y
set yrange [low / 1.1:high * 1.1]
set ytics (0.1, 0.2, 0.5, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100)
set arrow from 0, 1 to 100, 1 nohead lc rgb "black"
plot file using (column("rank_percent")):(number("predicted_cycles")) with lines lw 2 dt 2 lc rgb "black" title "CSA's cost (Eq. 6, predicted)", \
     file using (column("rank_percent")):(number("eq6_cycles")) with lines lw 3 lc rgb colour_sconv title "Eq. 6, simulated", \
     file using (column("rank_percent")):(number("l1_l2_lines")) with lines lw 2 lc rgb colour_nchw title "lines ".border_1, \
     file using (column("rank_percent")):(number("l2_l3_lines")) with lines lw 2 lc rgb colour_rows title border_2 eq border_1 ? "" : border_2, \
     file using (column("rank_percent")):(number("l3_memory_lines")) with lines lw 2 lc rgb colour_blocked title border_3 eq border_2 ? "" : border_3, \
     file using (column("rank_percent")):(number("estimated_cycles")) with lines lw 2 lc rgb colour_reorder title "estimated cycles"
