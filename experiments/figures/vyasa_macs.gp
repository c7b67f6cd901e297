# MACs per cycle of every workload, with the paper's schedules and with the tuned ones.
# question How busy are the multipliers, with the paper's schedules and with the best ones?
# caption Bars: the model with the paper's schedule, and tuned; short lines: what the operations alone would allow; dashed: the
# caption geomeans that the paper prints for Table VI, Table VII and CONV3D. Cycles are the model's.
# draws vyasa.csv: printed_rate tuned_rate operations_rate
# draws numbers.csv: printed
load figures."/vyasa_common.gp"
W = 1200; H = 760
eval open_output
set multiplot
eval put_note
set lmargin at screen 0.06
set rmargin at screen 0.965
set ylabel "MACs per model cycle"
do for [b in "16 32"] {
    top = b eq "16" ? 0.94 : 0.47
    peak = b eq "16" ? 32 : 8
    set tmargin at screen top - 0.02
    set bmargin at screen top - 0.30
    set yrange [0:peak * 1.12]
    eval n_of(b + 0)
    set xrange [-0.7:n - 0.3]
    set boxwidth 0.36
    set label 96 b." bits, peak ".sprintf("%d", peak) at graph 0, graph 1.12 left font ",12"
    set key at graph 0.6, graph 1.17 center top horizontal Left reverse samplen 2
    set xtics rotate by -40 font ",9" scale 0
    array Rate[n]; array Best[n]; array Bound[n]; array Name[n]; array Group[n]
    k = 0
    stats vyasa_csv using (column("bits") == b ? (k = k + 1, Rate[k] = column("printed_rate"), Best[k] = column("tuned_rate"), \
        Bound[k] = column("operations_rate"), Name[k] = stringcolumn("workload"), Group[k] = stringcolumn("table"), 0) : 0, 0) nooutput
    unset xtics
    do for [k = 1:n] { set label k Name[k] at k - 1, graph -0.04 rotate by 40 right font ",9" }
    array Printed[3]
    stats numbers_csv using (k = stringcolumn("metric") eq "macs_per_cycle_geomean_".b."bit" ? strstrt("Figure 10 11 13", stringcolumn("where")[8:9]) : 0, \
        k > 0 ? (Printed[(k - 5) / 3] = column("printed"), 0) : 0) nooutput
    # A line for each of the paper's tables, from its first workload to its last one.
    array First[3]; array Last[3]
    do for [g = 1:3] { First[g] = NaN; Last[g] = NaN }
    table_of(k) = Group[k] eq "VI" ? 1 : Group[k] eq "VII" ? 2 : 3
    do for [k = 1:n] { g = table_of(k); First[g] = min2(First[g], k - 1.48); Last[g] = max2(Last[g], k - 0.52) }
    plot for [k = 1:n] [0:1] '+' using (k - 1 - 0.19):(Rate[k]) every ::0::0 with boxes lc rgb sky title (k == 1 ? "the paper's schedule" : ""), \
         for [k = 1:n] [0:1] '+' using (k - 1 + 0.19):(Best[k]) every ::0::0 with boxes lc rgb blue title (k == 1 ? "tuned" : ""), \
         for [k = 1:n] [0:1] '+' using (k - 1 + 0.19):(Bound[k]):(0.2) every ::0::0 with xerrorbars pt 0 lw 2 lc rgb "black" \
            title (k == 1 ? "operations alone" : ""), \
         for [g = 1:3] '+' using (First[g]):(Printed[g]):(Last[g] - First[g]):(0) every ::0::0 with vectors nohead lw 1.5 dt 2 lc rgb vermilion \
            title (g == 1 ? "the paper's geomean" : "")
    do for [k = 1:n] { unset label k }
    unset label 96; unset label 97
}
unset multiplot
