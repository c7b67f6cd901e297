# Roofline: achieved speed against flop per byte of compulsory traffic, under the sampled FMA peak and read bandwidth.
load figures."/peers_common.gp"
file = data."/roofline.csv"
n = 0; peak = peak_gflops + 0; bandwidth = read_gbytes + 0
stats file using (n = n + 1, 0) nooutput
if (n == 0) { print "no layers were timed"; exit status 77 }
eval open_output
eval put_what
set title sprintf("Roofline: %d convolutions, network sweep; peak %.0f GFLOP/s, memory %.1f GB/s, both sampled in the same run", n, peak, bandwidth)
set xlabel "flop per byte of input, filter and output, each moved once"
set ylabel "GFLOP/s, nominal"
set logscale xy
roof(x) = (peak > 0) ? (bandwidth * x < peak ? bandwidth * x : peak) : NaN
set yrange [1:*]
plot file using (column("flop_per_byte")):(number("base")) with points pt 7 ps 0.6 lc rgb colour_base title "Base", \
     file using (column("flop_per_byte")):(number("onednn_nchw")) with points pt 4 ps 0.6 lc rgb colour_nchw title "oneDNN, NCHW", \
     file using (column("flop_per_byte")):(number("onednn_blocked")) with points pt 6 ps 0.6 lc rgb colour_blocked title "oneDNN, no reorders", \
     file using (column("flop_per_byte")):(number("sconv")) with points pt 7 ps 0.6 lc rgb colour_sconv title "SConv", \
     file using (column("flop_per_byte")):(number("sconv_tuned")) with points pt 7 ps 0.7 lc rgb colour_tuned title "SConv, tuned", \
     roof(x) with lines lw 2 lc rgb "black" title "roof"
