# question Does PolyDL pick better than HayStack? (its Figure 15)
# caption A point per layer; layers right of 1 say so
# draws picks.csv: pick_haystack
# reads printed.csv
load figures."/polydl_common.gp"; table = picks_csv; names = "polydl polydl_dnn"; n_rows = 2
is_row(r) = one_thread(0) && !is_gemm(0); x(dummy) = number("pick_".word(names, g)) / number("pick_haystack")
row_title(r) = word(ranking_titles, index_in(ranking_names, word(names, r))); array Row_text[2]
do for [g = 1:2] {
    sum_of = 0; n = 0; stats table using (is_row(g) && x(0) == x(0) ? (sum_of = sum_of + x(0), n = n + 1, 0) : 0, 0) nooutput
    f = "Figure 15"; c = word(names, g)."_vs_haystack"; eval find_printed
    Row_text[g] = (n ? sprintf("mean %.3f", sum_of / n) : "no picks").of_paper(printed)
}
x_log = 1; x_has = "1"; before_plot = 'set arrow 2 from 1, graph 0 to 1, graph 1 nohead lc rgb dark dt 2'
title_text = "Speed of the pick over that of HayStack's pick, all convolutions, one thread (PolyDL's Figure 15)"
x_title(p) = "speed of the pick / speed of HayStack's pick"
load figures."/polydl_rows_common.gp"
