# What the figures of `make bench-peers` and `make judge` share. Variables: those of style.gp, what (one line of provenance).
load figures."/style.gp"

set key outside top center horizontal samplen 2
W = 1000; H = 560
put_what = 'set label 99 what at screen 0.01, screen 0.02 left font ",8" tc rgb "#606060"; set bmargin 5'
