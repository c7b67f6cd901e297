# question How much faster than Base is each method, on how many layers? (Figures 8 and 9)
# caption Each method's speed-ups sorted on their own; where a curve crosses 1, that share of the layers is won. The layers at both ends of SConv's
# caption curves are named
# draws layers.csv: measured_speedup_vs_base of cache: network sweep
load figures."/peers_common.gp"; is_shown(dummy) = 1; title_text = "Speed-up over Base (im2col + OpenBLAS), all convolutions, in a network's caches"
load figures."/peers_speedups_common.gp"
