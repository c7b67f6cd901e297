# The paper's Figure 11 for one model: load misses of each level. Above: in % of all loads, as in the paper. Below: per 1000 multiply-adds, which
# compares algorithms that make different numbers of loads, and whose quotients stand below, but for those of misses that are few. Base, SConv with the chosen schedule, SConv with OpenBLAS's micro-kernel, which is
# what the paper compares, and what else ran. A machine with prefetchers is simulated twice, with and without them.
# question How many loads miss in each level? (the paper's Figure 11 for one model)
# caption Above: in % of all loads; below: per 1000 multiply-adds, which compares algorithms that make different numbers
# caption of loads. Solid bars are simulated. Where the machine has more than caches, pale ones are of its caches alone;
# caption where counters counted, hatched ones are measured; where the paper had this machine, diamonds are its average of
# caption seven models. Numbers below the bars are Base's misses / the other's; grey: both miss in less than 0.1 % of their
# caption loads
# draws model.csv: simulated_l1_miss_percent measured_l1_miss_percent of algo: $total_algos
# slots layers.csv: layer_index layer $shape_columns
load figures."/common.gp"
totals = model_csv

n_all = words(total_algos)
array Algo[n_all]; array Name[n_all]
columns = 20; name_lines = 1
do for [a = 1:n_all] { Algo[a] = word(total_algos, a); text = title_of(Algo[a]); eval wrap_text; Name[a] = wrapped; name_lines = max2(name_lines, n_lines) }
array Simulated[3 * n_all]; array Measured[3 * n_all]; array Simulated_loads[n_all]; array Measured_loads[n_all]
array Alone[3 * n_all]; array Alone_loads[n_all]
at(a, l) = 3 * a + l - 3
reason = ""; has_measured = 0; has_alone = 0; macs = NaN; n_bars = 0
paper_bar = 1 # beside which the paper's SConv stands
array Bar_of[n_all]; array Algo_of[n_all]
do for [a = 1:n_all] {
    simulated = NaN; measured = NaN; alone = NaN
    stats totals using (algo_is(Algo[a]) ? (simulated = column("simulated_loads"), measured = column("measured_loads"), \
        alone = column("simulated_alone_loads"), \
        macs = max2(macs, column("macs"))) : 0, \
        reason eq "" && algo_is(Algo[a]) && is_missing(stringcolumn("measured_loads")) ? (reason = stringcolumn("measured_loads")) : 0, 0) nooutput
    Simulated_loads[a] = simulated; Measured_loads[a] = measured; Alone_loads[a] = alone
    do for [l = 1:n_levels] {
        s = sprintf("simulated_l%d_miss_percent", l)
        m = sprintf("measured_l%d_miss_percent", l)
        c = sprintf("simulated_alone_l%d_miss_percent", l)
        simulated = NaN; measured = NaN; alone = NaN
        stats totals using (algo_is(Algo[a]) ? (simulated = column(s), measured = column(m), alone = column(c)) : 0, 0) nooutput
        Simulated[at(a, l)] = simulated; Measured[at(a, l)] = measured; Alone[at(a, l)] = alone
        if (alone == alone && alone != simulated) { has_alone = 1 }
    }
    if (Measured[at(a, 1)] == Measured[at(a, 1)]) { has_measured = 1 }
    Bar_of[a] = 0
    if (max2(Measured[at(a, 1)], Simulated[at(a, 1)]) == max2(Measured[at(a, 1)], Simulated[at(a, 1)])) {
        n_bars = n_bars + 1; Bar_of[a] = n_bars; Algo_of[n_bars] = a
        if (Algo[a] eq chosen || index_in(default_algos, Algo[a])) { paper_bar = n_bars }
    }
}
has_paper = strlen(paper_l1_base) > 0
n_rows = macs > 0 ? 2 : 1

