# question What would that make of the time?
# caption Estimates, not measurements: bars that ignore the memory, and that hide nothing of it. Where the paper has this machine, diamonds are its
# caption Table 2
# draws models.csv: issue_speedup estimated_speedup
load figures."/style.gp"
table = models_csv; chosen = word(total_algos, 2); models = ""; stats table using (models = with_word(models, stringcolumn("model")), 0) nooutput
# The sum of one model is that model.
n_slots = words(models); n_slots = n_slots == 2 && index_in(models, "all") == 2 ? 1 : n_slots
is_rows = 1; n_bars = 2; W = 1000; n_rules = 1; rule(i) = 1; text_room = 0.06
mark_points = "diamond"; mark_sizes = "1.6"; mark_colour(b, m) = colour_paper; n_passes = 2
slot(dummy) = index_in(models, stringcolumn("model")) <= n_slots ? index_in(models, stringcolumn("model")) : 0; bar(dummy) = g
part(k) = number(g == 1 ? "issue_speedup" : "estimated_speedup"); mark(m) = g == 2 ? number("paper_speedup") : NaN
bar_colour(b, k) = b == 1 ? sky : colour_of(chosen); bar_text(s, b, v) = sprintf("%.2f", v); slot_label(i) = word(models, i)
title_text = "ESTIMATED speed-up of SConv over Base on ".machine.", not measured"; value_title(p) = "cycles of Base / cycles of SConv"
dummy = legend("all loads hit ".first_level, sky, square) + legend("loads wait", colour_of(chosen), square) + legend("measured in the paper, Table 2", colour_paper, diamond)
load figures."/bars.gp"
