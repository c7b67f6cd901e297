# Draws bars, stacks and rows: a group of bars for each slot along x, or (is_rows) a row for each slot with the slot's name beside the row. Gathers the
# rows of `table` for each panel first. style.gp lists what a script may set.
n_marks = words(mark_points); n_cells = n_panels * n_slots * n_bars; n_sums = n_parts ? n_parts : 1; n_spots = n_marks ? n_marks : 1
array Sum[n_cells * n_sums]; array Rows[n_cells]; array Flag[n_cells]; array Low[n_cells]; array High[n_cells]; array Spans[n_cells]
array Mark[n_cells * n_spots]; array Marks[n_cells * n_spots]
do for [i = 1:n_cells] { Rows[i] = 0; Flag[i] = 0; Low[i] = 0; High[i] = 0; Spans[i] = 0 }
do for [i = 1:n_cells * n_sums] { Sum[i] = 0 }; do for [i = 1:n_cells * n_spots] { Mark[i] = 0; Marks[i] = 0 }
cell(s, b) = ((p - 1) * n_slots + s - 1) * n_bars + b
add_part(c, k, v) = v == v ? (Sum[(c - 1) * n_sums + k] = Sum[(c - 1) * n_sums + k] + v, Rows[c] = Rows[c] + (k == 1), 0) : 0
add_mark(i, v) = v == v ? (Mark[i] = Mark[i] + v, Marks[i] = Marks[i] + 1, 0) : 0
add_span(c, l, h) = l == l && h == h ? (Low[c] = Low[c] + l, High[c] = High[c] + h, Spans[c] = Spans[c] + 1, 0) : 0
take(c) = ((n_parts ? (sum [k = 1:n_parts] add_part(c, k, part(k))) : 0), (n_marks ? (sum [m = 1:n_marks] add_mark((c - 1) * n_spots + m, mark(m))) : 0), \
    add_span(c, low_of(0), high_of(0)), Flag[c] = Flag[c] || flag(0) == 1, 0)
do for [p = 1:n_panels] { eval enter_panel; do for [g = 1:n_passes] {
    eval enter_pass; stats table using (slot(0) > 0 && bar(0) > 0 ? take(cell(slot(0), bar(0))) : 0, 0) nooutput
} }
# What was gathered: the end of part k of a bar, a mark, a span.
up_to(c, k) = n_parts && Rows[c] ? (sum [j = 1:k] Sum[(c - 1) * n_sums + j]) / (is_mean ? Rows[c] : 1.0) : NaN
mark_at(c, m) = n_marks && Marks[(c - 1) * n_spots + m] ? Mark[(c - 1) * n_spots + m] / (is_mean ? Marks[(c - 1) * n_spots + m] : 1.0) : NaN
low_at(c) = Spans[c] ? Low[c] / Spans[c] : NaN; high_at(c) = Spans[c] ? High[c] / Spans[c] : NaN
eval with_notes

longest = 0
do for [i = 1:n_slots] { longest = max2(longest, max2(strlen(slot_label(i)), strlen(heading(i)))) }
if (is_rows) {
    left = 6.9 * longest + 24; panel_h = 8 + n_slots * (n_bars == 1 ? 18.0 : n_parts ? 5 + 13.0 * n_bars : 8 + 5.0 * n_bars); below = 54; gap_y = 88
} else {
    slot_width = (W - left - right - (n_columns - 1) * gap_x) / n_columns / (n_slots + 0.2)
    turn = longest * 7.2 < slot_width - 4 ? 0 : slot_width < 34 ? 90 : 40
    below = 26 + (turn == 0 ? 16 : (turn == 90 ? 6.6 : 4.6) * longest) + (slot_title eq "" ? 0 : 16)
    gap_y = labels_in_all ? below + 26 : gap_y
}
eval open_figure

bar_step = n_bars == 1 ? 0.72 : 0.84 / n_bars
place_of(s, b) = s + (n_bars == 1 ? 0 : (b - 0.5 * (n_bars + 1)) * bar_step)
xy(a, v) = is_rows ? sprintf("%.9g\t%.9g", v, a) : sprintf("%.9g\t%.9g", a, v)
box(a, v) = is_rows ? sprintf("\n%s\t%.9g\t%.9g\t%.9g\t%.9g", xy(a, v), bottom, v, a - 0.47 * bar_step, a + 0.47 * bar_step) : \
    sprintf("\n%s\t%.9g\t%.9g\t%.9g\t%.9g", xy(a, v), a - 0.47 * bar_step, a + 0.47 * bar_step, bottom, v)
