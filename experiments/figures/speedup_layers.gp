# Measured speed-up over Base with its spread, layer by layer, and for the whole model beside the paper's value.
# question What is the gain in time?
# caption Bars over 1 are faster than Base. The solid line is the whole model; where the paper has the model and this
# caption machine, a dashed line is its Table 2
# draws layers.csv: measured_speedup_vs_base of algo: $sconv_algos
# reads model.csv
# slots layers.csv: layer_index layer $shape_columns
load figures."/common.gp"
totals = model_csv

# One bar for each slot and series that was timed; of layers that share a slot, the mean.
n_all = words(sconv_algos)
n_bars = n_all * n_shown
array Value[n_bars]; array Low[n_bars]; array High[n_bars]; array N_layers[n_bars]; array N_spans[n_bars]; array N_chosen[n_bars]
array N_of_series[n_all]
do for [b = 1:n_bars] { Value[b] = 0; Low[b] = 0; High[b] = 0; N_layers[b] = 0; N_spans[b] = 0; N_chosen[b] = 0 }
do for [a = 1:n_all] { N_of_series[a] = 0 }
series_of(dummy) = index_in(sconv_algos, stringcolumn("algo"))
bar_of(dummy) = n_all * (position(column("layer_index")) - 1) + series_of(0)
add_span(b, low, high) = (low == low && high == high) ? (Low[b] = Low[b] + low, High[b] = High[b] + high, N_spans[b] = N_spans[b] + 1, 0) : 0
add(b, v) = (v == v) ? (Value[b] = Value[b] + v, N_layers[b] = N_layers[b] + 1, N_chosen[b] = N_chosen[b] + (column("chosen") == 1), \
    N_of_series[series_of(0)] = N_of_series[series_of(0)] + 1, add_span(b, number("measured_speedup_low"), number("measured_speedup_high"))) : 0

missing_in = "measured_speedup_vs_base"; eval find_reasons
stats layers using (series_of(0) ? add(bar_of(0), number("measured_speedup_vs_base")) : 0, 0) nooutput
n_series = sum [a = 1:n_all] (N_of_series[a] > 0)
n_spans = sum [b = 1:n_bars] N_spans[b]
if (n_series == 0) {
    print "no speed-ups to draw: ".(strlen(reason) ? short_reason(reason) : "SConv was not selected")
    exit status 77
}
total = NaN; total_low = NaN; total_high = NaN; paper = NaN
stats totals using (algo_is(chosen) ? (total = number("measured_speedup_vs_base"), total_low = number("measured_speedup_low"), \
    total_high = number("measured_speedup_high"), paper = column("paper_conv_speedup")) : 0, 0) nooutput

width = 0.84 / n_series
place = 0; highest = 0
array Offset[n_all]
do for [a = 1:n_all] { if (N_of_series[a]) { place = place + 1; Offset[a] = (place - 0.5 * (n_series + 1)) * width } }
set print $bars
print "x\tseries\tspeedup\tlow\thigh\tchosen"
do for [b = 1:n_bars] {
    if (N_layers[b]) {
        a = (b - 1) % n_all + 1
        highest = max2(highest, Value[b] / N_layers[b])
        print sprintf("%.9g\t%d\t%.9g\t%.9g\t%.9g\t%d", (b - a) / n_all + 1 + Offset[a], a, Value[b] / N_layers[b], \
            N_spans[b] ? Low[b] / N_spans[b] : NaN, N_spans[b] ? High[b] / N_spans[b] : NaN, N_chosen[b] > 0)
    }
}
unset print

text_of_spans = n_spans ? "the lines on the bars hold 95 % of what random halves of the rounds give" : "the rounds are too few for lines of their spread"

eval set_layer_width
columns = W / char_width
text = "Measured: ".measured_by(n_series, reason, reasons).". The fastest quarter of the rounds, Base's time over each other's; ".text_of_spans.". A bar above 1 is faster than Base. Plans are those for ".machine_name.".".slot_text
eval wrap_text
top = head_height; panel = 330
bottom = name_height + n_lines * line_height + 16
H = top + panel + bottom
eval open_output

title_text = sprintf("%s: measured speed-up over Base, layer by layer (%s)", model, layer_text)
eval put_head
unset label 99 # nothing here is simulated
legend_line = 40
legend_point = square
do for [a = 1:n_all] {
    if (N_of_series[a]) { legend_text = title_of(word(sconv_algos, a)); legend_colour = colour_of(word(sconv_algos, a)); eval put_legend }
}
legend_text = "chosen by CSA"; legend_point = dot; legend_colour = colour_of(chosen); eval put_legend
legend_x = 60; legend_line = legend_line + 20; legend_point = only_text
if (total == total) {
    legend_text = sprintf("— whole model, chosen: %.2f", total).(total_low == total_low ? sprintf(" [%.2f, %.2f]", total_low, total_high) : "")
    legend_colour = colour_of(chosen); eval put_legend
}
if (paper == paper) { legend_text = sprintf("- - paper, Table 2: %.2f", paper); legend_colour = colour_paper; eval put_legend }
set label 1 wrapped at screen 12.0 / W, screen (n_lines * line_height) / (1.0 * H) left front
set xrange [0.4:n_shown + 0.6]
set yrange [0:*]
set lmargin at screen 85.0 / W
set rmargin at screen 1 - 15.0 / W
set tmargin at screen 1 - (top - 16) / (1.0 * H)
set bmargin at screen bottom / (1.0 * H)
set boxwidth 0.92 * width absolute
set ylabel "time of Base / its time" offset 1, 0
eval put_layer_names
set key off
set arrow from graph 0, first 1 to graph 1, first 1 nohead lc rgb "black" lw 1 front

plot for [a = 1:n_all] $bars using "x":(column("series") == a ? column("speedup") : NaN) with boxes lc rgb colour_of(word(sconv_algos, a)), \
     (total == total ? total : NaN) with lines lw 2 lc rgb colour_of(chosen), \
     (paper == paper ? paper : NaN) with lines lw 2 dt 2 lc rgb colour_paper, \
     $bars using "x":"low":(0):(column("high") - column("low")) with vectors nohead lw 3.4 lc rgb "white", \
     $bars using "x":"low":(0):(column("high") - column("low")) with vectors heads size screen 0.003, 90 lw 1.3 lc rgb "#606060", \
     $bars using "x":(column("chosen") == 1 ? 0.02 * highest : NaN) with points pt 7 ps 1.3 lc rgb "white", \
     $bars using "x":(column("chosen") == 1 ? 0.02 * highest : NaN) with points pt 7 ps 0.8 lc rgb colour_of(chosen)
