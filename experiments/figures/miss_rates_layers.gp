# question The same for each layer and schedule
# caption Bars are simulated; a dot stands on the schedule that CSA chose. Where this computer has counters, circles are measured
# draws layers.csv: simulated_l1_miss_percent measured_l1_load_misses of algo: $plain_algos
# slots layers.csv: layer_index layer $shape_columns of macs: 120
load figures."/common.gp"; missing_in = "measured_l1_load_misses"; eval find_reasons; n_measured = 0
stats table using (n_measured = n_measured + (!is_missing(stringcolumn(missing_in)) && column("measured_loads") > 0), 0) nooutput
n_panels = 2 * words(levels); mark_points = "circle"; enter_panel = 'l = (p + 1) / 2; by_work = p % 2 == 0'
part(k) = by_work ? 1000.0 * column(sprintf("simulated_l%d_load_misses", l)) / column("macs") : column(sprintf("simulated_l%d_miss_percent", l))
mark(m) = (by_work ? 1000.0 / column("macs") : 100.0 / column("measured_loads")) * column(sprintf("measured_l%d_load_misses", l)); flag(dummy) = is_chosen(0)
title_text = sprintf("%s: cache misses, layer by layer (%s)", model, layer_text)
panel_title(p) = level_name((p + 1) / 2).": load misses ".(p % 2 ? "in % of all loads" : "per 1000 multiply-adds")
value_title(p) = p % 2 ? "misses /\nloads [%]" : "misses /\n1000 macs"
eval legend_of_bars; dummy = legend("chosen by CSA", "black", dot); dummy = legend(n_measured ? "measured" : "", "black", circle)
dummy = note("Simulated (bars): ".machine.", ".simulator.". ".slot_note)
dummy = note("Measured".(n_measured ? " (circles): " : ": ").measured_by(n_measured).".")
dummy = note("Algorithms make different numbers of loads, by which rates divide: misses per 1000 multiply-adds compare algorithms.")
load figures."/bars.gp"
