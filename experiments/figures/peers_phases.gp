# The paper's Figure 10: where the time of Base and SConv goes. Both in units of Base's time; where that is not available, SConv's in units of its own.
load figures."/peers_common.gp"
file = data."/phases.csv"
n = 0
stats file using (n = n + 1, 0) nooutput
if (n == 0) { print "no models were timed"; exit status 77 }
eval open_output
eval put_what
set title "Where the time goes: Base (left bars, OpenBLAS's own routines step by step), SConv (middle), tuned (right)"
set ylabel "% of Base's time (without left bar: of its own)"
set xrange [0.4:n + 0.6]
set yrange [0:*]
set boxwidth 0.24
x(side) = column("number") + side * 0.27
top(a, b, c, d) = number(a) + (b eq "" ? 0 : number(b)) + (c eq "" ? 0 : number(c)) + (d eq "" ? 0 : number(d))
or_one(v) = (v == v) ? v : 1
ratio(dummy) = or_one(number("sconv_to_base"))
ratio_tuned(dummy) = or_one(number("tuned_to_base"))
plot file using (x(-1)):(top("base_im2col_percent", "base_packing_percent", "base_ukr_percent", "base_other_percent")) with boxes lc rgb "#c0c0c0" title "other", \
     file using (x(-1)):(top("base_im2col_percent", "base_packing_percent", "base_ukr_percent", "")) with boxes lc rgb colour_sconv title "micro-kernels", \
     file using (x(-1)):(top("base_im2col_percent", "base_packing_percent", "", "")) with boxes lc rgb colour_nchw title "packing", \
     file using (x(-1)):(top("base_im2col_percent", "", "", "")) with boxes lc rgb colour_reorder title "im2col", \
     file using (x(0)):(ratio(0) * top("sconv_packing_percent", "sconv_ukr_percent", "sconv_other_percent", "")) with boxes lc rgb "#c0c0c0" notitle, \
     file using (x(0)):(ratio(0) * top("sconv_packing_percent", "sconv_ukr_percent", "", "")) with boxes lc rgb colour_sconv notitle, \
     file using (x(0)):(ratio(0) * top("sconv_packing_percent", "", "", "")) with boxes lc rgb colour_nchw notitle, \
     file using (x(1)):(ratio_tuned(0) * top("tuned_packing_percent", "tuned_ukr_percent", "tuned_other_percent", "")) with boxes lc rgb "#c0c0c0" notitle, \
     file using (x(1)):(ratio_tuned(0) * top("tuned_packing_percent", "tuned_ukr_percent", "", "")) with boxes lc rgb colour_sconv notitle, \
     file using (x(1)):(ratio_tuned(0) * top("tuned_packing_percent", "", "", "")) with boxes lc rgb colour_nchw notitle, \
     file using (column("number")):(NaN):xticlabel(strcol("model")) notitle
