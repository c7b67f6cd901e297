# question Do the models say what the clock says of the two schedules?
# caption A point per layer; on the dashed line they agree. In the lower left and upper right quarters the model chooses the faster schedule
# draws predictions.csv: measured_is_ws csa2_is_ws csa_is_ws
load figures."/style.gp"; table = predictions_csv
machines = "zen3 spr here"; n_panels = 2; n_columns = 2; n_series = 6; W = 1200; panel_h = 400; x_log = 1; is_log = 1; x_has = "1"; y_has = "1"
array There[6]; do for [s = 1:6] { There[s] = 0 }
series(dummy) = index_in(machines, stringcolumn("machine")) ? 2 * index_in(machines, stringcolumn("machine")) - (stringcolumn("caches") eq "cold") : 0
stats table using (series(0) > 0 ? (There[series(0)] = 1, 0) : 0, 0) nooutput
x(dummy) = number("measured_is_ws"); y(dummy) = number(p == 1 ? "csa_is_ws" : "csa2_is_ws")
point_of(s) = s % 2 ? 7 : 6; size_of(s) = 0.6; series_colour(s) = word(vermilion." ".blue." ".green, (s + 1) / 2)
n_references = 1; Rule_dash[1] = 2; reference(i, x) = x
before_plot = 'set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb dark; set arrow 2 from first 1, graph 0 to first 1, graph 1 nohead lc rgb dark'
title_text = "Time of input stationary / time of weight stationary, a point per layer"
panel_title(p) = p == 1 ? "CSA: Eq. 6 of input stationary / of weight stationary" : "csa2: cycles of input stationary / of weight stationary"
x_title(p) = "measured (left of 1: input stationary is faster)"; value_title(p) = p == 1 ? "predicted" : ""
do for [s = 1:6] { if (There[s]) { dummy = legend(word(machines, (s + 1) / 2).(s % 2 ? ", cold caches" : ", warm caches"), series_colour(s), point_of(s)) } }
dummy = note("CSA has one quotient for layers of many sizes: their points lie on one height.")
load figures."/points.gp"
