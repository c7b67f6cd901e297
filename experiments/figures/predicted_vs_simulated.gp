# question Does CSA's cost model (SConv Eq. 8 to 14) predict the lines that move?
# caption A mark at 1 is predicted exactly; right of 1 too many lines are predicted. Circles: all loads; squares: without loads of the output, which
# caption the equations leave out
# draws layers.csv: predicted_l2_lines predicted_l3_lines predicted_dram_lines of algo: $member_algos
# draws layers.csv: simulated_l2_lines simulated_l3_lines simulated_dram_lines of algo: $member_algos
# slots layers.csv: layer_index layer $shape_columns of macs: 120
load figures."/common.gp"
# A level's lines come from the next level outwards, or from memory.
n_panels = words(levels); n_columns = n_panels; enter_panel = 'from = word("l2 l3 dram", p == n_panels ? 3 : p)'
law(p) = word("N_L2 N_L3 N_DRAM", p == n_panels ? 3 : p).", Eq. ".word("14 13 8+11", p == n_panels ? 3 : p)
is_rows = 1; bars = member_algos; n_bars = words(bars); n_parts = 0; is_log = 1; W = 1200; gap_x = 30
mark_points = "circle open_square"; mark_sizes = "0.9 1.4"; over(p, s) = p == 0 && s == 0 ? 1 : p / max2(s, 1)
mark(m) = over(number("predicted_".from."_lines"), number((m == 1 ? "simulated_" : "simulated_tile_").from."_lines"))
mark_colour(b, m) = bar_colour(b, 1); n_rules = 1; rule(i) = 1; flag(dummy) = is_chosen(0)
title_text = sprintf("%s: lines that CSA predicts over simulated lines, layer by layer (%s)", model, layer_text)
panel_title(p) = sprintf("lines from %s (%s)", p == n_panels ? "memory" : level_name(p + 1), law(p)); value_title(p) = "predicted / simulated"
eval legend_of_bars
dummy = legend("all loads", "black", circle) + legend("without loads of the output", "black", open_square) + legend("chosen by CSA", "black", dot)
dummy = note("Simulated: ".machine.", ".simulator.". Where no line is simulated, one line is assumed. ".slot_note)
load figures."/bars.gp"
