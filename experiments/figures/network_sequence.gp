# question What does a step find that the steps before it left?
# caption A bar per step, in the order of the run. Grey on top: what the step by itself, with empty caches, brings in addition: data that in the run
# caption were still in the cache from earlier steps. A dot: by itself, with what it left itself in the caches; no dots where that is next to nothing.
# draws sequence.csv: alone_lines of level: $levels
# hint SIMULATE=all makes some
#
# Variables, beside those of style.gp: machine, shown_algo, shown_title, shown_caches, levels (memory being the last)
load figures."/style.gp"
table = sequence_csv; is_shown(dummy) = stringcolumn("algo") eq shown_algo && stringcolumn("caches") eq shown_caches && stringcolumn("tensor") eq "all"
model = ""; n_slots = 1
stats table using (is_shown(0) ? (model = stringcolumn("model"), n_slots = max2(n_slots, int(column("step"))), 0) : 0, 0) nooutput
kind_of(op) = op eq "Conv" ? 1 : strstrt(op, "Pool") ? 2 : strstrt(op, "Norm") || op eq "LRN" ? 3 : op eq "Gemm" || op eq "MatMul" ? 4 : 5
# A name that is short or begins with a digit (n0, 192) tells nobody what the node is: the operator stands before it.
tells(name) = strlen(name) > 4 && !strstrt("0123456789", name[1:1]); short(s) = strlen(s) > 24 ? "…".s[strlen(s) - 22:*] : s
array Name[n_slots]; array Kind[n_slots]; do for [i = 1:n_slots] { Name[i] = ""; Kind[i] = 0 }
stats table using (is_shown(0) ? (Name[int(column("step"))] = short((tells(stringcolumn("node")) ? "" : stringcolumn("op")." ").stringcolumn("node")), \
    Kind[int(column("step"))] = kind_of(stringcolumn("op")), 0) : 0, 0) nooutput
n_panels = words(levels) - 1; n_parts = 2; panel_h = 170; gap_y = 40; W = max2(1000, 110 + n_slots * (n_slots <= 30 ? 34 : n_slots <= 80 ? 20 : 7))
mark_points = "dot"; mark_sizes = "0.45"; mib(v) = v * 64.0 / 1048576; is_of(p) = is_shown(0) && stringcolumn("level") eq word(levels, p + 1)
array In_all[n_panels]; array Alone_all[n_panels]; array Warm_all[n_panels]
do for [p = 1:n_panels] {
    In_all[p] = 0; Alone_all[p] = 0; Warm_all[p] = 0
    stats table using (is_of(p) ? (In_all[p] = In_all[p] + column("sequence_lines"), Alone_all[p] = Alone_all[p] + column("alone_lines"), \
        Warm_all[p] = Warm_all[p] + column("warm_lines"), 0) : 0, 0) nooutput
}
slot(dummy) = is_of(p) ? column("step") : 0; part(k) = mib(k == 1 ? column("sequence_lines") : column("alone_lines") - column("sequence_lines"))
mark(m) = column("warm_lines") > 0.01 * max2(column("alone_lines"), 1) && Warm_all[p] > 0.002 * max2(In_all[p], Alone_all[p]) ? mib(column("warm_lines")) : NaN
bar_colour(b, k) = k == 2 ? grey : word(green." ".orange." ".vermilion." ".blue." ".sky, max2(Kind[s], 1))
slot_label(i) = n_slots <= 80 ? Name[i] : i % 10 ? "" : sprintf("%d", i)
mib_text(v) = v > 0 && mib(v) < 0.01 ? "below 0.01 MiB" : sprintf("%.3g MiB", mib(v))
title_text = sprintf("%s in sequence: %d steps, convolutions by %s", model, n_slots, shown_title)
subtitle_text = sprintf("simulated machine: %s, %s", machine, shown_caches)
panel_title(p) = sprintf("%s %s: %s in sequence; sum of the steps: %s with empty caches, %s with warm ones", p == n_panels ? "from" : "into", word(levels, p + 1), \
    mib_text(In_all[p]), mib_text(Alone_all[p]), mib_text(Warm_all[p]))
value_title(p) = "MiB"
do for [k = 1:5] { s = 0; do for [i = 1:n_slots] { s = Kind[i] == k ? i : s }; if (s) { dummy = legend(word("convolution pooling normalisation 'matrix product' other", k), bar_colour(1, 1), square) } }
dummy = legend("by itself, caches empty", grey, square) + legend("by itself, caches warm", "black", dot)
load figures."/bars.gp"
