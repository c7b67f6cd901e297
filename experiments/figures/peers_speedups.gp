# The paper's Figure 8: every layer's speed-up over Base, sorted; the layers at the ends of SConv's curves are named.
# question How much faster than Base is each method, on how many layers? (Figures 8 and 9)
# caption Each method's speed-ups sorted on their own; where a curve crosses 1, that share of the layers is won. The
# caption layers at both ends of SConv's curves are named
# draws layers.csv: measured_speedup_vs_base of cache: network sweep
load figures."/peers_common.gp"
is_shown(dummy) = 1
title_text = "Speed-up over Base (im2col + OpenBLAS), all convolutions, in a network's caches"
load figures."/peers_speedups_common.gp"
