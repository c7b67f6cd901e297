# What the figures of an experiment share: whose rows, layers along x, levels.
#
# The caller sets these variables beside those of style.gp:
#   machine     simulated machine, for titles          simulator   what simulated, for titles
#   host        the computer that was timed, and how   observed_by by what streams were observed
#   levels      names of the levels that stand for L1, L2 and L3 in the columns' names, as many names as the machine has levels
#   shape_columns  names of the columns that are a layer's shape
#   paper_*     published numbers; "" where the paper has none for this machine or model
load figures."/style.gp"; table = layers_csv; level_name(l) = word(levels, l)
name_end = strstrt(machine, ": ") # the description of a machine, which may be long, stands below the figure
subtitle_text = "simulated machine: ".(name_end ? machine[1:name_end - 1] : machine)
stats layers_csv using (model = stringcolumn("model"), 0) nooutput
# Slots along x (base/plot_data.h); bars of layers that share a slot are means.
n_slots = words(slot_names); n_layers = n_slots ? int(sum [i = 1:n_slots] int(word(slot_things, i))) + int(slots_left_out) : 0
layer_text = sprintf("%d convolution%s", n_layers, n_layers == 1 ? "" : "s"); slot_of_layer(i) = i > 0 ? int(word(slot_of, int(i))) : 0
slot(dummy) = slot_of_layer(column("layer_index")); slot_label(i) = word(slot_names, i)
W = max2(1000, 110 + n_slots * (n_slots <= 20 ? 48 : n_slots <= 60 ? 26 : 17)); panel_h = 150; gap_y = 34
slot_note = (int(slots_left_out) ? "Drawn are the layers of the most multiply-adds; ".slots_left_out." layers stand in layers.csv alone. " : "").\
    (n_layers == n_slots + int(slots_left_out) ? "" : "Layers of the same shape share a slot, named after the first layer; ×n is the number of layers, bars are means.")
is_mean = 1; provenance = ""
# The bars are Base and the schedules, where a figure does not say otherwise.
base = word(algo_names, 1); chosen = word(total_algos, 2); bars = base." ".member_algos; n_bars = words(bars)
bar(dummy) = index_in(bars, stringcolumn("algo")); bar_colour(b, k) = colour_of(word(bars, b))
legend_of_bars = 'do for [a in bars] { dummy = legend(title_of(a), colour_of(a), square) }'; is_chosen(dummy) = column("chosen") == 1
# Reasons for missing numbers in the column missing_in, each behind the titles of the algorithms that have the reason: sets reasons, "" without any.
find_reasons = 'n_reasons = 0; reasons = ""; has_numbers = 0; array Reason[words(algo_names)]; array Reason_of[words(algo_names)]; \
do for [a in algo_names] { \
    said = ""; \
    stats table using (algo_is(a) ? (is_missing(stringcolumn(missing_in)) ? (said = said eq "" ? short_reason(stringcolumn(missing_in)) : said, 0) : \
        (has_numbers = 1, 0)) : 0, 0) nooutput; \
    if (said ne "") { \
        k = 1; do for [i = 1:n_reasons] { if (Reason[i] ne said && k == i) { k = i + 1 } }; \
        if (k > n_reasons) { n_reasons = k; Reason[k] = said; Reason_of[k] = title_of(a) } else { Reason_of[k] = Reason_of[k].", ".title_of(a) } } }; \
do for [i = 1:n_reasons] { reasons = reasons.(i > 1 ? "; " : "").(n_reasons > 1 || has_numbers ? Reason_of[i].": " : "").Reason[i] }'
# The source of `n` measured numbers, and the reasons for missing numbers.
measured_by(n) = !n ? "not available: ".reasons : host.(strlen(reasons) ? "; not available in part: ".reasons : "")
