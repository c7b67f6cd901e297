# Input stationary over weight stationary: what the clock says of each layer, and what CSA and csa2 say.
# question Do the models say what the clock says of the two schedules?
# caption A point per layer; on the dashed line they agree. In the lower left and upper right quarters the model chooses
# caption the faster schedule
# draws predictions.csv: measured_is_ws csa2_is_ws csa_is_ws
load figures."/peers_common.gp"
file = predictions_csv
W = 1200; H = 640
eval open_output
set multiplot layout 1,2 title "Time of input stationary / time of weight stationary, a point per layer" margins 0.06, 0.985, 0.24, 0.86 spacing 0.07
eval put_what
set key at screen 0.5, 0.14 center top horizontal Left reverse maxrows 1
set logscale xy
low = 1; high = 1
note(v) = v > 0 ? (low = min2(low, v), high = max2(high, v), 0) : 0
stats file using (note(number("measured_is_ws")), 0) nooutput
low = low / 1.1; high = high * 1.1
set xrange [low:high]
eval find_log_tics
eval "set xtics (".tics.")"
low = 1; high = 1
stats file using (note(number("csa_is_ws")), note(number("csa2_is_ws")), 0) nooutput
low = low / 1.1; high = high * 1.1
set yrange [low:high]
eval find_log_tics
eval "set ytics (".tics.")"
set xlabel "measured (left of 1: input stationary is faster)"
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb "#404040"
set arrow 2 from first 1, graph 0 to first 1, graph 1 nohead lc rgb "#404040"
of(m, s, v) = stringcolumn("machine") eq m && stringcolumn("caches") eq s ? v : NaN
machines = "zen3 spr here"; states = "cold warm"
present = ""
stats file using (strstrt(present, stringcolumn("machine")) ? 0 : (present = present." ".stringcolumn("machine"), 0), 0) nooutput
has(m) = index_in(present, m) > 0
array Shade[3] = [vermilion, blue, green]
do for [k = 1:2] {
    c = word("csa_is_ws csa2_is_ws", k)
    set ylabel word("CSA csa2", k).": Eq. 6 of input stationary / of weight stationary"
    if (k == 2) { set ylabel "csa2: cycles of input stationary / of weight stationary" }
    set label 1 word("CSA csa2", k) at graph 0.03, graph 0.95 font ",14"
    plot for [m = 1:3] for [s = 1:2] file using (column("measured_is_ws")):(of(word(machines, m), word(states, s), number(c))) \
            with points pt (s == 1 ? 7 : 6) ps 0.6 lc rgb Shade[m] notitle, \
         for [m = 1:3] NaN with points pt 7 ps 1 lc rgb Shade[m] title (k == 1 && has(word(machines, m)) ? word(machines, m) : ""), \
         NaN with points pt 7 lc rgb grey title (k == 1 ? "full: cold caches" : ""), NaN with points pt 6 lc rgb grey title (k == 1 ? "open: warm caches" : ""), \
         x with lines dt 2 lc rgb "#404040" notitle
    unset label 99
}
unset multiplot
