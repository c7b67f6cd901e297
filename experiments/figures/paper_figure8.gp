# The paper's Figure 8: every convolution's speed-up over Base, sorted.
# draws speedups.csv: speedup of layers: all
# reads numbers.csv
wanted_layers = "all"; best_metric = "max_conv_speedup"; won_metric = "conv_wins_percent"
title_text = "Figure 8: speed-up of SConv over Base, all convolutions"
load figures."/paper_curves.gp"
