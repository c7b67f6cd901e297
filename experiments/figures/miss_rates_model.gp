# The paper's Figure 11 for one model: misses of each level in % of all loads. Base, SConv with the chosen schedule, and SConv with
# OpenBLAS's micro-kernel, which is what the paper compares.
load figures."/common.gp"

array Algo[3] = ["base", "sconv", "sconv_openblas"]
array Name[3] = ["Base", "SConv", "... OpenBLAS's\nmicro-kernel"]
array Colour[3] = [colour_base, colour_sconv, colour_openblas]
array Simulated[9]; array Measured[9]; array Simulated_loads[3]; array Measured_loads[3]
at(a, l) = 3 * a + l - 3
reason = ""; n_bars = 0; has_measured = 0
do for [a = 1:3] {
    simulated = NaN; measured = NaN
    stats totals using (algo_is(Algo[a]) ? (simulated = column("simulated_loads"), measured = column("measured_loads")) : 0, \
        is_missing(stringcolumn("measured_loads")) ? (reason = stringcolumn("measured_loads")) : 0, 0) nooutput
    Simulated_loads[a] = simulated; Measured_loads[a] = measured
    do for [l = 1:3] {
        s = sprintf("simulated_l%d_miss_percent", l)
        m = sprintf("measured_l%d_miss_percent", l)
        simulated = NaN; measured = NaN
        stats totals using (algo_is(Algo[a]) ? (simulated = column(s), measured = column(m)) : 0, 0) nooutput
        Simulated[at(a, l)] = simulated; Measured[at(a, l)] = measured
    }
    if (Measured[at(a, 1)] == Measured[at(a, 1)]) { has_measured = 1; n_bars = a }
    if (Simulated[at(a, 1)] == Simulated[at(a, 1)]) { n_bars = a }
}
if (n_bars == 0) {
    print "no miss rates to draw: neither Base nor SConv (both schedules, or with OpenBLAS's micro-kernel) were selected"
    exit status 77
}
if (n_bars < 2) { n_bars = 2 }

W = n_bars == 3 ? 1250 : 1050
columns = W / char_width
text = has_measured ? "Measured: ".host."." : "Measured: not available: ".short_reason(reason)."."
eval wrap_text
foot = wrapped; foot_lines = n_lines
text = "Simulated: ".machine.", ".simulator."."
eval wrap_text
foot = wrapped."\n".foot; foot_lines = foot_lines + n_lines
if (n_bars == 3) { foot_lines = foot_lines + 1 }
H = 500 + foot_lines * line_height
eval open_output

# x of the bars: 1 .. n_bars; simulated left, measured right of it.
half = 0.19
bar = 0.34
label_of(v) = v != v ? "" : v >= 10 ? sprintf("%.1f", v) : v >= 0.095 ? sprintf("%.2f", v) : sprintf("%.2g", v)
times(b, s) = (b == b && s == s && s > 0) ? sprintf("%.2g", b / s) : "-"
fewer_simulated(a) = times(Simulated[at(1, l)] * Simulated_loads[1], Simulated[at(a, l)] * Simulated_loads[a])
fewer_measured(a) = times(Measured[at(1, l)] * Measured_loads[1], Measured[at(a, l)] * Measured_loads[a])

what(kind) = stringcolumn("what") eq kind ? column("y") : NaN
title_text = sprintf("%s: cache misses in %% of all loads (%s), Base against SConv", model, layer_text)
eval put_head
set multiplot layout 1,3 \
    margins screen 0.07, screen 0.985, screen (foot_lines * line_height + 95) / H, screen 1 - (head_height - 6.0) / H spacing screen 0.065
set xrange [0.5:n_bars + 0.65]
set xtics scale 0
set xtics (Name[1] 1, Name[2] 2)
if (n_bars == 3) { set xtics add (Name[3] 3) }
unset key
do for [l = 1:3] {
    if (l == 2) { eval drop_head; unset label 1000 }
    if (l == 1) { set label 1000 foot at screen 0.015, screen ((foot_lines - (n_bars == 3)) * line_height) / H left front }
    paper_base = l == 1 && strlen(paper_l1_base) ? real(paper_l1_base) : NaN
    paper_sconv = l == 1 && strlen(paper_l1_sconv) ? real(paper_l1_sconv) : NaN
    paper_ratio = l == 2 ? paper_l2_ratio : l == 3 ? paper_l3_ratio : ""
    top = max2(paper_base, paper_sconv)
    do for [a = 1:3] { top = max2(top, max2(Simulated[at(a, l)], Measured[at(a, l)])) }
    if (top != top || top <= 0) { top = 1 }
    set yrange [0:top * 1.3]
    set title sprintf("L%d", l) font ",12" offset 0, -0.3
    set ylabel (l == 1 ? "misses / all loads [%]" : "")
    set xlabel "misses of Base / misses of SConv:\nsimulated ".fewer_simulated(2).(n_bars == 3 ? ", ".fewer_simulated(3) : ""). \
        (has_measured ? "; measured ".fewer_measured(2).(n_bars == 3 ? ", ".fewer_measured(3) : "") : ""). \
        (strlen(paper_ratio) ? "\npaper (average) ".paper_ratio : "\n ") offset 0, n_bars == 3 ? -0.9 : 0.2
    set key at graph 1, graph 1.0 right top Left reverse samplen 1.5 width 0
    set boxwidth bar absolute
    set print $bars
    print "x\ty\ttext\twhat"
    do for [a = 1:n_bars] {
        unset label a
        if (!has_measured) { set label a "measured: not available" at a + half, graph 0.02 rotate by 90 left tc rgb "#606060" font ",9" }
        print sprintf("%g\t%.9g\t%s\tsimulated %d", a - half, Simulated[at(a, l)], label_of(Simulated[at(a, l)]), a)
        print sprintf("%g\t%.9g\t%s\tmeasured %d", a + half, Measured[at(a, l)], label_of(Measured[at(a, l)]), a)
    }
    print sprintf("1.46\t%.9g\t%s\tpaper", paper_base, paper_l1_base)
    print sprintf("%g\t%.9g\t%s\tpaper", n_bars + 0.46, paper_sconv, paper_l1_sconv)
    unset print
    plot for [a = 1:n_bars] $bars using "x":(what(sprintf("simulated %d", a))) with boxes lc rgb Colour[a] notitle, \
         for [a = 1:n_bars] $bars using "x":(what(sprintf("measured %d", a))) with boxes lc rgb Colour[a] fs pattern 4 border notitle, \
         $bars using "x":"y":(stringcolumn("text")) with labels offset 0, 0.7 notitle, \
         $bars using "x":(what("paper")) with points pt 13 ps 1.6 lc rgb colour_paper notitle, \
         NaN with boxes lc rgb "#505050" title (l == 3 ? "simulated" : ""), \
         NaN with boxes lc rgb "#505050" fs pattern 4 border title (l == 3 && has_measured ? "measured" : ""), \
         NaN with points pt 13 ps 1.6 lc rgb colour_paper title (paper_base == paper_base ? "paper, average of 7 models" : "")
}
unset multiplot
