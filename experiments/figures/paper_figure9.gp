# question How much faster than OpenBLAS's GEMM is SConv, on how many pointwise convolutions?
# caption As paper_figure8
# draws speedups.csv: speedup of layers: pointwise
# reads numbers.csv
load figures."/paper_common.gp"; wanted_layers = "pointwise"; best_metric = "max_pointwise_speedup_vs_blas"; won_metric = "pointwise_wins_percent"
title_text = "Figure 9: speed-up of SConv over OpenBLAS's GEMM, pointwise convolutions"
load figures."/paper_curves_common.gp"
