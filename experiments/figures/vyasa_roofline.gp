# MACs per cycle over MACs per byte, with the roofs of the units.
# question What bounds the workloads: the multipliers or the memory?
# caption A workload's intensity moves each tensor once. Solid roof: 64 bytes loaded a cycle; dashed: 48 bytes moved a cycle,
# caption which the paper's 21.22 of the fully connected one comes to. Cycles are the model's.
# draws vyasa.csv: printed_rate tuned_rate intensity
load figures."/vyasa_common.gp"
W = 1200; H = 560
eval open_output
set multiplot layout 1, 2 margins 0.06, 0.985, 0.15, 0.86 spacing 0.07
eval put_note
set logscale xy
set xlabel "MACs per byte"
set ylabel "MACs per model cycle"
set key bottom right
do for [b in "16 32"] {
    peak = b eq "16" ? 32 : 8
    set title b." bits"
    set xrange [0.05:1000]
    set yrange [peak / 16.0:peak * 1.3]
    set ytics (peak / 16.0, peak / 8.0, peak / 4, peak / 2, peak)
    plot [0.05:1000] (x * 64 < peak ? x * 64 : peak) with lines lw 2 lc rgb "black" title "loads, 64 B a cycle", \
         (x * 48 < peak ? x * 48 : peak) with lines lw 1.5 dt 2 lc rgb vermilion title "48 B a cycle", \
         vyasa_csv using (of_bits(b, column("intensity"))):(of_bits(b, column("printed_rate"))) with points pt 6 ps 1.2 lc rgb sky title "the paper's schedule", \
         vyasa_csv using (of_bits(b, column("intensity"))):(of_bits(b, column("tuned_rate"))) with points pt 7 ps 1 lc rgb blue title "tuned"
    unset label 97
}
unset multiplot
