# question Which analysis picks best?
# caption A row per ranking, a point per layer: the speed that the ranking's first variant loses against the layer's fastest variant. Points right of the
# caption line lose more than 5 %. The last two rows are no analysis at all, and the clock judged by itself
# draws picks.csv: best
load figures."/polydl_common.gp"; table = picks_csv; has_net = 0; names = ""
# A net knows the times of layers that trained it: where there is a net, the held-out layers are drawn.
stats table using (number("pick_polydl_dnn") > 0 && stringcolumn("part") eq "held_out" ? (has_net = 1, 0) : 0, 0) nooutput
is_row(r) = one_thread(0) && !is_gemm(0) && (!has_net || stringcolumn("part") eq "held_out"); lost(r) = 100 - 100 * number("pick_".r) / number("best")
do for [r in ranking_names] { stats table using (is_row(0) && lost(r) == lost(r) ? (names = with_word(names, r), 0) : 0, 0) nooutput }
n_rows = words(names); x(dummy) = lost(word(names, g)); row_title(r) = word(ranking_titles, index_in(ranking_names, word(names, r))); array Row_text[n_rows + 1]
do for [g = 1:n_rows] {
    n = 0; near = 0; stats table using (is_row(0) && x(0) == x(0) ? (n = n + 1, near = near + (x(0) <= 5), 0) : 0, 0) nooutput
    Row_text[g] = sprintf("%.0f %% within 5 %%", 100.0 * near / n)
}
x_has = "0 5"; before_plot = 'set arrow 2 from 5, graph 0 to 5, graph 1 nohead lc rgb dark dt 2'
title_text = "Speed of each ranking's first variant, ".(has_net ? "convolutions that the net was not trained on" : "all convolutions").", one thread"
x_title(p) = "speed lost against the layer's fastest variant [%]"
load figures."/polydl_rows_common.gp"
