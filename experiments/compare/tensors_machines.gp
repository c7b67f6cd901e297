# question Whose lines miss in which level, on which machine?
# caption A bar per algorithm or library, of pieces for the tensors that its missing lines belong to. Bars of one level have one scale on all
# caption machines. The workspace is all memory of a library's own
# draws tensors.csv: misses_per_1000_macs
load figures."/style.gp"; table = tensors_csv; tensors = "input filter output packed_input packed_filter im2col workspace"; n_parts = words(tensors)
machines = ""; all_levels = ""; algos = ""; models = ""; n_layers = 0
stats table using (machines = with_word(machines, stringcolumn("machine")), all_levels = with_word(all_levels, stringcolumn("level")), \
    algos = with_word(algos, stringcolumn("algo")), models = with_word(models, stringcolumn("model")), n_layers = max2(n_layers, column("layers")), 0) nooutput
n_columns = words(machines); n_panels = n_columns * words(all_levels); n_slots = words(algos); is_rows = 1; gap_x = 26; W = max2(800, 240 + 300 * n_columns)
enter_panel = 'machine = word(machines, (p - 1) % n_columns + 1); level = word(all_levels, (p - 1) / n_columns + 1)'
slot(dummy) = stringcolumn("level") eq level && stringcolumn("machine") eq machine ? index_in(algos, stringcolumn("algo")) : 0
part(k) = column(word(tensors, k)); bar_colour(b, k) = word(blue." ".green." ".vermilion." ".sky." #88ccaa ".orange." ".grey, k)
shares_scale(p, q) = (p - 1) / n_columns == (q - 1) / n_columns; slot_label(i) = title_of(word(algos, i))
title_text = sprintf("%s: whose lines miss, per 1000 multiply-adds", models)
subtitle_text = sprintf("simulated; sums over %d layers%s", n_layers, words(models) > 1 ? " at most" : "")
panel_title(p) = word(machines, (p - 1) % n_columns + 1).", ".word(all_levels, (p - 1) / n_columns + 1); value_title(p) = "lines per 1000 multiply-adds"
do for [k = 1:n_parts] { dummy = legend(word(tensors, k), bar_colour(1, k), square) }
load figures."/bars.gp"
