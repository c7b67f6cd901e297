# The paper's Figure 11: load misses of each level, in % of all loads, Base and SConv; a row of panels per source.
# question How many loads miss in each level?
# caption A row per source, a panel per level; above the panel, both rates of the geometric mean, and how many times as
# caption many misses Base has
# draws models.csv: base_l1_miss_percent
# reads numbers.csv
load figures."/paper_common.gp"
series_csv = models_csv
# Cold beside the real caches would repeat what the others show; the page's tables have it.
rows = "clx4208_cold clx4208_network real_network_alone real_network zen3 power10_network power10_observed"
is_shown(dummy) = stringcolumn("algo") eq paper_algo && index_in(rows, stringcolumn("view")) && \
    number("base_l1_miss_percent") == number("base_l1_miss_percent")
eval find_series
last = 0
stats series_csv using (last = max2(last, column("model_index")), 0) nooutput

W = 1500
eval wrap_what
head = 92; panel = 200; gap = 58
H = head + n_series * (panel + gap) + foot_lines * foot_line
eval open_output
title_text = "Figure 11: cache misses, in % of all loads"
subtitle_text = "the last pair is the geometric mean, beside which the paper's average stands; above: its rates, Base / SConv, and how many times as many misses Base has"
eval put_head
legend_point = square
legend_text = "Base"; legend_colour = colour_of("base"); eval put_legend
legend_text = "SConv, OpenBLAS's micro-kernel"; legend_colour = colour_of(paper_algo); eval put_legend
legend_text = "paper, average of seven models (x86, counted)"; legend_point = diamond; legend_colour = colour_paper; eval put_legend
eval put_foot
set multiplot
unset key
set boxwidth 0.36 absolute
set xrange [0.4:last + 0.6]
left = 110; space = 56; width = (W - left - 20 - 2 * space) / 3.0
array Point[3] # the first is taken for a header
# A mean over fewer models says so.
mean_name(name) = name eq "Geo Mean" && column("models") < last - 1 ? sprintf("Mean of %d", column("models")) : name
ratio_metrics = "l1_miss_improvement l2_miss_improvement_avg l3_miss_improvement_avg"
do for [i = 1:n_series] {
    y0 = head + (i - 1) * (panel + gap)
    set label 91 Heading[i] at screen 0.5, screen 1 - (y0 + 4) / (1.0 * H) center font ",12"
    set tmargin at screen 1 - (y0 + 40) / (1.0 * H)
    set bmargin at screen 1 - (y0 + panel) / (1.0 * H)
    do for [l = 1:3] {
        x0 = left + (l - 1) * (width + space)
        set lmargin at screen x0 / W
        set rmargin at screen (x0 + width) / W
        set xtics ("" 0) rotate by 40 right scale 0 font ",9"
        ratio = NaN; most = NaN; base_mean = NaN; own_mean = NaN
        base_column = sprintf("base_l%d_miss_percent", l); own_column = sprintf("l%d_miss_percent", l); ratio_column = sprintf("l%d_miss_ratio", l)
        do for [slot = 1:last] {
            name = ""
            stats series_csv using (is_series(i) && column("model_index") == slot ? \
                (name = mean_name(short_model(stringcolumn("model"))), base_mean = number(base_column), own_mean = number(own_column), most = max2(most, max2(number(base_column), number(own_column))), \
                ratio = number(ratio_column), 0) : 0, 0) nooutput
            set xtics add (tic_text(name) slot)
        }
        paper_base = NaN; paper_own = NaN; paper_ratio = NaN
        if (Arch[i] eq "x86") {
            eval published(word(ratio_metrics, l), "x86")
            paper_ratio = found
            if (l == 1) {
                eval published("base_l1_hit_percent_of_loads", "x86")
                paper_base = 100 - found
                eval published("sconv_l1_hit_percent_of_loads", "x86")
                paper_own = 100 - found
            }
        }
        set label 90 sprintf("L%d: ", l).(ratio == ratio ? sprintf("%.3g / %.3g %%; misses × %.2f", base_mean, own_mean, ratio) : "not counted"). \
            (paper_ratio == paper_ratio ? sprintf(" (paper %.1f)", paper_ratio) : "") at screen (x0 + width / 2) / W, screen 1 - (y0 + 26) / (1.0 * H) center
        top_of = max2(max2(most, paper_base), 0.01) * 1.08
        set yrange [0:top_of]
        one(v) = is_series(i) ? v : NaN
        # What was not counted has no axes.
        if (most != most) { set yrange [0:1]; unset ytics; unset xtics; set border 0; unset grid } \
        else { set ytics nomirror; set border 3 lc rgb "#404040"; set grid ytics lt 1 lc rgb "#e0e0e0" lw 1 }
        plot series_csv using (one(column("model_index") - 0.2)):(number(base_column)) with boxes fc rgb colour_of("base"), \
            series_csv using (one(column("model_index") + 0.2)):(number(own_column)) with boxes fc rgb colour_of(paper_algo), \
            Point using (last - 0.2 + 0.4 * ($1 - 2)):($1 == 2 ? paper_base : paper_own) with points pt diamond ps 1.6 lc rgb colour_paper
        eval drop_head
        unset label 97; unset label 91
    }
}
unset multiplot
