# Misses of each level in % of all loads, layer by layer: as observed (bars) and as replayed (circles); below, how much of each
# layer that is.
# question Does the replay describe what the real kernels do?
# caption Bars: observed; circles: the replay of the same plan and part with the buffers at the same addresses; each
# caption panel names the largest difference, the last one how much of each layer was observed
# draws observed.csv: observed_load_misses of algo: $default_algos
# hint OBSERVE=sample makes some of Base, SConv, and SConv with OpenBLAS's micro-kernel
# slots layers.csv: layer_index layer $shape_columns
load figures."/common.gp"
observed = observed_csv

# Bars around each layer's number of what runs by default; what else was observed is in the table only.
bars = default_algos
bar_step(dummy) = 0.8 / words(bars)
is_drawn(dummy) = stringcolumn("tensor") eq "all" && offset_of(stringcolumn("algo")) < 1
is_level(l) = is_drawn(0) && column("level_index") == l
n_levels = 0
stats observed using (is_drawn(0) && column("observed_load_misses") >= 0 ? \
    (n_levels = max2(n_levels, column("level_index"))) : 0, 0) nooutput
n_levels = int(n_levels)
array Level[n_levels]
array Worst[n_levels]
larger(l, v) = (v == v && abs(v) > Worst[l]) ? abs(v) : Worst[l]
relative(a, b) = b > 0 ? 100.0 * (a - b) / b : (a > 0 ? 100 : 0)
do for [l = 1:n_levels] {
    Worst[l] = 0; Level[l] = ""
    stats observed using (is_level(l) ? (Level[l] = stringcolumn("level"), \
        Worst[l] = larger(l, relative(column("observed_load_misses"), column("replayed_load_misses"))), 0) : 0, 0) nooutput
}

eval set_layer_width
columns = W / char_width
text = "Observed (bars): ".observed_by."; every access to the tensors simulated as it happens. Replayed (circles): the same plan, \
from the nests' descriptions, with the buffers at the same addresses; of a layer that was observed in part, the same part. Caches are \
empty when a layer starts.".slot_text
eval wrap_text
panel = 190; gap = 40; share_panel = 70; top = head_height
bottom = name_height + n_lines * line_height + 16
H = top + n_levels * (panel + gap) + share_panel + bottom
eval open_output

title_text = sprintf("%s: cache misses in %% of all loads, observed against the replay (%s)", model, layer_text)
eval put_head
eval put_bar_legend
legend_text = "replayed"; legend_point = circle; legend_colour = "black"; eval put_legend
set multiplot
set key off
set xrange [0.4:n_shown + 0.6]
set lmargin at screen 95.0 / W
set rmargin at screen 1 - 15.0 / W
set boxwidth 0.95 * bar_step(0) absolute
set ylabel "misses /\nloads [%]" offset -0.2, 0
seen_at(a, l) = is_level(l) ? only(a, column("observed_load_miss_percent")) : NaN
do for [l = 1:n_levels] {
    set tmargin at screen 1 - (top + (l - 1) * (panel + gap)) / (1.0 * H)
    set bmargin at screen 1 - (top + (l - 1) * (panel + gap) + panel) / (1.0 * H)
    set yrange [0:*]
    set title sprintf("%s: the two differ by %.2f %% of the misses at most", Level[l], Worst[l]) font ",12" offset 0, -0.6
    unset xtics
    if (l == 2) { eval drop_head }
    plot for [a in bars] observed using (bar_x(0)):(seen_at(a, l)) smooth unique with boxes lc rgb colour_of(a), \
         observed using (bar_x(0)):(is_level(l) ? column("replayed_load_miss_percent") : NaN) smooth unique with points pt 7 ps 1 lc rgb "white", \
         observed using (bar_x(0)):(is_level(l) ? column("replayed_load_miss_percent") : NaN) smooth unique with points pt 6 ps 1 lw 1.2 lc rgb "black"
}
set tmargin at screen 1 - (top + n_levels * (panel + gap)) / (1.0 * H)
set bmargin at screen 1 - (top + n_levels * (panel + gap) + share_panel) / (1.0 * H)
set yrange [0:100]
set ytics 0, 50, 100
set ylabel "observed\n[%]"
set title "how much of each layer that is: % of its multiply-adds" font ",12" offset 0, -0.6
if (n_levels == 1) { eval drop_head }
eval put_layer_names
set label 1 wrapped at screen 12.0 / W, screen (n_lines * line_height) / (1.0 * H) left front
share_of(a) = is_level(0) ? only(a, column("observed_share_percent")) : NaN
plot for [a in bars] observed using (bar_x(0)):(share_of(a)) smooth unique with boxes lc rgb colour_of(a)
unset multiplot
