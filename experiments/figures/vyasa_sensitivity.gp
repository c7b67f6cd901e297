# question What would the numbers be if the core were a little different?
# caption Table VI in 16 bits. Lines: with the usual parameters. The idle cycles are the only fitted ones, and nothing tuned has any. Cycles are the
# caption model's.
# draws sensitivity.csv: printed_vi_16 tuned_vi_16
# hint VARY=1 makes some
load figures."/style.gp"; table = sensitivity_csv; array Usual[2]
row_name(dummy) = column(0) == 0 ? "the usual parameters" : stringcolumn("parameter")." = ".sprintf("%g", column("value")); eval find_rows
stats table using (column(0) == 0 ? (Usual[1] = column("printed_vi_16"), Usual[2] = column("tuned_vi_16"), 0) : 0, 0) nooutput
is_rows = 1; n_parts = 0; n_rules = 2; W = 900
mark_points = "circle dot"; mark_sizes = "1.2 1"; array Rule_colour[2] = [sky, blue]; array Rule_dash[2] = [2, 2]
mark(m) = column(m == 1 ? "printed_vi_16" : "tuned_vi_16"); rule(i) = Usual[i]; mark_colour(b, m) = m == 1 ? sky : blue
title_text = "Geomean of Table VI, 16 bits, with other parameters"; value_title(p) = "MACs per model cycle"
dummy = legend("the paper's schedules", sky, circle) + legend("tuned", blue, dot)
load figures."/bars.gp"
