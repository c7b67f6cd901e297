# Two runs, layer by layer: how much faster the second is, and how its simulated misses changed. A point per layer and algorithm.
# question In what do two runs differ, layer by layer?
# caption Above 0, B has more: more speed, which is good, in the first panel; more misses, which is not, in the others.
# caption Full points are certain, open ones are not: rounds of two runs may differ that much by chance. The axis is drawn
# caption together beyond 10 %, so that a large change hides no small ones
# draws compare.csv: change_percent of metric: speedup l1_misses l2_misses l3_misses
load figures."/style.gp"
file = compare_csv
shown = "speedup l1_misses l2_misses l3_misses"
panel_titles = '"speed of B over A''s [%]" "load misses of the first level [%]" "... of the second level [%]" "... of the last level [%]"'

# Layers along x in the order of A's table; algorithms that occur.
names = ""; n_layers = 0; seen = ""; found = ""; present = ""
is_layer(dummy) = int(column("layer_index")) > 0
note_algo(a) = index_in(found, a) ? 0 : (found = found." ".a, 0)
note_metric(m) = index_in(present, m) ? 0 : (present = present." ".m, 0)
last = 0
stats file using (is_layer(0) ? (note_algo(stringcolumn("algo")), note_metric(stringcolumn("metric")), \
    last = max2(last, int(column("layer_index"))), 0) : 0, 0) nooutput
array Name[last + 1]; array At[last + 1]
do for [i = 1:last + 1] { Name[i] = ""; At[i] = 0 }
stats file using (is_layer(0) ? (Name[int(column("layer_index"))] = stringcolumn("layer"), 0) : 0, 0) nooutput
longest = 0
do for [i = 1:last] { if (Name[i] ne "") { n_layers = n_layers + 1; At[i] = n_layers; longest = max2(longest, strlen(Name[i])) } }
panels = ""
do for [m in shown] { if (index_in(present, m)) { panels = panels." ".m } }
n_panels = words(panels)
W = max2(1000, 100 + n_layers * (n_layers > 60 ? 9 : 26)); panel = 190; gap = 40; top = head_height
bottom = 24 + (n_layers > 60 ? 20 : longest * 7)
H = top + n_panels * panel + (n_panels - 1) * gap + bottom + line_height
eval open_output
title_text = "Two runs, layer by layer: above 0, B has more"
subtitle_text = what
eval put_head
legend_point = dot; do for [a in found] { legend_text = title_of(a); legend_colour = colour_of(a); eval put_legend }
legend_point = circle; legend_text = "open: not certain"; legend_colour = "#404040"; eval put_legend
set multiplot
set key off
set xrange [0.3:n_layers + 0.7]
set lmargin at screen 80.0 / W
set rmargin at screen 1 - 15.0 / W
set arrow 1 from graph 0, first 0 to graph 1, first 0 nohead lc rgb "black"
set offsets 0, 0, graph 0.08, graph 0.08
shift(a) = 0.12 * (index_in(found, a) - 0.5 * (words(found) + 1))
# Percent along y: even up to about 10 %, and a decade alike beyond that.
scaled(v) = asinh(v / 10.0)
pick(m, a, certain) = is_layer(0) && stringcolumn("metric") eq m && stringcolumn("algo") eq a && (stringcolumn("b_is") ne "open") == certain ? \
    scaled(number("change_percent")) : NaN
do for [p = 1:n_panels] {
    m = word(panels, p)
    set tmargin at screen 1 - (top + (p - 1) * (panel + gap)) / (1.0 * H)
    set bmargin at screen 1 - (top + (p - 1) * (panel + gap) + panel) / (1.0 * H)
    set title word(panel_titles, index_in(shown, m)) font ",12" offset 0, -0.6
    unset xtics
    if (p == 2) { eval drop_head }
    if (p == n_panels && n_layers <= 60) {
        set xtics rotate by 90 right scale 0 font ",9"; set xtics ("" 0)
        do for [i = 1:last] { if (Name[i] ne "") { set xtics add (tic_text(Name[i]) At[i]) } }
    }
    low = 0; high = 0
    set yrange [*:*]
    stats file using (is_layer(0) && stringcolumn("metric") eq m ? (low = min2(low, number("change_percent")), high = max2(high, number("change_percent")), 0) : 0) nooutput
    low = min2(low, -1) * 1.3; high = max2(high, 1) * 1.3
    set yrange [scaled(low):scaled(high)]
    set ytics ("0" 0); n_tics = high > 300 || low < -300 ? 1 : 2
    do for [decade = -1:9] { do for [s in n_tics == 1 ? "1" : "1 3"] { do for [sign = -1:1:2] {
        value = sign * s * 10.0**decade
        is_seen = value >= low && value <= high && (abs(value) >= 10 || 20 * abs(value) >= max2(-low, high))
        if (is_seen) { set ytics add (sprintf("%+g", value) scaled(value)) } } } }
    plot for [a in found] file using (At[int(max2(1, column("layer_index")))] + shift(a)):(pick(m, a, 1)) with points pt 7 ps 0.7 lc rgb colour_of(a), \
         for [a in found] file using (At[int(max2(1, column("layer_index")))] + shift(a)):(pick(m, a, 0)) with points pt 6 ps 0.7 lc rgb colour_of(a)
}
unset multiplot