W = 90 + n_levels * (n_bars >= 3 ? 390 + 170 * (n_bars - 3) : 350) * (has_alone ? 1.2 : 1)
if (W < 700) { W = 700 }
columns = W / char_width
text = has_measured ? "Measured: ".host."." : "Measured: not available: ".short_reason(reason)."."
eval wrap_text
foot = wrapped; foot_lines = n_lines
text = "Simulated: ".machine.", ".simulator."."
eval wrap_text
foot = wrapped."\n".foot; foot_lines = foot_lines + n_lines
few_percent = 0.1 # of all loads: less of both, and their quotient says nothing (bench/case/estimate.h)
# Below the bars of the second row: Base's misses / each other's, a line for each kind of number, whose name stands below Base.
rate_of(kind, a) = kind eq "alone" ? Alone[at(a, l)] : kind eq "measured" ? Measured[at(a, l)] : Simulated[at(a, l)]
loads_of(kind, a) = kind eq "alone" ? Alone_loads[a] : kind eq "measured" ? Measured_loads[a] : Simulated_loads[a]
is_few(kind, a) = rate_of(kind, 1) < few_percent && rate_of(kind, a) < few_percent
quotient_of(kind, a) = is_few(kind, a) ? "few" : times(rate_of(kind, 1) * loads_of(kind, 1), rate_of(kind, a) * loads_of(kind, a))
kinds = (has_alone ? "alone " : "")."simulated ".(has_measured ? "measured" : "")
name_of_kind(kind) = kind eq "alone" ? "caches alone" : kind eq "simulated" && has_alone ? "as it is" : kind
quotient_head = "Base's misses / the other's:"
has_few = 0
do for [l = 1:n_levels] { do for [k = 1:words(kinds)] { do for [b = 2:n_bars] { if (Bar_of[1] && is_few(word(kinds, k), Algo_of[b])) { has_few = 1 } } } }
if (has_few) { foot = foot.sprintf("\nfew: Base and this one miss in less than %g %% of their loads.", few_percent); foot_lines = foot_lines + 1 }
if (has_paper) { foot = foot."\nPaper: SConv, Figure 11, average of seven models, measured on a real machine of this kind."; foot_lines = foot_lines + 1 }
n_quotients = Bar_of[1] && n_bars > 1 ? 1 + has_alone + has_measured + has_paper : 0
panel = 300; head = 128; gap = 120; bottom = 40 + (name_lines + (n_quotients ? n_quotients + 1.5 : 0)) * line_height + foot_lines * line_height
H = head + n_rows * panel + (n_rows - 1) * gap + bottom
eval open_output

# x of the bars: 1 .. n_bars; simulated left, measured right of it; by caches alone leftmost.
n_kinds = 1 + has_measured + has_alone
step = n_kinds == 3 ? 0.28 : 0.38
bar = n_kinds == 3 ? 0.25 : n_kinds == 2 ? 0.34 : 0.5
x_of(kind) = (kind - 1 - (n_kinds - 1) / 2.0) * step
x_alone = x_of(1); x_simulated = x_of(1 + has_alone); x_measured = x_of(n_kinds)
label_of(v) = v != v ? "" : v >= 10 ? sprintf("%.1f", v) : v >= 0.095 ? sprintf("%.2f", v) : sprintf("%.2g", v)
times(b, s) = (b == b && s == s && s > 0) ? sprintf(b / s >= 10 ? "%.0f" : "%.2g", b / s) : "-"
per_work(rate, loads) = rate / 100 * loads / macs * 1000
simulated_of(a) = by_work ? per_work(Simulated[at(a, l)], Simulated_loads[a]) : Simulated[at(a, l)]
alone_of(a) = !has_alone ? NaN : by_work ? per_work(Alone[at(a, l)], Alone_loads[a]) : Alone[at(a, l)]
measured_of(a) = by_work ? per_work(Measured[at(a, l)], Measured_loads[a]) : Measured[at(a, l)]
line_at(n) = -1.2 - name_lines - 1.15 * n
put_line = 'n_lines = n_lines + 1; set label label_id line_name at first 1, graph 0 offset 0, line_at(n_lines) center front; label_id = label_id + 1'
put_number = 'set label label_id line_text at first b, graph 0 offset 0, line_at(n_lines) center front tc rgb line_colour; label_id = label_id + 1'
put_quotients = 'n_lines = 0; label_id = 300; \
    set label 299 quotient_head at first 1, graph 0 offset -5, line_at(0) left front; \
    do for [k = 1:words(kinds)] { \
        kind = word(kinds, k); line_name = name_of_kind(kind); eval put_line; \
        do for [b = 2:n_bars] { \
            line_text = quotient_of(kind, Algo_of[b]); line_colour = line_text eq "few" ? "#909090" : "black"; eval put_number } }; \
    if (strlen(paper_ratio)) { line_name = "paper"; eval put_line; \
        b = paper_bar; line_text = paper_ratio; line_colour = colour_paper; eval put_number }'
drop_quotients = 'do for [id = 299:330] { unset label id }'

