# The paper's Figure 10: where the time of each model's convolutions goes, Base left and SConv right of each pair; a row of bars per source.
# question Where does the time go?
# caption Two bars per model, a row per source; estimates do not tell the micro-kernel from the rest
# draws models.csv: base_packing_percent
# reads numbers.csv
load figures."/paper_common.gp"
series_csv = models_csv
is_shown(dummy) = stringcolumn("algo") eq paper_algo && !is_parts(stringcolumn("view")) && number("base_packing_percent") == number("base_packing_percent")
eval find_series
last = 0; has_kernel = 0; has_rest = 0
is_known(c) = number(c) == number(c)
stats series_csv using (last = max2(last, column("model_index")), \
    is_shown(0) && is_known("base_kernel_percent") ? (has_kernel = 1) : 0, is_shown(0) && !is_known("base_kernel_percent") ? (has_rest = 1) : 0, 0) nooutput

W = 1000
eval wrap_what
head = 92; panel = 190; gap = 58
H = head + n_series * (panel + gap) + foot_lines * foot_line
eval open_output
title_text = "Figure 10: where the time of the convolutions goes"
subtitle_text = "left bar: Base; right bar: SConv (OpenBLAS's micro-kernel)"
eval put_head
legend_point = square
legend_text = "im2col and packing"; legend_colour = "#d55e00"; eval put_legend
if (has_kernel) {
    legend_text = "micro-kernel"; legend_colour = "#56b4e9"; eval put_legend
    legend_text = "others"; legend_colour = "#bbbbbb"; eval put_legend
}
if (has_rest) { legend_text = "micro-kernel and others"; legend_colour = "#a8c8dc"; eval put_legend }
legend_text = "paper: packing"; legend_point = diamond; legend_colour = "black"; eval put_legend
eval put_foot
set multiplot
unset key
set boxwidth 0.36 absolute
set xrange [0.4:last + 0.6]
set yrange [0:101] # shares that were rounded
set ylabel "share of the time [%]"
set lmargin at screen 80.0 / W
set rmargin at screen 1 - 20.0 / W
x_of(side) = column("model_index") + 0.2 * side
kernel(c) = number(c) == number(c) ? number(c) : NaN
array Point[3] # the first is taken for a header
do for [i = 1:n_series] {
    y0 = head + (i - 1) * (panel + gap)
    set tmargin at screen 1 - (y0 + 14) / (1.0 * H)
    set bmargin at screen 1 - (y0 + panel) / (1.0 * H)
    set label 90 Heading[i] at screen 0.5, screen 1 - (y0 + 4) / (1.0 * H) center
    set xtics ("" 0)
    set xtics scale 0
    stats series_csv using (is_series(i) && stringcolumn("model") ne "" ? \
        (m = column("model_index"), name = stringcolumn("model"), 0) : 0, 0) nooutput
    do for [slot = 1:last] {
        name = ""
        stats series_csv using (is_series(i) && column("model_index") == slot ? (name = short_model(stringcolumn("model")), 0) : 0, 0) nooutput
        set xtics add (tic_text(name) slot)
    }
    eval published("base_packing_share_percent_avg", Arch[i])
    base_paper = found
    eval published("sconv_packing_share_percent_avg", Arch[i])
    own_paper = found
    one(v) = is_series(i) ? v : NaN
    plot series_csv using (one(x_of(-1))):(number("base_kernel_percent") == number("base_kernel_percent") ? 100 : NaN) with boxes fc rgb "#bbbbbb", \
        series_csv using (one(x_of(1))):(number("kernel_percent") == number("kernel_percent") ? 100 : NaN) with boxes fc rgb "#bbbbbb", \
        series_csv using (one(x_of(-1))):(number("base_kernel_percent") == number("base_kernel_percent") ? NaN : 100 + 0 * number("base_packing_percent")) with boxes fc rgb "#a8c8dc", \
        series_csv using (one(x_of(1))):(number("kernel_percent") == number("kernel_percent") ? NaN : 100 + 0 * number("packing_percent")) with boxes fc rgb "#a8c8dc", \
        series_csv using (one(x_of(-1))):(number("base_packing_percent") + number("base_kernel_percent")) with boxes fc rgb "#56b4e9", \
        series_csv using (one(x_of(1))):(number("packing_percent") + number("kernel_percent")) with boxes fc rgb "#56b4e9", \
        series_csv using (one(x_of(-1))):(number("base_packing_percent")) with boxes fc rgb "#d55e00", \
        series_csv using (one(x_of(1))):(number("packing_percent")) with boxes fc rgb "#d55e00", \
        Point using (last - 0.2 + 0.4 * ($1 - 2)):($1 == 2 ? base_paper : own_paper) with points pt diamond ps 1.6 lc rgb "black"
    eval drop_head
    unset label 97
}
unset multiplot
