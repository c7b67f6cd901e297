# The paper's Figure 9: every pointwise convolution's speed-up over OpenBLAS's GEMM, sorted.
# draws speedups.csv: speedup of layers: pointwise
# reads numbers.csv
wanted_layers = "pointwise"; best_metric = "max_pointwise_speedup_vs_blas"; won_metric = "pointwise_wins_percent"
title_text = "Figure 9: speed-up of SConv over OpenBLAS's GEMM, pointwise convolutions"
load figures."/paper_curves.gp"