what(kind) = stringcolumn("what") eq kind ? column("y") : NaN
title_text = sprintf("%s: cache misses of Base and SConv (%s)", model, layer_text)
eval put_head
if (has_alone) { legend_text = "simulated, caches alone (pale)"; legend_point = square; legend_colour = "#c0c0c0"; eval put_legend }
legend_text = has_alone ? "simulated, the machine as it is" : "simulated"; legend_point = square; legend_colour = "#505050"; eval put_legend
if (has_measured) { legend_text = "measured (hatched)"; legend_point = open_square; eval put_legend }
if (has_paper) { legend_text = "paper, average of 7 models"; legend_point = diamond; legend_colour = colour_paper; eval put_legend }
set multiplot
set xrange [0.5:n_bars + 0.65]
unset key
set boxwidth bar absolute
left = 80; right = 16; space = 66
width = (W - left - right - (n_levels - 1) * space) / (1.0 * n_levels)
do for [row = 1:n_rows] {
    by_work = row == 2
    do for [l = 1:n_levels] {
        if (row * l == 2) { eval drop_head; unset label 1000 }
        if (row * l == 1) { set label 1000 foot at screen 12.0 / W, screen (foot_lines * line_height) / (1.0 * H) left front }
        x0 = left + (l - 1) * (width + space); y0 = head + (row - 1) * (panel + gap)
        set lmargin at screen x0 / (1.0 * W)
        set rmargin at screen (x0 + width) / (1.0 * W)
        set tmargin at screen 1 - y0 / (1.0 * H)
        set bmargin at screen 1 - (y0 + panel) / (1.0 * H)
        paper_base = has_paper && !by_work && l == 1 && Bar_of[1] ? real(paper_l1_base) : NaN
        paper_sconv = has_paper && !by_work && l == 1 && n_bars > 1 ? real(paper_l1_sconv) : NaN
        paper_ratio = by_work && n_levels == 3 ? (l == 2 ? paper_l2_ratio : l == 3 ? paper_l3_ratio : "") : ""
        top = max2(paper_base, paper_sconv)
        do for [b = 1:n_bars] { top = max2(top, max2(alone_of(Algo_of[b]), max2(simulated_of(Algo_of[b]), measured_of(Algo_of[b])))) }
        if (top != top || top <= 0) { top = 1 }
        set yrange [0:top * 1.15]
        set title level_name(l).(by_work ? ": load misses per 1000 multiply-adds" : ": load misses in % of all loads") font ",12" offset 0, -0.3
        set ylabel (l == 1 ? (by_work ? "misses / 1000 macs" : "misses / all loads [%]") : "") offset 1, 0
        set xtics scale 0
        set xtics ("" 0)
        do for [b = 1:n_bars] { set xtics add (Name[Algo_of[b]] b) }
        eval drop_quotients
        if (by_work && n_quotients) { eval put_quotients }
        set print $bars
        print "x\ty\ttext\twhat"
        do for [b = 1:n_bars] {
            a = Algo_of[b]
            print sprintf("%g\t%.9g\t%s\talone %d", b + x_alone, alone_of(a), label_of(alone_of(a)), a)
            print sprintf("%g\t%.9g\t%s\tsimulated %d", b + x_simulated, simulated_of(a), label_of(simulated_of(a)), a)
            print sprintf("%g\t%.9g\t%s\tmeasured %d", b + x_measured, measured_of(a), label_of(measured_of(a)), a)
        }
        print sprintf("1.42\t%.9g\t%s\tpaper", paper_base, paper_l1_base)
        print sprintf("%g\t%.9g\t%s\tpaper", paper_bar + 0.42, paper_sconv, paper_l1_sconv)
        unset print
        plot for [a = 1:n_all] $bars using "x":(what(sprintf("alone %d", a))) with boxes lc rgb colour_of(Algo[a]) fs solid 0.35 notitle, \
             for [a = 1:n_all] $bars using "x":(what(sprintf("simulated %d", a))) with boxes lc rgb colour_of(Algo[a]) notitle, \
             for [a = 1:n_all] $bars using "x":(what(sprintf("measured %d", a))) with boxes lc rgb colour_of(Algo[a]) fs pattern 4 border notitle, \
             $bars using "x":"y":(stringcolumn("text")) with labels offset 0, 0.7 notitle, \
             $bars using "x":(what("paper")) with points pt 13 ps 1.6 lc rgb colour_paper notitle
    }
}
unset multiplot
