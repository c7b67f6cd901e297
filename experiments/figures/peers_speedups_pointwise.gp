# The paper's Figure 9: pointwise layers, where Base is BLAS's GEMM alone.
# draws speedups_pointwise.csv: $sconv_peers $other_peers
# reads layers.csv
load figures."/peers_common.gp"
sorted_csv = speedups_pointwise_csv
is_shown(dummy) = column("pointwise") == 1
title_text = "Speed-up over BLAS's GEMM, pointwise convolutions, network sweep"
load figures."/peers_curves.gp"
