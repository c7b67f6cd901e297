# question What is the gain in time?
# caption Bars over 1 are faster than Base. The solid line is the whole model; where the paper has the model and this machine, a dashed line is its
# caption Table 2
# draws layers.csv: measured_speedup_vs_base of algo: $sconv_algos
# reads model.csv
# slots layers.csv: layer_index layer $shape_columns of macs: 120
load figures."/common.gp"; missing_in = "measured_speedup_vs_base"; eval find_reasons
bars = ""; n_spans = 0 # the algorithms that were timed
stats table using (number(missing_in) > 0 && index_in(sconv_algos, stringcolumn("algo")) ? (bars = with_word(bars, stringcolumn("algo")), \
    n_spans = n_spans + (number("measured_speedup_low") > 0), 0) : 0, 0) nooutput
n_bars = words(bars)
if (!n_bars) { print "no speed-ups to draw: ".(strlen(reasons) ? reasons : "SConv was not selected"); exit status 77 }
total = NaN; total_low = NaN; total_high = NaN; paper = NaN
stats model_csv using (algo_is(chosen) ? (total = number("measured_speedup_vs_base"), total_low = number("measured_speedup_low"), \
    total_high = number("measured_speedup_high"), paper = column("paper_conv_speedup")) : 0, 0) nooutput
panel_h = 330; n_rules = 3; dots_at_foot = 1; array Rule_colour[3] = ["black", colour_of(chosen), colour_paper]; array Rule_dash[3] = [1, 1, 2]
rule(i) = i == 1 ? 1 : i == 2 ? total : paper
part(k) = number("measured_speedup_vs_base"); low_of(dummy) = number("measured_speedup_low"); high_of(dummy) = number("measured_speedup_high")
flag(dummy) = is_chosen(0); title_text = sprintf("%s: measured speed-up over Base, layer by layer (%s)", model, layer_text); subtitle_text = ""
value_title(p) = "time of Base / time of the algorithm"; eval legend_of_bars; dummy = legend("chosen by CSA", "black", dot)
dummy = legend(total == total ? (sprintf("whole model, chosen: %.2f", total).(total_low == total_low ? sprintf(" [%.2f, %.2f]", total_low, total_high) : "")) : "", colour_of(chosen), line)
dummy = legend(paper == paper ? sprintf("paper, Table 2: %.2f", paper) : "", colour_paper, dashed)
dummy = note("Measured: ".measured_by(n_bars).". The fastest quarter of the rounds, Base's time over each algorithm's; ".(n_spans ? \
    "the lines on the bars hold 95 % of what random halves of the rounds give, widened where the computer was busy" : "the rounds are too few for lines of their spread").". A bar above 1 is \
faster than Base. Plans are made for ".machine[1:(name_end ? name_end - 1 : strlen(machine))].". ".slot_note)
load figures."/bars.gp"
