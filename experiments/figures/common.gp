# What the figures of an experiment share: whose rows, layers along x, levels. Loaded by each figure's script.
#
# Variables set by the caller, beside those of style.gp:
#   machine     simulated machine, for titles          simulator   what simulated, for titles
#   host        the computer that was timed, and how   observed_by by what streams were observed
#   levels      names of the levels that stand for L1, L2 and L3 in the columns' names: as many as the machine has
#   shape_columns  names of the columns that are a layer's shape
#   paper_*     published numbers; "" where the paper has none for this machine or model
load figures."/style.gp"
layers = layers_csv

algo_is(a) = stringcolumn("algo") eq a
n_levels = words(levels)
level_name(l) = word(levels, l)
# The machine's name; its description, which may be long, stands below the figure.
name_end = strstrt(machine, ": ")
machine_name = name_end ? machine[1:name_end - 1] : machine
subtitle_text = "simulated machine: ".machine_name

# What the rows say about themselves.
model = ""; last_index = 0; n_layers = 0
seen = 0
stats layers using (model = stringcolumn("model"), last_index = max2(last_index, int(column("layer_index"))), \
    column("layer_index") != seen ? (seen = column("layer_index"), n_layers = n_layers + 1) : 0, 0) nooutput
layer_text = sprintf("%d convolution%s", n_layers, n_layers == 1 ? "" : "s")

# Slots along x, numbered 1, 2, ...: a filter may have left gaps in layer_index. More layers than can be read share slots where their shapes are
# the same, which is what deep networks repeat: the bars of such a slot are means.
most_slots = 60
is_grouped = n_layers > most_slots
array Slot[last_index]; array Slot_name[n_layers]; array Slot_layers[n_layers]; array Slot_shape[n_layers]
n_shown = 0; seen = 0
shape = ""
join_shape(i) = (shape = shape." ".stringcolumn(word(shape_columns, i)), 0)
read_shape(dummy) = (shape = is_grouped ? "" : sprintf("%d", n_shown), \
    is_grouped ? (sum [i = 1:words(shape_columns)] join_shape(i)) : 0)
slot_of_shape(dummy) = int(sum [i = 1:n_shown] (Slot_shape[i] eq shape ? i : 0))
open_slot(dummy) = (n_shown = n_shown + 1, Slot_shape[n_shown] = shape, Slot_name[n_shown] = stringcolumn("layer"), \
    Slot_layers[n_shown] = 0, n_shown)
enter(s) = (Slot[int(column("layer_index"))] = s, Slot_layers[s] = Slot_layers[s] + 1, 0)
stats layers using (column("layer_index") != seen ? (seen = column("layer_index"), read_shape(0), slot = slot_of_shape(0), \
    enter(slot ? slot : open_slot(0))) : 0, 0) nooutput
longest_name = 0
do for [i = 1:n_shown] {
    if (Slot_layers[i] > 1) { Slot_name[i] = sprintf("%s ×%d", Slot_name[i], Slot_layers[i]) }
    longest_name = max2(longest_name, strlen(Slot_name[i]))
}
position(i) = Slot[int(i)]
slot_name(dummy) = Slot_name[position(column("layer_index"))]
slot_text = is_grouped ? " Layers of the same shape share a slot, named after the first of them: ×n says how many, their bars are means." : ""
put_layer_names = 'set xtics rotate by 90 right scale 0 font ",9"; set xtics ("" 0); do for [i = 1:n_shown] { set xtics add (tic_text(Slot_name[i]) i) }'

# Bars of some algorithms around each slot's number: Base and the schedules, where a figure does not say otherwise.
base = word(algo_names, 1)
chosen = word(total_algos, 2)
bars = base." ".member_algos
bar_of_algo(a) = index_in(bars, a)
bar_step(dummy) = 0.81 / words(bars)
offset_of(a) = bar_of_algo(a) ? (bar_of_algo(a) - 0.5 * (words(bars) + 1)) * bar_step(0) : NaN
put_bar_legend = 'legend_point = square; do for [b = 1:words(bars)] { \
    legend_text = title_of(word(bars, b)); legend_colour = colour_of(word(bars, b)); eval put_legend }'
bar_x(dummy) = position(column("layer_index")) + offset_of(stringcolumn("algo"))
only(a, v) = algo_is(a) ? v : NaN
is_chosen(v) = column("chosen") == 1 ? v : NaN

# Figures with one slot per layer along x: width, and room for the rotated names.
slot_pixels = n_shown <= 20 ? 48 : n_shown <= 60 ? 26 : 17
name_height = 26 + longest_name * 7.0
set_layer_width = 'W = 100 + n_shown * slot_pixels; if (W < 1000) { W = 1000 }'