see(v) = (n_zeros = n_zeros + (is_log && v == 0), !is_log || v > 0 ? (low = min2(low, v), high = max2(high, v), 0) : 0)
seen(v) = is_log && v == 0 ? zero : v
value_axis = is_rows ? "x" : "y"; slot_axis = is_rows ? "y" : "x"
add_bar = 'c = cell(s, b); a = place_of(s, b); v = n_parts ? up_to(c, n_parts) : mark_at(c, 1); reach = v; \
do for [k = n_parts:1:-1] { if (Rows[c] && up_to(c, k) > bottom) { boxes = boxes.box(a, up_to(c, k)).sprintf("\t%d", rgb(bar_colour(b, k))) } }; \
if (Spans[c]) { spans = spans."\n".xy(a, low_at(c))."\t".xy(0, high_at(c) - low_at(c)) }; \
do for [m = 1:n_marks] { if (mark_at(c, m) == mark_at(c, m)) { \
    reach = max2(reach, mark_at(c, m)); marks = marks."\n".xy(a, seen(mark_at(c, m))).sprintf("\t%d\t%d", rgb(mark_colour(b, m)), m) } }; \
if (Flag[c] && v == v) { marks = marks."\n".xy(a, dots_at_foot ? low + 0.02 * (high - low) : seen(v))."\t0\t0" }; \
if (v == v && strlen(bar_text(s, b, v))) { texts = texts."\n".xy(a, reach)."\t".bar_text(s, b, v) }'
do for [p = 1:n_panels] {
    eval enter_panel; eval place_panel
    n_zeros = 0; low = NaN; high = NaN; this_panel = p
    do for [p = 1:n_panels] { if (shares_scale(this_panel, p)) { do for [c = cell(1, 1):cell(n_slots, n_bars)] {
        dummy = see(up_to(c, n_parts)) + see(low_at(c)) + see(high_at(c)); do for [m = 1:n_marks] { dummy = see(mark_at(c, m)) }
    } } }
    p = this_panel; is_empty = low != low && !n_zeros
    do for [i = 1:n_rules] { dummy = see(rule(i)) }
    if (n_parts && !is_log && !is_empty) { low = 0 }
    high = is_log ? high * (high / low)**text_room : high + text_room * (high - low)
    axis = value_axis; eval fit_axis; if (limits ne "") { eval sprintf("set %srange [%s]", value_axis, limits) }
    bottom = n_parts && !is_log ? 0 : low
    eval sprintf("set %srange [%s]; set grid no%stics; set %stics (\"\" 0) scale 0 norotate font \",9\"", slot_axis, \
        is_rows ? sprintf("%g:0.4", n_slots + 0.6) : sprintf("0.4:%g", slots_in(p) + 0.6), slot_axis, slot_axis)
    if (!is_rows && turn) { eval sprintf("set xtics rotate by %d right", turn) }
    if (is_rows ? panel_column == 0 : is_last_row || labels_in_all) {
        do for [i = 1:slots_in(p)] { eval sprintf("set %stics add (tic_text(slot_label(i)) i)", slot_axis) }
        do for [i = 1:is_rows * n_slots] { if (strlen(heading(i))) { set label 2000 + i heading(i) at graph 0, first i right offset -0.6, 0 font ",10" } }
    } else { do for [i = 1:is_rows * n_slots] { unset label 2000 + i } }
    if (is_rows) { set xlabel value_title(p) offset 0, 0.4 } else { set xlabel slot_title; set ylabel (panel_column == 0 ? value_title(p) : "") offset -0.4, 0 }
    boxes = "x\ty\txlow\txhigh\tylow\tyhigh\tcolour"; spans = "x\ty\tdx\tdy"; marks = "x\ty\tcolour\tmark"; texts = "x\ty\ttext\n".xy(1, low)."\t " # never none: gnuplot 5.4 ends with a signal
    do for [s = 1:n_slots] { do for [b = 1:n_bars] { eval add_bar } }
    set print $boxes; print boxes; set print $spans; print spans; set print $marks; print marks; set print $texts; print texts; unset print
    do for [i = 1:n_rules] {
        unset arrow 10 + i; ends = is_rows ? "rule(i), graph 0 to rule(i), graph 1" : "graph 0, first rule(i) to graph 1, first rule(i)"
        if (!is_empty && rule(i) == rule(i)) { eval "set arrow 10 + i from ".ends." nohead lw 1.5 dt Rule_dash[i] lc rgb Rule_colour[i] front" }
    }
    if (is_empty) { set label 1 "not available" at graph 0.5, graph 0.5 center tc rgb dark; set border 0; unset xtics; unset ytics; unset grid }
    eval before_plot; wide = span_is_range; narrow = !span_is_range
    plot $spans using 1:2:($3 * wide):($4 * wide) with vectors nohead lw 6 lc rgb "#e0e0e0", \
         $boxes using 1:2:3:4:5:6:7 with boxxyerror lc rgb variable, \
         $spans using 1:2:($3 * narrow):($4 * narrow) with vectors nohead lw 3.4 lc rgb "white", \
         $spans using 1:2:($3 * narrow):($4 * narrow) with vectors heads size screen 0.003, 90 lw 1.3 lc rgb "#606060", \
         for [m = 1:n_marks] $marks using 1:($4 == m && word(mark_points, m) eq "circle" ? $2 : NaN) with points pt 7 ps size_of_mark(m) lc rgb "white", \
         for [m = 1:n_marks] $marks using 1:($4 == m ? $2 : NaN):3 with points pt value(word(mark_points, m)) ps size_of_mark(m) lw 1.4 lc rgb variable, \
         $marks using 1:($4 == 0 ? $2 : NaN) with points pt dot ps 0.55 lc rgb "black", \
         $texts using 1:2:(stringcolumn(3)) with labels left offset (is_rows ? 0.7 : 0), (is_rows ? 0 : 0.6) font ",9"
}
unset multiplot
