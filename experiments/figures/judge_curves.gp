# question On how many layers is SConv faster, and by how much?
# caption Estimates, not measurements, each curve sorted on its own; dashed: the pointwise layers. Where the paper has this machine, a line above the
# caption curves says what its figures say
# draws speedups.csv: issue_speedup estimated_speedup
# reads models.csv
load figures."/style.gp"; table = speedups_csv; chosen = word(total_algos, 2); won = ""; most = ""; pointwise_won = ""
if (models_csv ne "") { stats models_csv using (stringcolumn("model") eq "all" ? (won = stringcolumn("paper_won_percent"), most = stringcolumn("paper_max_speedup"), \
    pointwise_won = stringcolumn("paper_pointwise_won_percent"), 0) : 0, 0) nooutput }
n_series = 4; n_passes = 4; series(dummy) = stringcolumn("layers") eq (g % 2 ? "all" : "pointwise") ? g : 0; x(dummy) = column("rank_percent")
y(dummy) = number(g < 3 ? "estimated_speedup" : "issue_speedup")
point_of(s) = 0; line_of(s) = s % 2 ? 1 : 2; width_of(s) = s % 2 ? 3 : 2; series_colour(s) = s < 3 ? colour_of(chosen) : sky
series_title(s) = (s < 3 ? "loads wait" : "all loads hit ".first_level).(s % 2 ? "" : ", pointwise layers")
W = 1000; panel_h = 380; is_log = 1; limits = "0:100"; y_has = "1"; n_rules = 1; rule(i) = 1
title_text = "ESTIMATED speed-up of SConv over Base on ".machine.", layer by layer, not measured"
if (strlen(won)) { subtitle_text = sprintf("paper, Figure 8%s: %s %% of the layers faster than Base, at most %s times; Figure 9%s: %s %% of the pointwise ones", \
    figure_letter, won, most, figure_letter, pointwise_won) }
x_title(p) = "share of the layers, each curve sorted on its own [%]"; value_title(p) = "cycles of Base / cycles of SConv"; eval legend_of_series
load figures."/points.gp"
