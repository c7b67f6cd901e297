# question How long does it take, and what does it wait for?
# caption A panel per algorithm, in % of Base's cycles in the same layer. Where this computer is that machine, heights are measured, the simulation splits
# caption them, and a diamond marks the height that is simulated; otherwise everything is simulated
# draws layers.csv: simulated_cycles
# hint only machine files with [core] have cycles
# slots layers.csv: layer_index layer $shape_columns of macs: 120
load figures."/common.gp"; parts = "computing packing calls wait_l2 wait_l3 wait_memory wait_tlb wait_stores"; n_parts = words(parts)
bar_colour(b, k) = word("#009e73 #56b4e9 #0072b2 #f0e442 #e69f00 #d55e00 #cc79a7 #404040", k)
part_title(k) = word("computing 'packing instructions' calls 'waiting: ".level_name(2)."' '".level_name(words(levels))."' memory TLBs stores", k)
# Base's cycles of each layer; the algorithms with cycles, where the schedule that CSA chooses is SConv's.
cycles(dummy) = number("simulated_cycles"); taken(dummy) = number("taken_cycles"); of_layer(dummy) = int(column("layer_index"))
shown_as(dummy) = cycles(0) > 0 ? (index_in(member_algos, stringcolumn("algo")) ? (is_chosen(0) ? chosen : "") : stringcolumn("algo")) : ""
array Base_cycles[words(slot_of) + 1]; array Base_taken[words(slot_of) + 1]; do for [i = 1:words(slot_of)] { Base_cycles[i] = NaN; Base_taken[i] = NaN }
shown = ""; n_base = 0; all_cycles = 0; all_taken = 0
stats table using (algo_is(base) && cycles(0) > 0 ? (Base_cycles[of_layer(0)] = cycles(0), Base_taken[of_layer(0)] = taken(0), n_base = n_base + 1, \
    all_cycles = all_cycles + cycles(0), all_taken = all_taken + taken(0), 0) : 0, shown_as(0) ne "" ? (shown = with_word(shown, shown_as(0)), 0) : 0, 0) nooutput
if (!n_base) { print "no layer of ".title_of(base)." has simulated cycles"; exit status 77 }
missing_in = "taken_cycles"; eval find_reasons
# The second pass makes the bar of the whole model, if the algorithm has all of Base's layers; the bar is measured if all layers are.
n_slots = n_slots + 1; n_panels = words(shown); n_bars = 1; n_passes = 2; mark_points = "open_diamond"; is_mean = 0; n_taken = 0
enter_panel = 'n = 0; n_own_taken = 0; stats table using (shown_as(0) eq word(shown, p) ? (n = n + 1, n_own_taken = n_own_taken + (taken(0) > 0), 0) : 0, 0) nooutput'
is_taken(dummy) = g == 1 ? taken(0) > 0 && Base_taken[of_layer(0)] > 0 : all_taken > 0 && n_own_taken == n_base
slot(dummy) = shown_as(0) ne word(shown, p) ? 0 : g == 1 ? slot_of_layer(of_layer(0)) : n == n_base ? n_slots : 0; bar(dummy) = 1
share(dummy) = (n_taken = n_taken + is_taken(0), 100.0 / (g == 2 ? (is_taken(0) ? all_taken : all_cycles) : \
    word(slot_things, slot(0)) * (is_taken(0) ? Base_taken[of_layer(0)] : Base_cycles[of_layer(0)])))
part(k) = share(0) * column("simulated_".word(parts, k)."_cycles") * (is_taken(0) ? taken(0) / cycles(0) : 1); mark(m) = is_taken(0) ? share(0) * cycles(0) : NaN
slot_label(i) = i < n_slots ? word(slot_names, i) : "whole model"; shares_scale(p, q) = 1; n_rules = 1; rule(i) = 100
title_text = sprintf("%s: cycles of each algorithm, and what they wait for (%s)", model, layer_text)
panel_title(p) = title_of(word(shown, p)).(word(shown, p) eq chosen ? ", the schedule that CSA chooses" : ""); value_title(p) = "% of\nBase's cycles"
do for [k = 1:n_parts] { dummy = legend(part_title(k), bar_colour(1, k), square) }
with_notes = 'if (n_taken) { dummy = legend("simulated", "black", open_diamond) }; \
dummy = note("Simulated: ".machine.", ".simulator.". Measured: ".measured_by(n_taken).". ".slot_note)'
load figures."/bars.gp"
