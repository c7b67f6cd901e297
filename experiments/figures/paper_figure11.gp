# question How many loads miss in each level?
# caption A row per source, a panel per level; above the panel, both rates of the geometric mean, and how many times as many misses Base has. A
# caption diamond: the paper's average of seven models
# draws models.csv: base_l1_miss_percent
# reads numbers.csv
load figures."/paper_common.gp"; table = models_csv
# Cold beside the real caches would repeat other views; the page's tables have these rows.
rows = "clx4208_cold clx4208_network real_network_alone real_network zen3 power10_network power10_observed"
is_shown(dummy) = stringcolumn("algo") eq paper_algo && index_in(rows, stringcolumn("view")) && number("base_l1_miss_percent") == number("base_l1_miss_percent")
eval find_views; eval find_models
n_columns = 3; n_panels = 3 * n_views; n_bars = 2; n_passes = 2; W = 1200; panel_h = 140; gap_y = 62; title_lines = 2; gap_x = 44; left = 70
mark_points = "diamond"; mark_sizes = "1.5"; mark_colour(b, m) = colour_paper; enter_panel = 'view = (p + 2) / 3; l = (p - 1) % 3 + 1'
slot(dummy) = this_view(0) == view ? column("model_index") : 0; bar(dummy) = g
part(k) = number(sprintf(g == 1 ? "base_l%d_miss_percent" : "l%d_miss_percent", l)); bar_colour(b, k) = colour_of(b == 1 ? "base" : paper_algo)
# The paper's rates of the first level, and its quotients.
array Paper[2] = [NaN, NaN]
do for [g = 1:2] { eval published(word("base_l1_hit_percent_of_loads sconv_l1_hit_percent_of_loads", g), "x86"); Paper[g] = 100 - found }
mark(m) = l == 1 && Arch[view] eq "x86" && column("model_index") == n_slots ? Paper[g] : NaN
# Above each panel: the last slot's rates, that is the geometric mean's, and their quotient.
array Above[n_panels + 1]
do for [p = 1:n_panels] {
    eval enter_panel; base_mean = NaN; own_mean = NaN; ratio = NaN; models = 0
    stats table using (this_view(0) == view && column("model_index") == n_slots ? (base_mean = number(sprintf("base_l%d_miss_percent", l)), own_mean = number(sprintf("l%d_miss_percent", l)), \
        ratio = number(sprintf("l%d_miss_ratio", l)), models = column("models"), 0) : 0, 0) nooutput
    eval published(word("l1_miss_improvement l2_miss_improvement_avg l3_miss_improvement_avg", l), Arch[view])
    Above[p] = (l == 1 ? Heading[view].(models < n_slots - 1 ? sprintf(", mean of %d", models) : "") : "")."\n".sprintf("L%d: ", l).(ratio == ratio ? sprintf("%.3g / %.3g %%; misses × %.2f", base_mean, own_mean, ratio) : "not counted"). \
        (found == found && Arch[view] eq "x86" ? sprintf(" (paper %.1f)", found) : "")
}
panel_title(p) = Above[p]; value_title(p) = "% of loads"; title_text = "Figure 11: cache misses, in % of all loads"
subtitle_text = "the last pair of bars is the geometric mean; above: its rates, Base / SConv, and how many times as many misses Base has"
dummy = legend("Base", bar_colour(1, 1), square) + legend("SConv, OpenBLAS's micro-kernel", bar_colour(2, 1), square) + \
    legend("paper, average of seven models (x86, counted)", colour_paper, diamond)
load figures."/bars.gp"
