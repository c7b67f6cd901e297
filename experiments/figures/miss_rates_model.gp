# The paper's Figure 11 for one model: misses of each level in % of all loads, Base and SConv with the chosen schedule.
load figures."/common.gp"

array Simulated_base[3]; array Simulated_sconv[3]; array Measured_base[3]; array Measured_sconv[3]
reason = ""
do for [l = 1:3] {
    s = sprintf("simulated_l%d_miss_percent", l)
    m = sprintf("measured_l%d_miss_percent", l)
    sb = NaN; ss = NaN; mb = NaN; ms = NaN
    stats totals using (algo_is("base") ? (sb = column(s), mb = column(m)) : algo_is("sconv") ? (ss = column(s), ms = column(m)) : 0, \
        is_missing(stringcolumn(m)) ? (reason = stringcolumn(m)) : 0, 0) nooutput
    Simulated_base[l] = sb; Simulated_sconv[l] = ss; Measured_base[l] = mb; Measured_sconv[l] = ms
}
has_measured = Measured_base[1] == Measured_base[1] || Measured_sconv[1] == Measured_sconv[1]
if (Simulated_base[1] != Simulated_base[1] && Simulated_sconv[1] != Simulated_sconv[1] && !has_measured) {
    print "no miss rates to draw: neither Base nor both schedules of SConv were selected"
    exit status 77
}

W = 1050
columns = W / char_width
text = has_measured ? "Measured: ".host."." : "Measured: not available: ".short_reason(reason)."."
eval wrap_text
foot = wrapped; foot_lines = n_lines
text = "Simulated: ".machine.", ".simulator."."
eval wrap_text
foot = wrapped."\n".foot; foot_lines = foot_lines + n_lines
H = 500 + foot_lines * line_height
eval open_output

# x of the bars: Base 1, SConv 2; simulated left, measured right of it.
half = 0.19
bar = 0.34
label_of(v) = v != v ? "" : v >= 10 ? sprintf("%.1f", v) : v >= 0.095 ? sprintf("%.2f", v) : sprintf("%.2g", v)
fewer(b, s) = (b == b && s == s && s > 0) ? sprintf("%.2g", b / s) : "-"

what(kind) = stringcolumn("what") eq kind ? column("y") : NaN
title_text = sprintf("%s: cache misses in %% of all loads (%s), Base against SConv", model, layer_text)
eval put_head
set multiplot layout 1,3 \
    margins screen 0.07, screen 0.985, screen (foot_lines * line_height + 95) / H, screen 1 - (head_height - 6.0) / H spacing screen 0.065
set xrange [0.5:2.65]
set xtics ("Base" 1, "SConv" 2) scale 0
unset key
do for [l = 1:3] {
    if (l == 2) { eval drop_head; unset label 1000 }
    if (l == 1) { set label 1000 foot at screen 0.015, screen (foot_lines * line_height) / H left front }
    paper_base = l == 1 && strlen(paper_l1_base) ? real(paper_l1_base) : NaN
    paper_sconv = l == 1 && strlen(paper_l1_sconv) ? real(paper_l1_sconv) : NaN
    paper_ratio = l == 2 ? paper_l2_ratio : l == 3 ? paper_l3_ratio : ""
    top = max2(max2(max2(Simulated_base[l], Simulated_sconv[l]), max2(Measured_base[l], Measured_sconv[l])), max2(paper_base, paper_sconv))
    if (top != top || top <= 0) { top = 1 }
    set yrange [0:top * 1.3]
    set title sprintf("L%d", l) font ",12" offset 0, -0.3
    set ylabel (l == 1 ? "misses / all loads [%]" : "")
    set xlabel sprintf("misses of Base / misses of SConv:\nsimulated %s%s%s", fewer(Simulated_base[l], Simulated_sconv[l]), \
        has_measured ? ", measured ".fewer(Measured_base[l], Measured_sconv[l]) : "", \
        strlen(paper_ratio) ? "\npaper (average) ".paper_ratio : " ") offset 0, 0.2
    set key at graph 1, graph 1.0 right top Left reverse samplen 1.5 width 0
    unset label 1; unset label 2; unset label 3
    if (!has_measured) {
        set label 1 "measured: not available" at 1 + half, graph 0.02 rotate by 90 left tc rgb "#606060" font ",9"
        set label 2 "measured: not available" at 2 + half, graph 0.02 rotate by 90 left tc rgb "#606060" font ",9"
    }
    set boxwidth bar absolute
    set print $bars
    print "x\ty\ttext\twhat"
    print sprintf("%g\t%.9g\t%s\tsimulated base", 1 - half, Simulated_base[l], label_of(Simulated_base[l]))
    print sprintf("%g\t%.9g\t%s\tsimulated sconv", 2 - half, Simulated_sconv[l], label_of(Simulated_sconv[l]))
    print sprintf("%g\t%.9g\t%s\tmeasured base", 1 + half, Measured_base[l], label_of(Measured_base[l]))
    print sprintf("%g\t%.9g\t%s\tmeasured sconv", 2 + half, Measured_sconv[l], label_of(Measured_sconv[l]))
    print sprintf("1.46\t%.9g\t%s\tpaper", paper_base, paper_l1_base)
    print sprintf("2.46\t%.9g\t%s\tpaper", paper_sconv, paper_l1_sconv)
    unset print
    plot $bars using "x":(what("simulated base")) with boxes lc rgb colour_base notitle, \
         $bars using "x":(what("simulated sconv")) with boxes lc rgb colour_sconv notitle, \
         $bars using "x":(what("measured base")) with boxes lc rgb colour_base fs pattern 4 border notitle, \
         $bars using "x":(what("measured sconv")) with boxes lc rgb colour_sconv fs pattern 4 border notitle, \
         $bars using "x":"y":(stringcolumn("text")) with labels offset 0, 0.7 notitle, \
         $bars using "x":(what("paper")) with points pt 13 ps 1.6 lc rgb colour_paper notitle, \
         NaN with boxes lc rgb "#505050" title (l == 3 ? "simulated" : ""), \
         NaN with boxes lc rgb "#505050" fs pattern 4 border title (l == 3 && has_measured ? "measured" : ""), \
         NaN with points pt 13 ps 1.6 lc rgb colour_paper title (paper_base == paper_base ? "paper, average of 7 models" : "")
}
unset multiplot
