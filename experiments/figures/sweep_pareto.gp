# question What does more cache buy?
# caption A point per configuration; the line goes through those that no other beats in both cost and size. Points of the first algorithm's line are
# caption named by the sizes that vary, of neighbours the first. Where only tiles vary, there is no such figure
# draws configs.csv: cost of algo: $shown_algos
load figures."/style.gp"; table = configs_csv; models = ""; low = NaN; high = NaN; most = 0
stats table using (models = with_word(models, stringcolumn("model")), low = min2(low, column("cache_bytes")), high = max2(high, column("cache_bytes")), most = max2(most, number("cost")), 0) nooutput
if (low == high) { print "the caches are of one size: what varies is not how much cache there is"; exit status 77 }
unit = most >= 1e9 ? 1e9 : most >= 1e6 ? 1e6 : 1
n_algos = words(shown_algos); n_panels = words(models); n_series = 2 * n_algos; n_passes = 2; W = 1000; panel_h = n_panels > 1 ? 260 : 380; x_log = 1; y_has = "0"; gap_y = 90; labels_in_all = 1
named = word(shown_algos, 1) # names of one line are enough, and names of several lines hide each other
series(dummy) = stringcolumn("model") ne word(models, p) || (g == 2 && column("pareto") != 1) ? 0 : index_in(shown_algos, stringcolumn("algo")) ? \
    index_in(shown_algos, stringcolumn("algo")) + (g - 1) * n_algos : 0
x(dummy) = column("cache_bytes") / 1024.0; y(dummy) = number("cost") / unit
# Of neighbours, the first is named.
taken = ""; is_next(v) = int(sum [i = 1:words(taken)] (abs(log(v / word(taken, i))) < 0.02)) ? 0 : (taken = taken.sprintf(" %g", v), 1)
enter_panel = 'taken = ""'
label(dummy) = g == 2 && column("pareto") == 1 && stringcolumn("model") eq word(models, p) && stringcolumn("algo") eq named && is_next(x(0)) ? \
    stringcolumn(x_key).(y_key eq "" ? "" : " / ".stringcolumn(y_key)) : no_label
point_of(s) = s > n_algos ? 6 : 7; size_of(s) = s > n_algos ? 1.4 : 0.7; line_of(s) = s > n_algos
series_colour(s) = colour_of(word(shown_algos, (s - 1) % n_algos + 1))
title_text = sprintf("What more cache buys on %s: %s", machine, words(models) > 3 ? sprintf("%d models", words(models)) : models)
subtitle_text = "a point per configuration; on a line: no other costs less with as little cache. Names: ".x_key.(y_key eq "" ? "" : " / ".y_key)
panel_title(p) = n_panels > 1 ? word(models, p) : ""; x_title(p) = "all caches together [KiB]"
value_title(p) = cost_label.(unit >= 1e9 ? " [billions]" : unit > 1 ? " [millions]" : "")
do for [a in shown_algos] { dummy = legend(title_of(a), colour_of(a), circle) }
load figures."/points.gp"
