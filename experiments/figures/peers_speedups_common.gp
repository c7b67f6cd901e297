# Every layer's speed-up over Base, each method's sorted: what peers_speedups.gp and peers_speedups_pointwise.gp share. These scripts set is_shown(0), the
# rows of layers.csv, and title_text. The SConvs are drawn last, above the other methods, and the last SConv thickest.
table = layers_csv; methods = other_peers." ".sconv_peers; n_series = words(methods); n_passes = n_series; n = 0; has = ""
is_of(m) = stringcolumn("method") eq m && is_network(0) && is_shown(0)
stats table using (is_of(word(peer_names, 1)) ? (n = n + 1, 0) : 0, is_network(0) && is_shown(0) && number("measured_speedup_vs_base") > 0 ? \
    (has = with_word(has, stringcolumn("method")), 0) : 0, 0) nooutput
series(dummy) = is_of(word(methods, g)) ? g : 0; y(dummy) = number("measured_speedup_vs_base")
point_of(s) = 0; line_of(s) = s > words(other_peers) ? 1 : 2; width_of(s) = s == n_series ? 3 : 2; series_colour(s) = colour_of_peer(word(methods, s))
W = 1200; panel_h = 420; is_sorted = 1; limits = "0:100"; y_has = "0 1"; n_rules = 1; rule(i) = 1
title_text = sprintf("%s (%d)", title_text, n); x_title(p) = "share of the layers, each method's sorted on its own [%]"
value_title(p) = "time of Base / time"
do for [s = 1:n_series] { if (index_in(has, word(methods, s))) { dummy = legend(title_of_peer(word(methods, s)), series_colour(s), -line_of(s)) } }
# The layers at both ends of the SConvs' curves.
extremes_of = table; n_wanted = 3; y_of_row(dummy) = number("measured_speedup_vs_base")
do for [m in sconv_peers] {
    ends = ""
    do for [sign = -1:1:2] {
        score(dummy) = is_of(m) ? sign * number("measured_speedup_vs_base") : NaN
        eval find_extremes
        do for [k = 1:n_extremes] { ends = ends.(k > 1 ? ", " : sign < 0 ? "slowest: " : "; fastest: ").sprintf("%s %.2f", Extreme_name[k], Extreme_y[k]) }
    }
    if (strlen(ends)) { dummy = note(title_of_peer(m)." – ".ends) }
}
load figures."/points.gp"
