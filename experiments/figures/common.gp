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

stats layers using (model = stringcolumn("model"), 0) nooutput

# Slots along x, numbered 1, 2, ... (base/plot_data.h); the bars of those that layers share are means.
n_shown = words(slot_names)
n_layers = n_shown ? int(sum [i = 1:n_shown] int(word(slot_things, i))) : 0
layer_text = sprintf("%d convolution%s", n_layers, n_layers == 1 ? "" : "s")
position(i) = int(word(slot_of, int(i)))
slot_name(dummy) = word(slot_names, position(column("layer_index")))
longest_name = 0
do for [i = 1:n_shown] { longest_name = max2(longest_name, strlen(word(slot_names, i))) }
# Why numbers are missing in the column missing_in, and by which algorithms: sets reason, the first one's cell, "" if none is missing, and reasons, all
# of them behind the algorithms' titles. Each algorithm of algo_names has its first reason.
n_reasons = 0; array Reason[words(algo_names)]; array Reason_of[words(algo_names)]
find_reasons = 'n_reasons = 0; reason = ""; reasons = ""; \
do for [a in algo_names] { \
    said = ""; \
    stats layers using (said eq "" && algo_is(a) && is_missing(stringcolumn(missing_in)) ? (said = stringcolumn(missing_in), 0) : 0) nooutput; \
    if (said ne "") { \
        reason = reason eq "" ? said : reason; k = 1; \
        do for [i = 1:n_reasons] { if (Reason[i] ne short_reason(said) && k == i) { k = i + 1 } }; \
        if (k > n_reasons) { n_reasons = k; Reason[k] = short_reason(said); Reason_of[k] = title_of(a) } else { Reason_of[k] = Reason_of[k].", ".title_of(a) } } }; \
do for [i = 1:n_reasons] { reasons = reasons.(i > 1 ? "; " : "").Reason_of[i].": ".Reason[i] }'
# Who measured `n` numbers, and why there are no others.
measured_by(n, reason, reasons) = !n ? "not available: ".short_reason(reason) : host.(strlen(reasons) ? "; not available in some layers: ".reasons : "")
slot_text = n_layers == n_shown ? "" : " Layers of the same shape share a slot, named after the first of them: ×n says how many, their bars are means."
put_layer_names = 'set xtics rotate by 90 right scale 0 font ",9"; set xtics ("" 0); do for [i = 1:n_shown] { set xtics add (tic_text(word(slot_names, i)) i) }'

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
