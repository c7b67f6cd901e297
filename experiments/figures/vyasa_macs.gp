# question How busy are the multipliers, with the paper's schedules and with the best ones?
# caption Bars: the model with the paper's schedule, and tuned; open diamonds: what the operations alone would allow; full ones: the geomeans that the
# caption paper prints for Table VI, Table VII and CONV3D, beside the model's geomean. Cycles are the model's.
# draws vyasa.csv: printed_rate tuned_rate operations_rate
# draws numbers.csv: printed
load figures."/style.gp"
# Rows: the workloads of each table behind the table's geomean, which stands in numbers.csv under the paper's figure.
tables = "VI VII CONV3D"; names = ""
stats vyasa_csv using (names = with_word(names, stringcolumn("table").":".stringcolumn("workload")), 0) nooutput
n_slots = 0; rows = ""
do for [t in tables] { rows = rows." ".t; do for [w in names] { if (w[1:strlen(t) + 1] eq t.":") { rows = rows." ".w } } }
n_slots = words(rows); n_panels = 2; n_columns = 2; is_rows = 1; n_bars = 2; n_passes = 3; W = 1200; gap_x = 30
mark_points = "open_diamond diamond"; mark_sizes = "1 1.5"; enter_panel = 'bits = p == 1 ? 16 : 32'; enter_pass = 'table = g < 3 ? vyasa_csv : numbers_csv'
table_of_figure(f) = f eq "Figure 10" ? "VI" : f eq "Figure 11" ? "VII" : f eq "Figure 13" ? "CONV3D" : ""
slot(dummy) = g < 3 ? (column("bits") == bits ? index_in(rows, stringcolumn("table").":".stringcolumn("workload")) : 0) : \
    stringcolumn("metric") eq sprintf("macs_per_cycle_geomean_%dbit", bits) ? index_in(rows, table_of_figure(stringcolumn("where"))) : 0
bar(dummy) = g < 3 ? g : 1; part(k) = g < 3 ? column(word("printed_rate tuned_rate", g)) : number("ours")
mark(m) = m == 1 ? (g == 2 ? column("operations_rate") : NaN) : g == 3 ? number("printed") : NaN
bar_colour(b, k) = b == 1 ? sky : blue; mark_colour(b, m) = m == 1 ? "#000000" : colour_paper; row_text(w) = strstrt(w, ":") ? w[strstrt(w, ":") + 1:*] : ""
slot_label(i) = row_text(word(rows, i)); heading(i) = strstrt(word(rows, i), ":") ? "" : (word(rows, i)[1:1] eq "V" ? "Table " : "").word(rows, i).", geomean"
title_text = "MACs per cycle of the model"; panel_title(p) = p == 1 ? "16 bits, peak 32" : "32 bits, peak 8"; value_title(p) = "MACs per model cycle"
dummy = legend("the paper's schedule", sky, square) + legend("tuned", blue, square) + legend("operations alone", "black", open_diamond) + legend("the paper's geomean", colour_paper, diamond)
load figures."/bars.gp"
