# Time over memory of all points of a layer: the paper's layer 2, or the first one.
# question What does more memory buy?
# caption The paper's Figure 6. On the line: no other point is as fast with as little memory. Filled: drawn near the best one so far.
# draws points.csv: ms
load figures."/lift_common.gp"
W = 900; H = 520
eval open_output
shown = ""
stats points_csv using (shown = (shown eq "" || stringcolumn("layer") eq "conv1_2") ? stringcolumn("layer") : shown, 0) nooutput
set title "layer ".shown noenhanced offset 0, 1.2
eval put_note
set lmargin at screen 0.10; set rmargin at screen 0.97; set tmargin at screen 0.84; set bmargin at screen 0.19
set xlabel "MB, all buffers"; set ylabel "ms"
set logscale xy
mine(v) = stringcolumn("layer") eq shown ? v : NaN
low = NaN; high = NaN
stats points_csv using (v = mine(column("memory_bytes") / 1e6), low = min2(low, v), high = max2(high, v), 0) nooutput
low = low / 1.05; high = high * 1.05
set xrange [low:high]
eval find_log_tics
eval "set xtics (".tics.")"
low = NaN; high = NaN
stats points_csv using (v = mine(number("ms")), low = min2(low, v), high = max2(high, v), 0) nooutput
low = low / 1.2; high = high * 1.2
set yrange [low:high]
eval find_log_tics
eval "set ytics (".tics.")"
set key at graph 0.5, graph 1.08 center top horizontal Left reverse samplen 1.5
plot points_csv using (mine(column("near") == 0 ? column("memory_bytes") / 1e6 : NaN)):(mine(number("ms"))) with points pt 6 ps 0.9 lc rgb sky title "drawn anywhere", \
     points_csv using (mine(column("near") == 1 ? column("memory_bytes") / 1e6 : NaN)):(mine(number("ms"))) with points pt 7 ps 0.9 lc rgb blue title "drawn near the best one", \
     points_csv using (mine(column("front") == 1 ? column("memory_bytes") / 1e6 : NaN)):(mine(column("front") == 1 ? number("ms") : NaN)) smooth unique \
         with linespoints lw 2 pt 4 ps 1.6 lc rgb vermilion title "the front"
