# question Which tensor's lines miss in each level, and why?
# caption A row per tensor: compulsory misses cannot be avoided, capacity misses ask for smaller tiles, conflict misses for another layout
# draws classes.csv: misses of algo: $plain_algos
# hint CLASSES=3c makes some
# slots layers.csv: layer_index layer $shape_columns
load figures."/common.gp"
# The layers that CSA chooses each schedule for.
n_choices = 0; choices = ""; in_layers = ""
do for [a in member_algos] {
    n = 0; stats table using (algo_is(a) ? (n = n + is_chosen(0), 0) : 0, 0) nooutput
    n_choices = n_choices + n; choices = choices.(strlen(choices) ? ", " : "").sprintf("%s for %d", word(title_of(a), words(title_of(a))), n)
}
stats table using (in_layers = with_word(in_layers, stringcolumn("algo")), 0) nooutput
# Rows: each algorithm, and below it the tensors with misses. Algorithms that simulated only some of the layers are left out.
table = classes_csv; tensors = "input im2col packed_input filter packed_filter output workspace"; class_levels = ""; seen = ""; rows = ""; left_out = ""
row_of(dummy) = stringcolumn("algo").":".stringcolumn("tensor"); is_drawn(dummy) = column("layer_index") == 0 && index_in(tensors, stringcolumn("tensor"))
stats table using (is_drawn(0) ? (seen = with_word(seen, row_of(0)), class_levels = with_word(class_levels, stringcolumn("level")), 0) : 0, 0) nooutput
do for [a in plain_algos] {
    of_algo = ""; do for [t in tensors] { of_algo = of_algo.(index_in(seen, a.":".t) ? " ".a.":".t : "") }
    if (of_algo ne "") { rows = rows." ".a.of_algo } else { left_out = left_out.(index_in(in_layers, a) ? (left_out eq "" ? "" : ", ").title_of(a) : "") }
}
is_rows = 1; n_parts = 3; n_bars = 1; is_mean = 0; n_panels = words(class_levels); n_columns = n_panels; gap_x = 30; W = 1200; n_slots = words(rows)
slot(dummy) = is_drawn(0) && stringcolumn("level") eq word(class_levels, p) ? index_in(rows, row_of(0)) : 0; bar(dummy) = 1
part(k) = (k < 3 ? column(word("compulsory_misses capacity_misses", k)) : column("misses") - column("compulsory_misses") - column("capacity_misses")) / 1e6
bar_colour(b, k) = word(sky." ".blue." ".vermilion, k); slot_label(i) = strstrt(word(rows, i), ":") ? word(rows, i)[strstrt(word(rows, i), ":") + 1:*] : ""
heading(i) = strstrt(word(rows, i), ":") ? "" : title_of(word(rows, i))
title_text = sprintf("%s: missing lines by tensor and kind of miss (%s)", model, layer_text)
panel_title(p) = word(class_levels, p); value_title(p) = "missing lines [millions]"
do for [k = 1:3] { dummy = legend(word("compulsory capacity conflict", k), bar_colour(1, k), square) }
dummy = legend(n_choices ? "CSA chooses ".choices." of these layers" : "", dark, only_text)
dummy = note(left_out eq "" ? "" : "Not here, because only some of the layers were simulated: ".left_out.".")
dummy = note("Simulated: ".machine.", ".simulator.". Misses are line reads and writes that a level did not have. Compulsory: the line was never asked for before; capacity: \
a fully associative LRU cache of that size misses the line, too; conflict: the fully associative cache would not miss.")
load figures."/bars.gp"
