# Measured speed-up over Base, layer by layer, and for the whole model beside the paper's value.
# draws layers.csv: measured_speedup_vs_base of algo: sconv_is sconv_ws
# reads model.csv
load figures."/common.gp"
totals = model_csv

reason = ""; n_measured = 0
stats layers using (is_missing(stringcolumn("measured_speedup_vs_base")) ? (reason = stringcolumn("measured_speedup_vs_base"), 0) : \
    (n_measured = n_measured + (stringcolumn("algo")[1:5] eq "sconv" && column("measured_speedup_vs_base") > 0)), 0) nooutput
if (n_measured == 0) {
    print "no speed-ups to draw: ".(strlen(reason) ? short_reason(reason) : "SConv was not selected")
    exit status 77
}
total = NaN; paper = NaN
stats totals using (algo_is("sconv") ? (total = column("measured_speedup_vs_base"), paper = column("paper_conv_speedup")) : 0, 0) nooutput

eval set_layer_width
columns = W / char_width
text = "Measured: ".host.(strlen(reason) ? "; for some layers not available: ".short_reason(reason) : "").". Median times."
eval wrap_text
top = head_height; panel = 330
bottom = name_height + n_lines * line_height + 16
H = top + panel + bottom
eval open_output

title_text = sprintf("%s: measured speed-up of SConv over Base, layer by layer (%s)", model, layer_text)
eval put_head
unset label 99 # nothing here is simulated
legend_line = 48; top = head_height - 24
legend_text = "SConv IS"; legend_point = square; legend_colour = colour_is; eval put_legend
legend_text = "SConv WS"; legend_colour = colour_ws; eval put_legend
legend_text = "chosen by CSA"; legend_point = dot; legend_colour = "black"; eval put_legend
legend_point = only_text
if (total == total) { legend_text = sprintf("— whole model, chosen: %.2f", total); legend_colour = colour_sconv; eval put_legend }
if (paper == paper) { legend_text = sprintf("- - paper, Table 2: %.2f", paper); legend_colour = colour_paper; eval put_legend }
set label 1 wrapped at screen 12.0 / W, screen (n_lines * line_height) / (1.0 * H) left front
set xrange [0.4:n_shown + 0.6]
set yrange [0:*]
set lmargin at screen 85.0 / W
set rmargin at screen 1 - 15.0 / W
set tmargin at screen 1 - top / (1.0 * H)
set bmargin at screen bottom / (1.0 * H)
set boxwidth 0.38 absolute
set ylabel "time of Base / time of SConv" offset 1, 0
set xtics rotate by 90 right scale 0 font ",9"
set key off
set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb "black" lw 1 front

x_of(a, v) = position(column("layer_index")) + ((a eq "sconv_is") ? -0.2 : 0.2)
plot layers using (x_of(stringcolumn("algo"), 0)):(only("sconv_is", column("measured_speedup_vs_base"))) with boxes lc rgb colour_is, \
     layers using (x_of(stringcolumn("algo"), 0)):(only("sconv_ws", column("measured_speedup_vs_base"))) with boxes lc rgb colour_ws, \
     layers using (x_of(stringcolumn("algo"), 0)):(is_chosen(column("measured_speedup_vs_base"))) with points pt 7 ps 0.6 lc rgb "black", \
     (total == total ? total : NaN) with lines lw 2 lc rgb colour_sconv, \
     (paper == paper ? paper : NaN) with lines lw 2 dt 2 lc rgb colour_paper, \
     layers using (position(column("layer_index"))):(NaN):xticlabel(stringcolumn("layer"))
