# Every layer's speed-up over Base, each method's sorted: what peers_speedups.gp and peers_speedups_pointwise.gp share. They set is_shown(0) (which
# rows of layers.csv) and title_text.
# The SConvs are drawn last, above the others, and the last of them thickest.
methods = other_peers." ".sconv_peers
n_others = words(other_peers); n_methods = words(methods)
is_of(m) = stringcolumn("method") eq m && is_network(0) && is_shown(0)
speedup_of(m) = is_of(m) ? number("measured_speedup_vs_base") : NaN
n = 0
stats layers_csv using (is_of(word(peer_names, 1)) ? (n = n + 1, 0) : 0, 0) nooutput

# A line of $curves for each layer and method, the methods by their places: the slowest first, with the share of the layers that are no faster.
array Has[n_methods + 1]; shown = "" # one more: gnuplot looks at what it would draw first, also if it draws none
do for [i = 1:n_methods] {
    Has[i] = 0
    stats layers_csv using (speedup_of(word(methods, i)) > 0 ? (Has[i] = Has[i] + 1, 0) : 0, 0) nooutput
    eval sprintf("set table $curve%d", i)
    if (Has[i]) { plot layers_csv using (speedup_of(word(methods, i))):(1.0 / Has[i]) smooth cumulative }
    unset table
    if (Has[i]) { shown = shown." ".i }
}
eval sprintf("set print $curve%d", n_methods + 1)
print ""
unset print
curve(i) = sprintf("$curve%d", i)

# Of SConv's methods, the layers at both ends of their curves: extremes of both directions, the slowest first.
extremes_of = layers_csv
n_wanted = 3
name_of(dummy) = stringcolumn("model")." ".stringcolumn("layer")
x_of_row(dummy) = 0
y_of_row(dummy) = number("measured_speedup_vs_base")
list = ""; ends = ""
do for [m in sconv_peers] {
    do for [direction in "-1 1"] {
        sign = direction + 0
        score(dummy) = is_of(m) ? sign * number("measured_speedup_vs_base") : NaN
        eval find_extremes
        ends = ""
        do for [k = 1:n_extremes] { ends = ends.(k > 1 ? ", " : "").sprintf("%s %.2f", Extreme_name[k], Extreme_y[k]) }
        if (n_extremes) { list = list.(sign < 0 ? title_of_peer(m)." -- slowest: " : "; fastest: ").ends }
    }
    list = list."\n"
}
W = 1280
columns = W / 7.0
foot = ""; foot_lines = 0
do for [m in sconv_peers] {
    at = strstrt(list, "\n"); text = list[1:at - 1]; list = list[at + 1:*]
    if (strlen(text)) { eval wrap_text; foot = foot.wrapped."\n"; foot_lines = foot_lines + n_lines }
}
text = what
eval wrap_text
foot = foot.wrapped; foot_lines = foot_lines + n_lines
top = 96; panel = 430; foot_line = 15.5
H = top + panel + 60 + foot_lines * foot_line
eval open_output

set label 98 sprintf("%s (%d)", title_text, n) at screen 0.5, screen 1 - title_line / (1.0 * H) center front font ",14"
set label 99 foot at screen 12.0 / W, screen (foot_lines - 0.3) * foot_line / (1.0 * H) left font ",9" tc rgb "#404040"
set lmargin at screen 70.0 / W
set rmargin at screen 1 - 20.0 / W
set tmargin at screen 1 - top / (1.0 * H)
set bmargin at screen 1 - (top + panel) / (1.0 * H)
set key at screen 0.5, screen 1 - 34.0 / H center top horizontal Left reverse maxrows 2 samplen 3
dash_of(i) = i > n_others ? 1 : 2
set xlabel "share of the layers, each method's sorted on its own [%]"
set ylabel "time of Base / time"
set xrange [0:100]
set yrange [0:*]
set datafile separator whitespace # those of $curves
unset datafile columnheaders
at(k) = k > words(shown) ? n_methods + 1 : int(word(shown, k))
plot 1 with lines lc rgb "black" notitle, for [k = 1:words(shown)] curve(at(k)) using (100 * (1 - $2) * Has[at(k)] / n + 50.0 / n):1 \
    with lines lw (at(k) == n_methods ? 3 : 2) dt dash_of(at(k)) lc rgb colour_of_peer(word(methods, at(k))) title title_of_peer(word(methods, at(k)))
