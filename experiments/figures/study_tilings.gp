# question How fast are the tilings of each method?
# caption Bars: of the best tiling that an exhaustive search found; whiskers: down to the worst tenth of the layers. halving is CSA's own method;
# caption alpha, beta and gamma are the shares of L1, L2 and L3 that CSA fills with tiles, 0.9 each in CSA's own method
# draws methods.csv: speed_percent worst_tenth_percent
load figures."/style.gp"; table = methods_csv; machines = "clx4208 power10 here"; n_panels = 3; n_columns = 3
is_of(m) = stringcolumn("machine") eq m && stringcolumn("part") eq (m eq "here" ? "others" : "all")
names = ""; do for [m in machines] { stats table using (is_of(m) ? (names = with_word(names, stringcolumn("method")), 0) : 0, 0) nooutput }
is_rows = 1; n_slots = words(names); W = 1200; gap_x = 30
slot(dummy) = is_of(word(machines, p)) ? index_in(names, stringcolumn("method")) : 0; part(k) = number("speed_percent")
low_of(dummy) = number("worst_tenth_percent"); high_of(dummy) = number("speed_percent"); bar_colour(b, k) = word(sky." ".orange." ".green, p)
share_of(s) = s[1:6] eq "alpha_" ? "CSA with ".s[7:*]." of L1" : s[1:5] eq "beta_" ? "CSA with ".s[6:*]." of L2" : s[1:6] eq "gamma_" ? "CSA with ".s[7:*]." of L3" : s
slot_label(i) = word(names, i) eq "halving" ? "halving (CSA)" : share_of(word(names, i)); n_rules = 1; rule(i) = 100
title_text = "Speed of each method's tilings, geometric mean over the layers; whiskers: the worst tenth"
panel_title(p) = word("'clx4208, by replay' 'power10, by replay' 'this computer, by the clock'", p); value_title(p) = "of the best tiling found [%]"
dummy = note("This computer: of the layers that csa2 was not fitted to.")
load figures."/bars.gp"
