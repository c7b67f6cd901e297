# The paper's Figure 8: every layer's speed-up over Base, sorted; the layers at the ends of SConv's curves are named.
# draws speedups.csv: $sconv_peers $other_peers
# reads layers.csv
load figures."/peers_common.gp"
sorted_csv = speedups_csv
is_shown(dummy) = 1
title_text = "Speed-up over Base (im2col + OpenBLAS), all convolutions, network sweep"
load figures."/peers_curves.gp"
