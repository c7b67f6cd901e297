# Misses of each level layer by layer, per thousand multiply-adds, by class: Base, and SConv with either schedule.
# question The same for each layer and schedule, all tensors together
# caption Lines per 1000 multiply-adds, so that layers compare; a dot on the schedule that CSA chose
# draws classes.csv: misses of algo: $plain_algos
# hint CLASSES=3c makes some
# slots layers.csv: layer_index layer $shape_columns
load figures."/common.gp"
classes = classes_csv

kinds = "compulsory capacity conflict"
is_bar(dummy) = column("layer_index") > 0 && index_in(bars, stringcolumn("algo"))

# All levels of the machine, not only the three that columns name.
levels = ""
stats classes using (is_bar(0) && !index_in(levels, stringcolumn("level")) ? (levels = levels." ".stringcolumn("level"), 0) : 0) nooutput
n_levels = words(levels)

titles = title_of(word(bars, 1))
do for [b = 2:words(bars)] { titles = titles.", ".title_of(word(bars, b)) }
eval set_layer_width
columns = W / char_width
text = "Simulated: ".machine.", ".simulator.". In each layer: ".titles.". Light: compulsory misses; middle: capacity; dark: conflict \
(a fully associative LRU cache of the same size would not have them).".slot_text
eval wrap_text
panel = 190; gap = 34; top = head_height
H = top + n_levels * panel + (n_levels - 1) * gap + name_height + n_lines * line_height + 16
eval open_output

# A bar's own colour is its middle one; the others are half the way to white, and to black.
part(colour, i) = int("0x".colour[2 * i:2 * i + 1])
mix(colour, i, to) = (part(colour, i) + to) / 2
shade(a, kind) = kind == 2 ? colour_of(a) : \
    sprintf("#%02x%02x%02x", mix(colour_of(a), 1, to_of(kind)), mix(colour_of(a), 2, to_of(kind)), mix(colour_of(a), 3, to_of(kind)))
to_of(kind) = kind == 1 ? 255 : 0

# The sum over a layer's tensors: per layer and algorithm, for the level in hand.
n_algos = words(bars)
n_bars = n_algos * n_shown
array Up_to_1[n_bars]; array Up_to_2[n_bars]; array Up_to_3[n_bars]
bar_of(dummy) = (position(column("layer_index")) - 1) * n_algos + index_in(bars, stringcolumn("algo"))
per_mac(v) = column(v) / column("macs") * 1000 / word(slot_things, position(column("layer_index")))
add_row(b) = (Up_to_1[b] = Up_to_1[b] + per_mac("compulsory_misses"), \
    Up_to_2[b] = Up_to_2[b] + per_mac("compulsory_misses") + per_mac("capacity_misses"), Up_to_3[b] = Up_to_3[b] + per_mac("misses"), 0)

title_text = sprintf("%s: missing lines per 1000 multiply-adds, layer by layer (%s)", model, layer_text)
eval put_head
eval put_bar_legend
legend_text = "chosen by CSA"; legend_point = dot; legend_colour = "black"; eval put_legend
legend_text = "light: compulsory, middle: capacity, dark: conflict"; legend_point = only_text; legend_colour = "#404040"; eval put_legend
set multiplot
set key off
set xrange [0.4:n_shown + 0.6]
set lmargin at screen 95.0 / W
set rmargin at screen 1 - 15.0 / W
set boxwidth 0.92 * bar_step(0) absolute
set ylabel "missing lines /\n1000 macs" offset -0.2, 0
set yrange [0:*]
do for [l = 1:n_levels] {
    do for [b = 1:n_bars] { Up_to_1[b] = 0; Up_to_2[b] = 0; Up_to_3[b] = 0 }
    stats classes using (is_bar(0) && stringcolumn("level") eq word(levels, l) ? add_row(bar_of(0)) : 0) nooutput
    set tmargin at screen 1 - (top + (l - 1) * (panel + gap)) / (1.0 * H)
    set bmargin at screen 1 - (top + (l - 1) * (panel + gap) + panel) / (1.0 * H)
    set title word(levels, l) font ",12" offset 0, -0.6
    unset xtics
    if (l == 2) { eval drop_head }
    if (l == n_levels) {
        eval put_layer_names
        set label 1 wrapped at screen 12.0 / W, screen (n_lines * line_height) / (1.0 * H) left front
    }
    set print $bars
    print "x\talgo\ty1\ty2\ty3"
    do for [b = 1:n_bars] {
        a = (b - 1) % n_algos + 1
        print sprintf("%.9g\t%d\t%.9g\t%.9g\t%.9g", (b - a) / n_algos + 1 + offset_of(word(bars, a)), a, Up_to_1[b], Up_to_2[b], Up_to_3[b])
    }
    unset print
    plot for [a = 1:n_algos] for [kind = 3:1:-1] $bars using "x":(column("algo") == a ? column(sprintf("y%d", kind)) : NaN) \
             with boxes lc rgb shade(word(bars, a), kind), \
         layers using (is_chosen(bar_x(0))):(column("chosen") == 1 ? Up_to_3[bar_of(0)] : NaN) \
             smooth unique with points pt 7 ps 0.55 lc rgb "black"
}
unset multiplot
