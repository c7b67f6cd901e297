# What each uncertain parameter is worth: geomeans of Table VI with other values.
# question What would the numbers be if the core were a little different?
# caption Table VI in 16 bits. Dashed: with the usual parameters. The idle cycles are the only fitted ones, and nothing tuned has
# caption any. Cycles are the model's.
# draws sensitivity.csv: printed_vi_16 tuned_vi_16
# hint VARY=1 makes some
load figures."/vyasa_common.gp"
W = 1000; H = 560
eval open_output
eval put_note
n = 0
stats sensitivity_csv using (n = n + 1, column("printed_vi_16") + column("tuned_vi_16")) nooutput
array Text[n]; array Rate[n]; array Best[n]
k = 0
stats sensitivity_csv using (k = k + 1, Text[k] = k == 1 ? "the usual ones" : stringcolumn("parameter")." = ".sprintf("%g", column("value")), \
    Rate[k] = column("printed_vi_16"), Best[k] = column("tuned_vi_16"), 0) nooutput
set lmargin at screen 0.30
set rmargin at screen 0.97
set bmargin at screen 0.16
set tmargin at screen 0.93
set xrange [0:33]
set yrange [n + 0.5:0.5]
unset ytics
set grid xtics
set xlabel "MACs per model cycle, geomean of Table VI, 16 bits"
set key at graph 0.5, 1.08 center top horizontal
do for [k = 1:n] { set label k Text[k] at graph -0.01, first k right font ",10" }
set arrow 1 from Rate[1], graph 0 to Rate[1], graph 1 nohead dt 2 lc rgb sky
set arrow 2 from Best[1], graph 0 to Best[1], graph 1 nohead dt 2 lc rgb blue
plot for [k = 1:n] [0:1] '+' using (Rate[k]):(k) every ::0::0 with points pt 6 ps 1.5 lw 2 lc rgb sky title (k == 1 ? "the paper's schedules" : ""), \
     for [k = 1:n] [0:1] '+' using (Best[k]):(k) every ::0::0 with points pt 7 ps 1.5 lc rgb blue title (k == 1 ? "tuned" : "")
