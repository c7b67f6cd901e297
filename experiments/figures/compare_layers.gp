# question In what do two runs differ, layer by layer?
# caption Right of 1, B has more: more speed, which is good, in the first panel; more misses, which is not, in the others. Full points are certain,
# caption open ones are not: rounds of two runs may differ that much by chance. The axis is logarithmic, so that a large change hides no small ones
# draws compare.csv: change_percent of metric: speedup l1_misses l2_misses l3_misses
# slots compare.csv: layer_index layer of change_percent: 120
load figures."/style.gp"; table = compare_csv; names = "speed 'misses of the first level' '... of the second level' '... of the last level'"
metrics = "speedup l1_misses l2_misses l3_misses"; n_slots = words(slot_names); found = ""; present = ""
stats table using (column("layer_index") > 0 ? (found = with_word(found, stringcolumn("algo")), present = with_word(present, stringcolumn("metric")), 0) : 0, 0) nooutput
slot_label(i) = word(slot_names, i)
shown = ""; do for [m in metrics] { if (index_in(present, m)) { shown = with_word(shown, m) } }
n_panels = words(shown); n_columns = n_panels; W = max2(700, 300 + 240 * n_panels); gap_x = 24
is_rows = 1; is_log = 1; n_bars = words(found); n_parts = 0; n_rules = 1; mark_points = "dot circle"; mark_sizes = "0.7 0.7"
slot(dummy) = column("layer_index") > 0 && stringcolumn("metric") eq word(shown, p) ? int(word(slot_of, int(column("layer_index")))) : 0
bar(dummy) = index_in(found, stringcolumn("algo")); mark(m) = (stringcolumn("b_is") eq "open") == (m == 2) ? 1 + number("change_percent") / 100 : NaN
mark_colour(b, m) = colour_of(word(found, b)); rule(i) = 1
title_text = "Two runs, layer by layer: right of 1, B has more"; panel_title(p) = word(names, index_in(metrics, word(shown, p))); value_title(p) = "B / A"
do for [a in found] { dummy = legend(title_of(a), colour_of(a), dot) }
dummy = legend("open: not certain", dark, circle)
if (int(slots_left_out)) { dummy = note("Drawn are the layers that changed most; ".slots_left_out." layers stand in compare.csv alone.") }
load figures."/bars.gp"
