# question Which analysis picks best?
# caption A row per ranking, a point per layer: the speed that the ranking's first variant loses against the layer's fastest variant. Points right of
# caption the line lose more than 5 %. The last two rows are no analysis at all, and the clock judged by itself
# draws rankings.csv: best_share
# reads totals.csv
load figures."/polydl_common.gp"
table = rankings_csv
# A net knows the times of layers that trained it: where there is a net, the held-out layers are drawn.
has_net = 0
if (totals_csv ne "") { stats totals_csv using (stringcolumn("ranking") eq "polydl_dnn" && stringcolumn("part") eq "held_out" ? (has_net = 1, 0) : 0, 0) nooutput }
part_name = has_net ? "held_out" : "convolutions"
there = ""; stats table using (one_thread(0) && !is_gemm(0) ? (there = with_word(there, stringcolumn("ranking")), 0) : 0, 0) nooutput
names = ""; do for [r in ranking_names] { if (index_in(there, r)) { names = with_word(names, r) } }; n_rows = words(names)
is_row(r) = stringcolumn("ranking") eq word(names, r) && one_thread(0) && !is_gemm(0) && (!has_net || stringcolumn("part") eq part_name)
x(dummy) = 100 - 100 * number("best_share"); row_title(r) = word(ranking_titles, index_in(ranking_names, word(names, r))); array Row_text[n_rows + 1]
do for [r = 1:n_rows] {
    near = NaN
    if (totals_csv ne "") { stats totals_csv using (stringcolumn("ranking") eq word(names, r) && stringcolumn("part") eq part_name && stringcolumn("model") eq "all" && one_thread(0) ? \
        (near = number("near_best_percent"), 0) : 0, 0) nooutput }
    Row_text[r] = near == near ? sprintf("%.0f %% of the layers within 5 %%", near) : ""
}
x_has = "0 5"; before_plot = 'set arrow 2 from 5, graph 0 to 5, graph 1 nohead lc rgb dark dt 2'
title_text = "Speed of each ranking's first variant, ".(has_net ? "convolutions that the net was not trained on" : "all convolutions").", one thread"
x_title(p) = "speed lost against the layer's fastest variant [%]"
load figures."/polydl_rows_common.gp"
