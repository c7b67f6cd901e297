# Multiply-adds of each layer, in the order of the networks.
# question Which layers have the work?
# caption A bar per layer, in % of its network's multiply-adds
# draws macs.csv: percent
load figures."/style.gp"
W = 1000; H = 420
eval open_output
title_text = "Multiply-adds of the layers"; subtitle_text = what
eval put_head
set tmargin at screen 1 - head_height / (1.0 * H)
set key off
set ylabel "% of the network's multiply-adds"
set xlabel "layer"
plot macs_csv using ($0 + 1):(number("percent")) with boxes lc rgb blue
