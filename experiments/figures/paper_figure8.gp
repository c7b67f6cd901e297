# question How much faster than Base is SConv, on how many of all convolutions?
# caption One curve per source of our numbers, sorted on its own; the legend says which are estimated, and which have fewer convolutions; diamonds:
# caption the paper's largest speed-up, and where its curve crosses 1
# draws speedups.csv: speedup of layers: all
# reads numbers.csv
load figures."/paper_common.gp"; wanted_layers = "all"; best_metric = "max_conv_speedup"; won_metric = "conv_wins_percent"
title_text = "Figure 8: speed-up of SConv over Base, all convolutions"
load figures."/paper_curves_common.gp"
