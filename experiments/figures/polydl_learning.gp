# How PolyDL's net learns: its loss, epoch by epoch, on what it learns from and on layers that are held out.
# question What does its net learn?
# caption Solid: pairs of variants that it learns from; dashed: those of layers that are held out. A coin has 0.693
# draws learning.csv: loss
W = 900; H = 480
load figures."/polydl_common.gp"
eval open_output
eval put_what
set title "PolyDL's net: cross entropy while it learns" noenhanced
set bmargin at screen (foot + 60) / H
set xlabel "epoch"
set ylabel "nats per pair"
set yrange [0:*]
set key bottom left
set arrow from graph 0, first log(2) to graph 1, first log(2) nohead dt 3 lc rgb "#404040"
set label 96 "a coin: 0.693" at graph 0.99, first log(2) right offset 0, 0.6 font ",9"
of_threads(t, v) = column("threads") == t ? v : NaN
array Shade[2] = [blue, vermilion]
plot for [t = 1:2] learning_csv using (column("epoch")):(of_threads(t, number("loss"))) with lines lw 2 lc rgb Shade[t] \
        title sprintf("times on %d thread%s: learnt from", t, t > 1 ? "s" : ""), \
     for [t = 1:2] learning_csv using (column("epoch")):(of_threads(t, number("held_out_loss"))) with lines lw 2 dt 2 lc rgb Shade[t] \
        title sprintf("times on %d thread%s: held out", t, t > 1 ? "s" : "")
