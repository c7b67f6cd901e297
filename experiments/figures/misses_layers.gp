# question The same for each layer and schedule, all tensors together
# caption Lines per 1000 multiply-adds, so that layers compare; a dot on the schedule that CSA chose
# draws classes.csv: misses of algo: $plain_algos
# hint CLASSES=3c makes some
# slots layers.csv: layer_index layer $shape_columns of macs: 120
load figures."/common.gp"; chosen_cells = " "
stats table using (column("chosen") == 1 ? (chosen_cells = chosen_cells.sprintf("%d:%s ", column("layer_index"), stringcolumn("algo")), 0) : 0, 0) nooutput
table = classes_csv
class_levels = "" # all levels of the machine, more than the three that columns name
stats table using (column("layer_index") > 0 && bar(0) ? (class_levels = with_word(class_levels, stringcolumn("level")), 0) : 0, 0) nooutput
n_panels = words(class_levels); n_parts = 3; is_mean = 0; panel_h = 190
bar(dummy) = stringcolumn("level") eq word(class_levels, p) ? index_in(bars, stringcolumn("algo")) : 0
misses(k) = k < 3 ? column(word("compulsory_misses capacity_misses", k)) : column("misses") - column("compulsory_misses") - column("capacity_misses")
part(k) = misses(k) / column("macs") * 1000 / word(slot_things, slot(0))
flag(dummy) = strstrt(chosen_cells, sprintf(" %d:%s ", column("layer_index"), stringcolumn("algo"))) > 0
# A bar's own colour is the middle part's; the other parts are half the way to white, and to black.
mix(c, i, k) = k == 2 ? int("0x".c[2 * i:2 * i + 1]) : (int("0x".c[2 * i:2 * i + 1]) + (k == 1 ? 255 : 0)) / 2
bar_colour(b, k) = sprintf("#%02x%02x%02x", mix(colour_of(word(bars, b)), 1, k), mix(colour_of(word(bars, b)), 2, k), mix(colour_of(word(bars, b)), 3, k))
title_text = sprintf("%s: missing lines per 1000 multiply-adds, layer by layer (%s)", model, layer_text); panel_title(p) = word(class_levels, p)
value_title(p) = "missing lines /\n1000 macs"
eval legend_of_bars; dummy = legend("chosen by CSA", "black", dot) + legend("from below: compulsory, capacity, conflict", dark, only_text)
dummy = note("Simulated: ".machine.", ".simulator.". A fully associative LRU cache of the same size would not have the conflict misses. ".slot_note)
load figures."/bars.gp"
