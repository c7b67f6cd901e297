# Which analysis picks best: on how many layers is a ranking's first variant how near to the fastest?
# draws rankings.csv: best_share
# reads totals.csv
W = 1000; H = 600
load figures."/polydl_common.gp"
eval open_output
eval put_what
set label 98 "Speed of each ranking's first variant, all convolutions, one thread" at screen 0.5, screen 1 - title_line / (1.0 * H) center font ",14"
set tmargin at screen 1 - 40.0 / H
set bmargin at screen (foot + 60) / H
set xlabel "at least that share of the fastest variant's speed [%]"
set ylabel "layers [%]"
set xrange [-100:-50]
set yrange [0:1.02]
set ytics ("0" 0, "20" 0.2, "40" 0.4, "60" 0.6, "80" 0.8, "90" 0.9, "100" 1)
set xtics ("100" -100, "95" -95, "90" -90, "80" -80, "70" -70, "60" -60, "50" -50)
set arrow from -95, graph 0 to -95, graph 1 nohead dt 3 lc rgb "#404040"
set arrow from graph 0, first 0.9 to graph 1, first 0.9 nohead dt 3 lc rgb "#404040"
set key bottom right
n = words(ranking_names)
array Shade[8] = [blue, vermilion, orange, sky, green, "#808080", "#000000", "#cc79a7"]
share(r) = stringcolumn("ranking") eq r && column("threads") == 1 && !is_gemm(0) ? -100 * number("best_share") : NaN
near(r) = 'near = NaN; if (totals_csv ne "") { stats totals_csv using (stringcolumn("ranking") eq "'.r.'" && stringcolumn("part") eq "convolutions" && \
    stringcolumn("model") eq "all" && column("threads") == 1 ? (near = number("near_best_percent"), 0) : 0, 0) nooutput }'
array Title[8]
array Width[8]; array Dash[8]
do for [k = 1:n] { Width[k] = k > n - 2 ? 1.5 : 2.5; Dash[k] = k > n - 2 ? 2 : 1 }
do for [k = 1:n] { eval near(word(ranking_names, k)); Title[k] = word(ranking_titles, k).(near == near ? sprintf(": %.0f %% at 95 %%", near) : "") }
has(k) = strstrt(Title[k], "%") > 0
plot for [k = 1:n] rankings_csv using (share(word(ranking_names, k))):(1) smooth cnormal with steps lw Width[k] dt Dash[k] lc rgb Shade[k] notitle, \
     for [k = 1:n] NaN with lines lw Width[k] dt Dash[k] lc rgb Shade[k] title (has(k) ? Title[k] : "")
