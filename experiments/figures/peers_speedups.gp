# The paper's Figure 8: every layer's speed-up over Base, sorted.
load figures."/peers_common.gp"
file = data."/speedups.csv"
n = 0
stats file using (n = n + 1, 0) nooutput
if (n == 0) { print "no layers were timed"; exit status 77 }
eval open_output
eval put_what
set title sprintf("Speed-up over Base (im2col + OpenBLAS), %d convolutions, network sweep", n)
set xlabel "share of the layers, each method's sorted on its own, %"
set ylabel "time of Base / time"
set xrange [0:100]
set yrange [0:*]
set arrow from 0, 1 to 100, 1 nohead lc rgb "black"
plot file using (column("rank_percent")):(number("base_rows")) with lines lw 2 lc rgb colour_rows title "im2col by rows", \
     file using (column("rank_percent")):(number("onednn_nchw")) with lines lw 2 lc rgb colour_nchw title "oneDNN, NCHW", \
     file using (column("rank_percent")):(number("onednn_reorder")) with lines lw 2 lc rgb colour_reorder title "oneDNN, reorders timed", \
     file using (column("rank_percent")):(number("onednn_blocked")) with lines lw 2 dt 2 lc rgb colour_blocked title "oneDNN, no reorders", \
     file using (column("rank_percent")):(number("sconv")) with lines lw 2 lc rgb colour_sconv title "SConv", \
     file using (column("rank_percent")):(number("sconv_openblas")) with lines lw 2 dt 3 lc rgb colour_openblas title "SConv, OpenBLAS's micro-kernel", \
     file using (column("rank_percent")):(number("sconv_tuned")) with lines lw 3 lc rgb colour_tuned title "SConv, tuned"
