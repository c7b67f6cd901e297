# A network in sequence: lines that each step brings into each level beyond the first, beside the step by itself.
# question What does a step find that the steps before it left?
# caption A bar per step, in the order of the run. Grey: the step by itself, with empty caches; the coloured bar before it: in sequence, at the
# caption planner's addresses. Grey that is seen: data that were still in the cache from earlier steps. A dot: by itself, with what it left itself in
# caption the caches; no dots where that is next to nothing.
# draws sequence.csv: alone_lines of level: $levels
# hint SIMULATE=all makes some
#
# Variables, beside those of style.gp: machine, shown_algo, shown_title, shown_caches, levels (memory being the last)
load figures."/style.gp"
table = sequence_csv
is_shown(dummy) = stringcolumn("algo") eq shown_algo && stringcolumn("caches") eq shown_caches && stringcolumn("tensor") eq "all"
is_of(level) = is_shown(0) && stringcolumn("level") eq level

model = ""; n_steps = 0
stats table using (is_shown(0) ? (model = stringcolumn("model"), n_steps = max2(n_steps, int(column("step"))), 0) : 0) nooutput
array Name[n_steps]; array Kind[n_steps]
kinds = "convolutions pooling normalisation products other"
array Colour[5] = [green, orange, vermilion, blue, sky]
array Title[5] = ["convolution", "pooling", "normalisation", "matrix product", "other"]
kind_of(op) = op eq "Conv" ? 1 : strstrt(op, "Pool") ? 2 : strstrt(op, "Norm") || op eq "LRN" ? 3 : op eq "Gemm" || op eq "MatMul" ? 4 : 5
# A name that is short or begins with a digit (n0, 192) tells nobody what the node is: the operator stands before it.
tells(name) = strlen(name) > 4 && !strstrt("0123456789", name[1:1])
label(name, op) = tells(name) ? name : op." ".name
stats table using (is_shown(0) ? (Name[int(column("step"))] = label(stringcolumn("node"), stringcolumn("op")), Kind[int(column("step"))] = kind_of(stringcolumn("op")), 0) : 0) nooutput
longest = 0
most_named = 80
short(s) = strlen(s) > 24 ? "…".s[strlen(s) - 22:*] : s
do for [i = 1:n_steps] { longest = max2(longest, strlen(short(Name[i]))) }

mib(v) = v * 64.0 / 1048576
mib_text(v) = v > 0 && mib(v) < 0.01 ? "below 0.01 MiB" : sprintf("%.3g MiB", mib(v))
W = 100 + n_steps * (n_steps <= 30 ? 34 : n_steps <= most_named ? 20 : 7); if (W < 1000) { W = 1000 }
panel = 170; gap = 40; top = head_height
n_panels = words(levels) - 1
foot = n_steps <= most_named ? 30 + longest * 6.4 : 50
H = top + n_panels * panel + (n_panels - 1) * gap + foot
eval open_output
title_text = sprintf("%s in sequence: %d steps, convolutions by %s", model, n_steps, shown_title)
subtitle_text = sprintf("simulated machine: %s, %s", machine, shown_caches)
eval put_head
legend_point = square
do for [k = 1:5] {
    any = 0
    do for [i = 1:n_steps] { any = any || Kind[i] == k }
    if (any) { legend_text = Title[k]; legend_colour = Colour[k]; eval put_legend }
}
legend_text = "by itself, caches empty"; legend_colour = grey; eval put_legend
legend_text = "... warm"; legend_point = dot; legend_colour = "black"; eval put_legend
set multiplot
set key off
set xrange [0.3:n_steps + 0.7]
set yrange [0:*]
set lmargin at screen 80.0 / W
set rmargin at screen 1 - 15.0 / W
set boxwidth 0.8 absolute
set ylabel "MiB" offset 0.5, 0
do for [p = 1:n_panels] {
    level = word(levels, p + 1)
    in_all = 0; alone_all = 0; warm_all = 0
    stats table using (is_of(level) ? (in_all = in_all + column("sequence_lines"), alone_all = alone_all + column("alone_lines"), \
        warm_all = warm_all + column("warm_lines"), 0) : 0) nooutput
    set tmargin at screen 1 - (top + (p - 1) * (panel + gap)) / (1.0 * H)
    set bmargin at screen 1 - (top + (p - 1) * (panel + gap) + panel) / (1.0 * H)
    set title sprintf("%s %s: %s in sequence; sum of the steps: %s with empty caches, %s with warm ones", \
        p == n_panels ? "from" : "into", level, mib_text(in_all), mib_text(alone_all), mib_text(warm_all)) noenhanced font ",11" offset 0, -0.6
    has_dots = warm_all > 0.002 * max2(in_all, alone_all)
    unset xtics
    if (p == 2) { eval drop_head }
    if (p == n_panels) {
        if (n_steps <= most_named) {
            set xtics rotate by 90 right scale 0 font ",8"; set xtics ("" 0)
            do for [i = 1:n_steps] { set xtics add (tic_text(short(Name[i])) i) }
        } else { set xtics autofreq scale 0.5; set xlabel "step" }
    }
    plot table using (is_of(level) ? column("step") : NaN):(mib(column("alone_lines"))) with boxes lc rgb grey, \
        for [k = 1:5] table using (is_of(level) && kind_of(stringcolumn("op")) == k ? column("step") : NaN):(mib(column("sequence_lines"))) \
            with boxes lc rgb Colour[k], \
        table using (is_of(level) && has_dots ? column("step") : NaN):(mib(column("warm_lines"))) with points pt 7 ps 0.45 lc rgb "black"
}
unset multiplot
