# The paper's Figure 10: where the time of Base and SConv goes. Both in units of Base's time; where that is not available, SConv's in units of its own.
load figures."/peers_common.gp"
file = data."/phases.csv"
n = 0
stats file using (n = n + 1, 0) nooutput
if (n == 0) { print "no models were timed"; exit status 77 }
eval open_output
eval put_what
set title "Where the time goes. From left: Base in steps, SConv, SConv with OpenBLAS's micro-kernel, tuned SConv"
set ylabel "% of Base's time (without left bar: of its own)"
set xrange [0.4:n + 0.6]
set yrange [0:*]
set boxwidth 0.19
x(side) = column("number") + side * 0.21
top(a, b, c, d) = number(a) + (b eq "" ? 0 : number(b)) + (c eq "" ? 0 : number(c)) + (d eq "" ? 0 : number(d))
or_one(v) = (v == v) ? v : 1
part(m, b, c) = or_one(number(m."_to_base")) * top(m."_packing_percent", b eq "" ? "" : m.b, c eq "" ? "" : m.c, "")
array sconv = ["sconv", "sconv_openblas", "sconv_tuned"]
plot file using (x(-1.5)):(top("base_im2col_percent", "base_packing_percent", "base_ukr_percent", "base_other_percent")) with boxes lc rgb "#c0c0c0" title "other", \
     file using (x(-1.5)):(top("base_im2col_percent", "base_packing_percent", "base_ukr_percent", "")) with boxes lc rgb colour_sconv title "micro-kernels", \
     file using (x(-1.5)):(top("base_im2col_percent", "base_packing_percent", "", "")) with boxes lc rgb colour_nchw title "packing", \
     file using (x(-1.5)):(top("base_im2col_percent", "", "", "")) with boxes lc rgb colour_reorder title "im2col", \
     for [i=1:3] file using (x(i - 1.5)):(part(sconv[i], "_ukr_percent", "_other_percent")) with boxes lc rgb "#c0c0c0" notitle, \
     for [i=1:3] file using (x(i - 1.5)):(part(sconv[i], "_ukr_percent", "")) with boxes lc rgb colour_sconv notitle, \
     for [i=1:3] file using (x(i - 1.5)):(part(sconv[i], "", "")) with boxes lc rgb colour_nchw notitle, \
     file using (column("number")):(NaN):xticlabel(strcol("model")) notitle
