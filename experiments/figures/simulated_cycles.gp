# Cycles of each algorithm, layer by layer and for the whole model, split by what the core does meanwhile.
# question How long does it take, and what does it wait for?
# caption A panel per algorithm, in % of Base's cycles in the same layer. Where this computer is that machine, heights are measured,
# caption the simulation splits them, and a line marks the height that is simulated; otherwise everything is simulated
# draws layers.csv: simulated_cycles
# hint only machine files with [core] have cycles
# slots layers.csv: layer_index layer $shape_columns
load figures."/common.gp"
parts = "computing packing calls wait_l2 wait_l3 wait_memory wait_tlb wait_stores"; n_parts = words(parts)
bar_colour(b, k) = word("#009e73 #56b4e9 #0072b2 #f0e442 #e69f00 #d55e00 #cc79a7 #404040", k)
part_title(k) = word("'computing' 'packing instructions' 'calls' 'waiting: ".level_name(2)."' '".level_name(words(levels))."' 'memory' 'TLBs' 'stores'", k)

# Base's cycles of each layer, and of all layers together; the algorithms with cycles, the schedules as SConv's chosen one.
n_slots = n_slots + 1; array Base_cycles[words(slot_of) + 1]; array Base_taken[words(slot_of) + 1]
do for [i = 1:words(slot_of)] { Base_cycles[i] = NaN; Base_taken[i] = NaN }
cycles(dummy) = number("simulated_cycles")
taken(dummy) = number("taken_cycles")
shown_as(dummy) = index_in(member_algos, stringcolumn("algo")) ? (column("chosen") == 1 ? chosen : "") : stringcolumn("algo")
shown = ""; all_cycles = 0; all_taken = 0
stats table using (algo_is(base) ? (Base_cycles[int(column("layer_index"))] = cycles(0), Base_taken[int(column("layer_index"))] = taken(0), \
    cycles(0) > 0 ? (all_cycles = all_cycles + cycles(0), all_taken = all_taken + taken(0), 0) : 0) : 0, \
    shown_as(0) ne "" && cycles(0) > 0 ? (shown = with_word(shown, shown_as(0)), 0) : 0, 0) nooutput
if (!index_in(shown, base)) { print "no layer of ".title_of(base)." has simulated cycles"; exit status 77 }
missing_in = "taken_cycles"; eval find_reasons
n_panels = words(shown); n_bars = 1; n_passes = 2; n_marks = 1; is_mean = 0
array Mark_point[1] = [open_diamond]; array Mark_size[1] = [1]
of_layer(list) = list[int(column("layer_index"))]
base_of_layer(dummy) = Base_cycles[int(column("layer_index"))]
base_taken(dummy) = Base_taken[int(column("layer_index"))]
is_taken(dummy) = g == 1 ? taken(0) > 0 && base_taken(0) > 0 : all_taken > 0
n_taken = 0; n_untaken = 0
stats table using (shown_as(0) ne "" && cycles(0) > 0 ? (g = 1, is_taken(0) ? (n_taken = n_taken + 1) : (n_untaken = n_untaken + 1)) : 0, 0) nooutput
share(dummy) = 100.0 / (g == 2 ? 1 : word(slot_things, slot(0))) / (is_taken(0) ? (g == 2 ? all_taken : base_taken(0)) : (g == 2 ? all_cycles : base_of_layer(0)))
slot(dummy) = g == 2 ? n_slots : slot_of_layer(column("layer_index"))
bar(dummy) = shown_as(0) eq word(shown, p) && cycles(0) > 0
part(k) = share(0) * column("simulated_".word(parts, k)."_cycles") * (is_taken(0) ? taken(0) / cycles(0) : 1)
mark(m) = is_taken(0) ? share(0) * cycles(0) : NaN
flag(dummy) = 0
slot_label(i) = i < n_slots ? word(slot_names, i) : "whole model"
shares_scale(p, q) = 1
n_rules = 1; rule(i) = 100
title_text = sprintf("%s: cycles of each algorithm, and what they wait for (%s)", model, layer_text)
panel_title(p) = title_of(word(shown, p)).(word(shown, p) eq chosen ? ", the schedule that CSA chooses" : "")
value_title(p) = "% of\nBase's cycles"
do for [k = 1:n_parts] { dummy = legend(part_title(k), bar_colour(1, k), square) }
if (n_taken) { dummy = legend("simulated", "black", open_diamond) }
dummy = note("Simulated: ".machine.", ".simulator.". Measured: ".measured_by(n_taken).". ".slot_note)
load figures."/bars.gp"
