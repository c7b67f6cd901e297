# Misses of each level in % of all loads, layer by layer: Base, and SConv with either schedule.
load figures."/common.gp"

reason = ""; n_measured = 0
stats layers using (is_missing(stringcolumn("measured_l1_load_misses")) ? (reason = stringcolumn("measured_l1_load_misses"), 0) : \
    (n_measured = n_measured + (column("measured_loads") > 0)), 0) nooutput
n_bars = 0
stats layers using (offset_of(stringcolumn("algo")) == offset_of(stringcolumn("algo")) ? (n_bars = n_bars + 1) : 0, 0) nooutput
if (n_bars == 0) {
    print "no miss rates to draw: neither Base nor SConv was selected"
    exit status 77
}

eval set_layer_width
columns = W / char_width
text = "Simulated (bars): ".machine.", ".simulator."."
eval wrap_text
foot = wrapped; foot_lines = n_lines
text = n_measured ? "Measured (circles): ".host.(strlen(reason) ? "; for some layers not available: ".short_reason(reason) : "")."." : \
    "Measured: not available: ".short_reason(reason)."."
eval wrap_text
foot = foot."\n".wrapped; foot_lines = foot_lines + n_lines
panel = 210; gap = 34; top = head_height
bottom = name_height + foot_lines * line_height + 16
H = top + 3 * panel + 2 * gap + bottom
eval open_output

rate(l) = 100.0 * column(sprintf("measured_l%d_load_misses", l)) / column("measured_loads")
title_text = sprintf("%s: cache misses in %% of all loads, layer by layer (%s)", model, layer_text)
eval put_head
legend_text = "Base"; legend_point = square; legend_colour = colour_base; eval put_legend
legend_text = "SConv IS"; legend_colour = colour_is; eval put_legend
legend_text = "SConv WS"; legend_colour = colour_ws; eval put_legend
legend_text = "chosen by CSA"; legend_point = dot; legend_colour = "black"; eval put_legend
if (n_measured) { legend_text = "measured"; legend_point = circle; legend_colour = "black"; eval put_legend }
set multiplot
set key off
set xrange [0.4:n_shown + 0.6]
set lmargin at screen 85.0 / W
set rmargin at screen 1 - 15.0 / W
set boxwidth 0.25 absolute
set ylabel "misses / all loads [%]" offset 1, 0
do for [l = 1:3] {
    set tmargin at screen 1 - (top + (l - 1) * (panel + gap)) / (1.0 * H)
    set bmargin at screen 1 - (top + (l - 1) * (panel + gap) + panel) / (1.0 * H)
    set yrange [0:*]
    set title sprintf("L%d", l) font ",12" offset 0, -0.6
    unset xtics
    if (l == 2) { eval drop_head }
    if (l == 3) {
        set xtics rotate by 90 right scale 0 font ",9"
        set label 1 foot at screen 12.0 / W, screen (foot_lines * line_height) / (1.0 * H) left front
    }
    s = sprintf("simulated_l%d_miss_percent", l)
    plot layers using (bar_x(0)):(only("base", column(s))) with boxes lc rgb colour_base, \
         layers using (bar_x(0)):(only("sconv_is", column(s))) with boxes lc rgb colour_is, \
         layers using (bar_x(0)):(only("sconv_ws", column(s))) with boxes lc rgb colour_ws, \
         layers using (bar_x(0)):(is_chosen(column(s))) with points pt 7 ps 0.55 lc rgb "black", \
         layers using (bar_x(0)):(rate(l)) with points pt 7 ps 1.1 lc rgb "white", \
         layers using (bar_x(0)):(rate(l)) with points pt 6 ps 1.1 lw 1.2 lc rgb "black", \
         layers using (position(column("layer_index"))):(NaN):xticlabel(stringcolumn("layer"))
}
unset multiplot
