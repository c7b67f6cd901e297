# Estimated speed-ups of SConv over Base: per model beside the paper's Table 2, and sorted as in its Figures 8 and 9.
# question What would that make of the time?
# caption Estimates, not measurements: bars that ignore the memory, and that hide nothing of it. Where the paper has
# caption this machine, diamonds are its Table 2
# draws models.csv: issue_speedup estimated_speedup
# draws speedups.csv: issue_speedup estimated_speedup
load figures."/peers_common.gp"
file = speedups_csv; models = models_csv
chosen = word(total_algos, 2)
colour_waiting = colour_of(chosen); colour_hitting = sky
low = 1; high = 1
note(v) = v > 0 ? (low = min2(low, v), high = max2(high, v), 0) : 0
stats file using (note(number("issue_speedup")), note(number("estimated_speedup")), 0) nooutput
W = 1200; H = 600
eval open_output
set multiplot layout 1,2 title "ESTIMATED speed-up of SConv over Base on ".machine.", not measured; diamonds and quotes: measured in the paper" \
    margins 0.06, 0.985, 0.24, 0.80 spacing 0.07
eval put_what
set key at graph 0.5, 1.16 center top horizontal Left reverse maxrows 1 samplen 2
set boxwidth 0.35
most = 1; n_models = 0
note_most(v) = v > 0 ? (most = max2(most, v), 0) : 0
stats models using (note_most(number("issue_speedup")), note_most(number("estimated_speedup")), note_most(number("paper_speedup")), \
    n_models = n_models + (stringcolumn("model") ne "all"), 0) nooutput
# The sum of one model is that model.
shown(v) = n_models > 1 || stringcolumn("model") ne "all" ? v : NaN
set yrange [0:1.1 * most]
set xtics rotate by 45 right
set ylabel "cycles of Base / cycles of SConv"
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb "black"
set offsets 0.6, 0.6, 0, 0
plot models using ($0 - 0.18):(shown(number("issue_speedup"))) with boxes lc rgb colour_hitting title "all hit ".first_level, \
     models using ($0 + 0.18):(shown(number("estimated_speedup"))) with boxes lc rgb colour_waiting title "loads wait", \
     models using 0:(number("paper_speedup")) with points pt 13 ps 1.8 lc rgb colour_paper title "Table 2", \
     models using 0:(NaN):xticlabel(shown(1) == 1 ? tic_text(stringcolumn("model")) : "") notitle
unset label 99
unset offsets
won = ""; most = ""; pointwise_won = ""
stats models using (stringcolumn("model") eq "all" ? (won = stringcolumn("paper_won_percent"), most = stringcolumn("paper_max_speedup"), \
    pointwise_won = stringcolumn("paper_pointwise_won_percent"), 0) : 0) nooutput
set xtics norotate auto
set xrange [0:100]
set logscale y
low = low / 1.1; high = high * 1.6 # above: what the paper says
set yrange [low:high]
eval find_log_tics
eval "set ytics (".tics.")"
set xlabel "share of the layers, each curve sorted on its own [%]"
set ylabel ""
pointwise(c) = stringcolumn("layers") eq "pointwise" ? number(c) : NaN
every_layer(c) = stringcolumn("layers") eq "all" ? number(c) : NaN
if (strlen(won)) {
    set label 1 sprintf("paper, Figure 8%s: %s %% of the layers faster than Base, at most %s times;\nFigure 9%s: %s %% of the pointwise ones", \
        figure_letter, won, most, figure_letter, pointwise_won) at graph 0.03, graph 0.93 left tc rgb colour_paper font ",10"
}
plot file using (column("rank_percent")):(every_layer("estimated_speedup")) with lines lw 3 lc rgb colour_waiting title "loads wait", \
     file using (column("rank_percent")):(pointwise("estimated_speedup")) with lines lw 2 dt 2 lc rgb colour_waiting title "pointwise", \
     file using (column("rank_percent")):(every_layer("issue_speedup")) with lines lw 3 lc rgb colour_hitting title "all hit ".first_level, \
     file using (column("rank_percent")):(pointwise("issue_speedup")) with lines lw 2 dt 2 lc rgb colour_hitting title "pointwise"
unset multiplot
