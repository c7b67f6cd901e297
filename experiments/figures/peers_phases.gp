# question Where does the time go? (Figure 10)
# caption Four bars per model: Base, SConv, SConv with OpenBLAS's micro-kernel, tuned SConv. 100 % is the time of Base's call. Base's shares come from
# caption a run in steps, whose bar is as much higher or lower as that run took longer or shorter than the call
# draws phases.csv: ukr_percent packing_percent steps_to_call
load figures."/peers_common.gp"; table = phases_csv; methods = word(peer_names, 1)." ".sconv_peers; n_bars = words(methods); n_slots = 0; n_unscaled = 0
stats table using (n_slots = max2(n_slots, int(column("number"))), n_unscaled = n_unscaled + !(number("steps_to_call") > 0), 0) nooutput
array Name[n_slots]; stats table using (Name[int(column("number"))] = stringcolumn("model"), 0) nooutput
W = max2(1000, 260 + n_slots * 110); panel_h = 400; n_parts = 4; n_rules = 1; rule(i) = 100
slot(dummy) = column("number"); bar(dummy) = index_in(methods, stringcolumn("method"))
part(k) = (is_missing(stringcolumn("steps_to_call")) ? 1 : number("steps_to_call")) * number(word("im2col packing ukr other", k)."_percent")
bar_colour(b, k) = word(vermilion." ".orange." ".green." ".grey, k)
title_text = "Where the time goes, in % of Base's time"; value_title(p) = n_unscaled ? "time [% of Base's, or of its own]" : "time [% of Base's]"
do for [k = 1:4] { dummy = legend(word("im2col packing micro-kernels other", k), bar_colour(1, k), square) }
titles = title_of_peer(word(methods, 1))." (run in steps)"; do for [b = 2:n_bars] { titles = titles."; ".title_of_peer(word(methods, b)) }
dummy = note("Bars from left: ".titles.". 100 % is the time of Base's call; Base in steps takes as much longer or shorter as Base's bar differs from \
100 %.".(n_unscaled ? " Bars whose times are not known show shares of their own." : ""))
load figures."/bars.gp"
