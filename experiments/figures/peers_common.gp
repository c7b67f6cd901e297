# What the figures of `make bench-peers` share. Variables: format, output, data (folder of the CSV files), what (one line of provenance),
# peak_gflops, read_gbytes ("0" if not sampled).
set encoding utf8
set datafile separator comma
set datafile commentschars "#"
set datafile columnheaders
set datafile missing NaN
set decimalsign "."
set tics nomirror
set border 3 lc rgb "#404040"
set grid ytics lt 1 lc rgb "#e0e0e0" lw 1
set style fill solid 1.0 noborder
set key outside top center horizontal samplen 2

# Okabe and Ito's palette.
colour_base = "#7f7f7f"; colour_rows = "#56b4e9"; colour_sconv = "#009e73"; colour_tuned = "#cc79a7"; colour_openblas = "#000000"
colour_nchw = "#e69f00"; colour_reorder = "#d55e00"; colour_blocked = "#0072b2"

# gnuplot reads "not available: ..." as no number; strcol() keeps it from reading the leading digits of anything else.
number(c) = (strcol(c)[1:4] eq "not ") ? NaN : column(c)
open_output = 'set terminal '.(format eq "svg" ? "svg" : "pngcairo")." size 1000,560 noenhanced font 'DejaVu Sans,11' background 'white'; set output output"
put_what = 'set label 99 what at screen 0.01, screen 0.02 left font ",8" tc rgb "#606060"; set bmargin 5'
