# Which analysis picks best: on how many layers is a ranking's first variant how near to the fastest?
# question Which analysis picks best?
# caption A curve per ranking: on how many layers its first variant loses at most that much of the fastest variant's
# caption speed. The target is where the dotted lines cross; dashed: no analysis at all, and the clock judged by itself
# draws rankings.csv: best_share
# reads totals.csv
W = 1300; H = 600
load figures."/polydl_common.gp"
eval open_output
eval put_what
# A net knows the times of layers that trained it: where there is one, the others are drawn.
has_net = 0
if (totals_csv ne "") { stats totals_csv using (stringcolumn("ranking") eq "polydl_dnn" && stringcolumn("part") eq "held_out" ? (has_net = 1, 0) : 0, 0) nooutput }
part = has_net ? "held_out" : "convolutions"
set label 98 "Speed of each ranking's first variant, ".(has_net ? "convolutions that the net was not trained on" : "all convolutions").", one thread" at screen 0.5, screen 1 - title_line / (1.0 * H) center font ",14"
set tmargin at screen 1 - 40.0 / H
set bmargin at screen (foot + 60) / H
set xlabel "speed lost against the layer's fastest variant: at most [%]"
set ylabel "layers [%]"
set yrange [0:1.02]
set ytics ("0" 0, "20" 0.2, "40" 0.4, "60" 0.6, "80" 0.8, "90" 0.9, "100" 1)
lowest = -0.5
stats rankings_csv using (lowest = min2(lowest, 99.5 - 100 * number("best_share")), 0) nooutput
set xrange [lowest:*]
set arrow from 5, graph 0 to 5, graph 1 nohead dt 3 lc rgb "#404040"
set arrow from graph 0, first 0.9 to graph 1, first 0.9 nohead dt 3 lc rgb "#404040"
set key outside right center Left reverse samplen 3
n = words(ranking_names)
array Shade[8] = [blue, vermilion, orange, sky, green, "#808080", "#000000", "#cc79a7"]
share(r) = stringcolumn("ranking") eq r && column("threads") == 1 && !is_gemm(0) && (!has_net || stringcolumn("part") eq part) ? 100 - 100 * number("best_share") : NaN
near(r) = 'near = NaN; if (totals_csv ne "") { stats totals_csv using (stringcolumn("ranking") eq "'.r.'" && stringcolumn("part") eq part && \
    stringcolumn("model") eq "all" && column("threads") == 1 ? (near = number("near_best_percent"), 0) : 0, 0) nooutput }'
array Title[8]
array Width[8]; array Dash[8]
# Curves may be the same: those that are drawn first are wider, so that they show below the others.
do for [k = 1:n] { Width[k] = k > n - 2 ? 1.5 : 2 + 1.2 * (n - 2 - k); Dash[k] = k > n - 2 ? 2 : 1 }
do for [k = 1:n] { eval near(word(ranking_names, k)); Title[k] = word(ranking_titles, k).(near == near ? sprintf(": %.0f %% at 95 %%", near) : "") }
has(k) = strstrt(Title[k], "%") > 0
plot for [k = 1:n] rankings_csv using (share(word(ranking_names, k))):(1) smooth cnormal with steps lw Width[k] dt Dash[k] lc rgb Shade[k] notitle, \
     for [k = 1:n] NaN with lines lw Width[k] dt Dash[k] lc rgb Shade[k] title (has(k) ? Title[k] : "")
