# The paper's Figures 8 and 9: speed-ups over Base, sorted, x86 left and POWER10 right. paper_figure8.gp and paper_figure9.gp set wanted_layers,
# best_metric and won_metric (what the paper prints of its curve) and title_text.
load figures."/paper_common.gp"
series_csv = speedups_csv
# Our other SConvs only where a clock tells them apart.
is_shown(dummy) = stringcolumn("layers") eq wanted_layers && !is_parts(stringcolumn("view")) && (stringcolumn("algo") eq paper_algo || \
    (stringcolumn("view") eq "here" && index_in("sconv sconv_tuned", stringcolumn("algo"))))
eval find_series

array Shade[8] = ["#009e73", "#0072b2", "#e69f00", "#cc79a7", "#56b4e9", "#882255", "#000000", "#999933"]
dash(i) = Algo[i] eq paper_algo ? 1 : 2
most_rows = 0
do for [i = 1:n_series] { most_rows = max2(most_rows, Rows[i]) }
label_of(i) = Heading[i].(View[i] eq "here" ? ": ".title_of(Algo[i]) : "").(Rows[i] < most_rows ? sprintf(", %d of %d convolutions", Rows[i], most_rows) : "")
W = 1280
eval wrap_what
n_keys = 0
do for [a in "x86 P10"] { n_keys = max2(n_keys, has_arch(a)) }
top = 70; panel = 420; key_height = 20 * n_keys + 24
H = top + panel + 50 + key_height + foot_lines * foot_line
eval open_output
set label 98 title_text at screen 0.5, screen 1 - title_line / (1.0 * H) center front font ",14"
eval put_foot
set multiplot
set xrange [0:100]
# Quotients, so a logarithmic axis: half and twice are as far from 1. Every curve and diamond is on it.
low = 0.5; high = 2.5
note(v) = v > 0 ? (low = min2(low, v), high = max2(high, v), 0) : 0
stats series_csv using (is_shown(0) && this_series(0) ? note(number("speedup")) : 0, 0) nooutput
do for [arch in "x86 P10"] { eval published(best_metric, arch); high = max2(high, found) }
low = low / 1.1; high = high * 1.1
set logscale y
set yrange [low:high]
eval find_log_tics
eval "set ytics (".tics.")"
set tmargin at screen 1 - top / (1.0 * H)
set bmargin at screen 1 - (top + panel) / (1.0 * H)
set xlabel "share of the convolutions, each curve sorted on its own [%]"
set ylabel "time of Base / time of SConv"
do for [k = 1:2] {
    arch = word("x86 P10", k)
    set lmargin at screen (k == 1 ? 70.0 : W / 2 + 60.0) / W
    set rmargin at screen (k == 1 ? W / 2 - 20.0 : W - 20.0) / W
    set key at screen (k == 1 ? 70.0 : W / 2 + 60.0) / W, screen (foot_lines * foot_line + key_height - 8) / (1.0 * H) left top Left reverse samplen 3
    set label 90 (k == 1 ? "x86 (a)" : "POWER10 (b)") at screen (k == 1 ? 0.28 : 0.76), screen 1 - 50.0 / H center
    eval published(best_metric, arch)
    best = found
    eval published(won_metric, arch)
    won = found
    set arrow 1 from 0, 1 to 100, 1 nohead lc rgb "black"
    colour = 0
    array Colour_of[max_series]
    do for [i = 1:n_series] { if (Arch[i] eq arch) { colour = colour % 8 + 1; Colour_of[i] = colour } else { Colour_of[i] = 1 } }
    array Point[3] # the first is taken for a header
    plot for [i = 1:n_series] series_csv using \
            (Arch[i] eq arch && is_series(i) && stringcolumn("layers") eq wanted_layers ? 100.0 * column("rank") / Rows[i] : NaN):(column("speedup")) \
            with lines lw (View[i] eq "here" ? 3 : 2) dt dash(i) lc rgb Shade[Colour_of[i]] \
            title (Arch[i] eq arch ? label_of(i) : ""), \
        Point using ($1 == 2 ? 100 : 100 - won):($1 == 2 ? best : 1) with points pt diamond ps 2 lc rgb colour_paper \
            title sprintf("paper: at most %.2f, faster in %.0f %%", best, won)
    unset label 98; unset label 97
}
unset multiplot
