# question Are the simulated lines those that a real machine counted?
# caption A point per layer and algorithm, both in % of the measured loads; on the line they agree. Left: caches alone; right: the machine as its file
# caption has it
# draws simulated_vs_measured.csv: measured_percent_of_loads
# draws simulated_vs_measured.csv: caches_alone_percent_of_loads as_machine_percent_of_loads
load figures."/style.gp"; table = simulated_vs_measured_csv; quantities = "l1_lines_in_by_demand l1_lines_in l2_lines_in memory_lines_in"
counted = ""; stats table using (counted = with_word(counted, stringcolumn("algo")), 0) nooutput
algos = ""; do for [a in algo_names] { if (index_in(counted, a)) { algos = with_word(algos, a) } }
n_panels = 8; n_columns = 2; panel_h = 330; gap_y = 70; n_series = words(algos); x_log = 1; is_log = 1; is_square = 1
enter_panel = 'quantity = word(quantities, (p + 1) / 2); simulated = (p % 2 ? "caches_alone" : "as_machine")."_percent_of_loads"'
series(dummy) = stringcolumn("quantity") eq quantity ? index_in(algos, stringcolumn("algo")) : 0; x(dummy) = number("measured_percent_of_loads")
y(dummy) = number(simulated); array Symbol[6] = [open_square, circle, triangle, 10, open_diamond, cross]
point_of(s) = Symbol[(s - 1) % 6 + 1]; size_of(s) = 1.1; series_colour(s) = colour_of(word(algos, s)); series_title(s) = title_of(word(algos, s))
provenance = ""; n_references = 1; reference(i, x) = x; title_text = "Lines that the counters counted against simulated lines"
panel_title(p) = (p % 2 ? "caches alone: lines " : "as the machine is: lines ").word("'into L1, by demand' 'into L1, all' 'into L2' 'from memory'", (p + 1) / 2)
x_title(p) = "measured [% of loads]"; value_title(p) = "simulated [% of measured loads]"; eval legend_of_series
dummy = note("One point per layer and algorithm, in % of the measured loads. On the line both agree; above the line too many lines are simulated. Zero, which a \
logarithmic axis cannot show, stands at the edge marked 0. Left: LRU caches that fetch what is asked for and no more, the paper's view; right: the machine \
as its file has it. Lines were ".what.".")
load figures."/points.gp"
