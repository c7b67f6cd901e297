# Misses of each level for the whole model, by tensor and by class (compulsory, capacity, conflict), for each algorithm.
# question Which tensor's lines miss in each level, and why?
# caption A row per tensor: compulsory misses (light) cannot be avoided, capacity misses (dark) ask for smaller tiles,
# caption conflict misses (red) for another layout
# draws classes.csv: misses of algo: $plain_algos
# hint CLASSES=3c makes some
# slots layers.csv: layer_index layer $shape_columns
load figures."/common.gp"
# The schedules' names, and the layers that CSA chooses each schedule for; algorithms that only some layers were simulated by are left out.
n_choices = 0; choices = ""; in_layers = ""; left_out = ""
do for [a in member_algos] {
    n = 0; stats table using (algo_is(a) ? (n = n + (column("chosen") == 1), 0) : 0, 0) nooutput
    n_choices = n_choices + n; choices = choices.(strlen(choices) ? ", " : "").sprintf("%s for %d", word(title_of(a), words(title_of(a))), n)
}
stats table using (in_layers = with_word(in_layers, stringcolumn("algo")), 0) nooutput

table = classes_csv
tensors = "input im2col packed_input filter packed_filter output workspace" # a plug-in has a workspace
n_tensors = words(tensors); n_all = n_tensors * words(plain_algos)
array Seen[n_all]; array Slot[n_all]; array Name[2 * n_all]; array Heading[2 * n_all]
do for [i = 1:n_all] { Seen[i] = 0; Slot[i] = 0 }
class_levels = ""
row_of(dummy) = (index_in(plain_algos, stringcolumn("algo")) - 1) * n_tensors + index_in(tensors, stringcolumn("tensor"))
is_drawn(dummy) = column("layer_index") == 0 && index_in(plain_algos, stringcolumn("algo")) && index_in(tensors, stringcolumn("tensor"))
stats table using (is_drawn(0) ? (Seen[row_of(0)] = 1, class_levels = with_word(class_levels, stringcolumn("level")), 0) : 0, 0) nooutput
n_slots = 0
do for [a = 1:words(plain_algos)] {
    n = int(sum [k = 1:n_tensors] Seen[(a - 1) * n_tensors + k])
    if (n) { n_slots = n_slots + 1; Name[n_slots] = ""; Heading[n_slots] = title_of(word(plain_algos, a)) }
    if (!n && index_in(in_layers, word(plain_algos, a))) { left_out = left_out.(left_out eq "" ? "" : ", ").title_of(word(plain_algos, a)) }
    do for [k = 1:n_tensors] { i = (a - 1) * n_tensors + k; if (Seen[i]) { n_slots = n_slots + 1; Slot[i] = n_slots; Name[n_slots] = word(tensors, k); Heading[n_slots] = "" } }
}
is_rows = 1; n_parts = 3; n_bars = 1; n_panels = words(class_levels); n_columns = n_panels; gap_x = 30; W = 1200; right = 30
slot(dummy) = is_drawn(0) && stringcolumn("level") eq word(class_levels, p) ? Slot[row_of(0)] : 0
bar(dummy) = 1
part(k) = (k < 3 ? column(word("compulsory_misses capacity_misses", k)) : column("misses") - column("compulsory_misses") - column("capacity_misses")) / 1e6
flag(dummy) = 0
is_mean = 0
bar_colour(b, k) = word(sky." ".blue." ".vermilion, k)
slot_label(i) = Name[i]
heading(i) = Heading[i]
title_text = sprintf("%s: missing lines by tensor and kind of miss (%s)", model, layer_text)
panel_title(p) = word(class_levels, p)
value_title(p) = "missing lines [millions]"
do for [k = 1:3] { dummy = legend(word("compulsory capacity conflict", k), bar_colour(1, k), square) }
if (n_choices) { dummy = legend("CSA chooses ".choices." of these layers", dark, only_text) }
dummy = note(left_out eq "" ? "" : "Not here, because only some of the layers were simulated: ".left_out.".")
dummy = note("Simulated: ".machine.", ".simulator.". Misses are line reads and writes that a level did not have. Compulsory: the line was never asked for before; capacity: \
a fully associative LRU cache of that size misses the line, too; conflict: the fully associative cache would not miss.")
load figures."/bars.gp"
