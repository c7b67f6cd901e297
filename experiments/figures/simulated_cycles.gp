# Cycles of Base and SConv, layer by layer and for the whole model: measured beside simulated, split by what they go to.
# question How long does it take, and what does it wait for?
# caption For each layer, Base and then the SConv that CSA chooses. Coloured: simulated cycles; grey: measured ones, only if
# caption this computer is that machine. 100 % are Base's simulated cycles
# draws layers.csv: simulated_cycles
# hint only machine files with [core] have cycles
# slots layers.csv: layer_index layer $shape_columns
load figures."/common.gp"

parts = "computing packing calls wait_l2 wait_l3 wait_memory wait_tlb wait_stores"
n_parts = words(parts)
label_of(p) = word("'computing' 'packing instructions' 'calls' 'waiting: ".level_name(2)."' '".level_name(n_levels)."' 'memory' 'TLBs' 'stores'", p)
colour_of_part(p) = word("#009e73 #56b4e9 #0072b2 #f0e442 #e69f00 #d55e00 #cc79a7 #404040", p)
cycles(p) = column("simulated_".word(parts, p)."_cycles")

# Sums of each slot, behind those of all layers (slot 0): for Base (1) and SConv (2) the parts, and what was taken.
n_slots = n_shown + 1
array Part[n_slots * 2 * n_parts]; array Taken[n_slots * 2]; array N_simulated[n_slots * 2]; array N_taken[n_slots * 2]
do for [i = 1:n_slots * 2 * n_parts] { Part[i] = 0 }
do for [i = 1:n_slots * 2] { Taken[i] = 0; N_simulated[i] = 0; N_taken[i] = 0 }
side(dummy) = algo_is(base) ? 1 : column("chosen") == 1 ? 2 : 0
bar_of(slot, s) = 2 * slot + s
part_of(slot, s, p) = n_parts * (bar_of(slot, s) - 1) + p
add_part(slot, s, p) = (Part[part_of(slot, s, p)] = Part[part_of(slot, s, p)] + cycles(p), 0)
add_to(slot, s) = ((sum [p = 1:n_parts] add_part(slot, s, p)), N_simulated[bar_of(slot, s)] = N_simulated[bar_of(slot, s)] + 1, 0)
take_to(slot, s) = (Taken[bar_of(slot, s)] = Taken[bar_of(slot, s)] + column("taken_cycles"), N_taken[bar_of(slot, s)] = N_taken[bar_of(slot, s)] + 1, 0)
stats layers using (!is_missing(stringcolumn("simulated_cycles")) && side(0) ? \
    (add_to(0, side(0)), add_to(position(column("layer_index")), side(0))) : 0) nooutput
missing_in = "taken_cycles"; eval find_reasons
stats layers using (side(0) && !is_missing(stringcolumn("taken_cycles")) && !is_missing(stringcolumn("simulated_cycles")) ? \
    (take_to(0, side(0)), take_to(position(column("layer_index")), side(0))) : 0) nooutput
if (N_simulated[bar_of(0, 1)] == 0) {
    print "no layer of ".title_of(base)." has simulated cycles"
    exit status 77
}

up_to(slot, s, p) = (sum [i = 1:p] Part[part_of(slot, s, i)])
percent(slot, x) = 100.0 * x / up_to(slot, 1, n_parts)
is_taken(slot, s) = N_taken[bar_of(slot, s)] > 0 && N_taken[bar_of(slot, s)] == N_simulated[bar_of(slot, s)]
bar_width = 0.21
n_measured = int(sum [slot = 0:n_shown] is_taken(slot, 1) + is_taken(slot, 2))
# Where nothing was measured, the two simulated bars of a slot stand side by side.
x_of(slot, s, is_simulated) = slot + (s == 1 ? -0.03 : 0.03) + (n_measured ? 2 * s - 3.5 + is_simulated : s - 1.5) * bar_width
highest = 0
set print $bars
print "x\tpart\tpercent"
do for [slot = 0:n_shown] { do for [s = 1:2] {
    if (is_taken(slot, s)) {
        print sprintf("%g\t0\t%g", x_of(slot, s, 0), percent(slot, Taken[bar_of(slot, s)]))
        highest = max2(highest, percent(slot, Taken[bar_of(slot, s)]))
    }
    do for [p = n_parts:1:-1] {
        if (N_simulated[bar_of(slot, s)]) { print sprintf("%g\t%d\t%g", x_of(slot, s, 1), p, percent(slot, up_to(slot, s, p))); highest = max2(highest, percent(slot, up_to(slot, s, p))) }
    }
} }
unset print

W = 100 + n_slots * (n_shown <= 20 ? 48 : 30)
if (W < 1120) { W = 1120 }
columns = W / char_width
text = "Simulated: ".machine.", ".simulator.". Measured: ".measured_by(n_measured, reason, reasons).\
    ". Of each pair, Base is the left one, and SConv, in the schedule that CSA chooses, the right one.".slot_text
eval wrap_text
top = head_height; panel = 360
bottom = name_height + n_lines * line_height + 16
H = top + panel + bottom
eval open_output
title_text = sprintf("%s: cycles of Base and SConv, and what they wait for (%s)", model, layer_text)
eval put_head
legend_point = square
if (n_measured) { legend_text = "measured"; legend_colour = grey; eval put_legend }
do for [p = 1:n_parts] { legend_text = label_of(p); legend_colour = colour_of_part(p); eval put_legend }
set label 1 wrapped at screen 12.0 / W, screen (n_lines * line_height) / (1.0 * H) left front
set lmargin at screen 85.0 / W
set rmargin at screen 1 - 15.0 / W
set tmargin at screen 1 - (top - 16) / (1.0 * H)
set bmargin at screen bottom / (1.0 * H)
set xrange [-0.6:n_shown + 0.6]
set yrange [0:1.05 * highest]
set boxwidth 0.94 * bar_width absolute
set ylabel "cycles [% of Base's simulated]" offset 1, 0
eval put_layer_names
set xtics add ("whole model" 0)
set arrow from first 0.5, graph 0 to first 0.5, graph 1 nohead lc rgb "#808080" dt 3
set key off
plot $bars using "x":(column("part") == 0 ? column("percent") : NaN) with boxes lc rgb grey, \
     for [p = n_parts:1:-1] $bars using "x":(column("part") == p ? column("percent") : NaN) with boxes lc rgb colour_of_part(p)
