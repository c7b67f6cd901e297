# question What does its net learn?
# caption Solid: pairs of variants that it learns from; dashed: those of layers that are held out. A coin has 0.693
# draws learning.csv: loss
load figures."/polydl_common.gp"; table = learning_csv; W = 900; panel_h = 330; n_series = 4; n_passes = 2; y_has = "0"
series(dummy) = 2 * column("threads") - 2 + g; x(dummy) = column("epoch"); y(dummy) = number(g == 1 ? "loss" : "held_out_loss")
point_of(s) = 0; line_of(s) = s % 2 ? 1 : 2; series_colour(s) = s < 3 ? blue : vermilion
series_title(s) = sprintf("times on %s: %s", s < 3 ? "1 thread" : "2 threads", s % 2 ? "learnt from" : "held out")
n_rules = 1; Rule_dash[1] = 3; rule(i) = log(2)
title_text = "PolyDL's net: cross entropy while it learns; dotted: a coin, 0.693"; x_title(p) = "epoch"; value_title(p) = "nats per pair"
eval legend_of_series
load figures."/points.gp"
