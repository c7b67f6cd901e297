# The paper's Figures 8 and 9: speed-ups over Base, sorted, x86 left and POWER10 right. paper_figure8.gp and paper_figure9.gp set wanted_layers,
# best_metric and won_metric (what the paper prints of its curve) and title_text.
table = speedups_csv
# Our other SConvs are drawn only where a clock tells them apart.
is_shown(dummy) = stringcolumn("layers") eq wanted_layers && !is_parts(stringcolumn("view")) && (stringcolumn("algo") eq paper_algo || \
    (stringcolumn("view") eq "here" && index_in("sconv sconv_tuned", stringcolumn("algo"))))
eval find_views; most_rows = 0; do for [i = 1:n_views] { most_rows = max2(most_rows, Rows_in[i]) }
n_panels = 2; n_columns = 2; n_series = max2(n_views, 1); W = 1200; panel_h = 400; is_log = 1; limits = "0:100"; y_has = "0.5 1 2.5"; n_rules = 1; rule(i) = 1
arch(p) = p == 1 ? "x86" : "P10"
series(dummy) = is_shown(0) && stringcolumn("arch") eq arch(p) ? this_view(0) : 0; x(dummy) = 100.0 * column("rank") / Rows_in[max2(this_view(0), 1)]
y(dummy) = column("speedup"); point_of(s) = 0; line_of(s) = Algo[s] eq paper_algo ? 1 : 2; width_of(s) = View[s] eq "here" ? 3 : 2
series_colour(s) = word("#009e73 #0072b2 #e69f00 #cc79a7 #56b4e9 #882255 #000000 #999933 #117733 #aa4499", (s - 1) % 10 + 1)
# The paper's largest speed-up, and where its curve crosses 1.
array Best[2]; array Won[2]
do for [k = 1:2] {
    eval published(best_metric, arch(k)); Best[k] = found; y_has = y_has.(found == found ? sprintf(" %g", found) : "")
    eval published(won_metric, arch(k)); Won[k] = found
}
put_paper = 'set label %d "" at %g, %g point pt diamond ps 2 lc rgb colour_paper front'
before_plot = 'unset label 21; unset label 22; \
if (Best[p] == Best[p]) { eval sprintf(put_paper, 21, 100, Best[p]) }; if (Won[p] == Won[p]) { eval sprintf(put_paper, 22, 100 - Won[p], 1) }'
panel_title(p) = (p == 1 ? "x86 (a)" : "POWER10 (b)").(Best[p] == Best[p] ? sprintf("; diamonds: the paper, at most %.2f, faster in %.0f %%", Best[p], Won[p]) : "")
x_title(p) = "share of the convolutions, each curve sorted on its own [%]"; value_title(p) = "time of Base / time of SConv"
do for [i = 1:n_views] { dummy = legend(Heading[i].(View[i] eq "here" ? ": ".title_of(Algo[i]) : "").(Rows_in[i] < most_rows ? sprintf(", %d of %d convolutions", Rows_in[i], most_rows) : ""), series_colour(i), -line_of(i)) }
load figures."/points.gp"
