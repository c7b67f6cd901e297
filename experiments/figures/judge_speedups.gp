# question What would that make of the time?
# caption Estimates, not measurements: bars that ignore the memory, and that hide nothing of it. Where the paper has this machine, diamonds are its
# caption Table 2
# draws models.csv: issue_speedup estimated_speedup
load figures."/style.gp"; table = models_csv; chosen = word(total_algos, 2); row_name(dummy) = stringcolumn("model"); eval find_rows
if (n_slots == 2) { n_slots = Name[2] eq "all" ? 1 : 2 } # the sum of one model is that model
is_rows = 1; n_bars = 2; W = 1000; n_rules = 1; rule(i) = 1; text_room = 0.06
mark_points = "diamond"; mark_sizes = "1.6"; mark_colour(b, m) = colour_paper; n_passes = 2
slot(dummy) = int(column(0)) < n_slots ? int(column(0)) + 1 : 0; bar(dummy) = g
part(k) = number(g == 1 ? "issue_speedup" : "estimated_speedup"); mark(m) = g == 2 ? number("paper_speedup") : NaN
bar_colour(b, k) = b == 1 ? sky : colour_of(chosen); bar_text(s, b, v) = sprintf("%.2f", v)
title_text = "ESTIMATED speed-up of SConv over Base on ".machine.", not measured"; value_title(p) = "cycles of Base / cycles of SConv"
dummy = legend("all loads hit ".first_level, sky, square) + legend("loads wait", colour_of(chosen), square) + legend("measured in the paper, Table 2", colour_paper, diamond)
load figures."/bars.gp"
