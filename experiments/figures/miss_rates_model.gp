# question How many loads miss in each level? (the paper's Figure 11 for one model)
# caption Above: in % of all loads; below: per 1000 multiply-adds, which compares algorithms that make different numbers of loads, and Base's misses
# caption divided by the algorithm's. The legend names the marks: of the caches alone where the machine has more than caches, counted misses where
# caption there are counters, the paper's average of seven models on its machines
# draws model.csv: simulated_l1_miss_percent measured_l1_miss_percent of algo: $total_algos
# slots layers.csv: layer_index layer $shape_columns
load figures."/common.gp"; table = model_csv; n_levels = words(levels)
few_percent = 0.1 # of all loads: a quotient of fewer misses says nothing (bench/case/estimate.h)
kinds = "simulated measured simulated_alone"; array Base_misses[9]; array Base_rate[9]; do for [i = 1:9] { Base_misses[i] = NaN; Base_rate[i] = NaN }
rate(kind, l) = number(sprintf("%s_l%d_miss_percent", kind, l)); misses(kind, l) = rate(kind, l) / 100 * number(kind."_loads")
shown = ""; macs = NaN; has_measured = 0; has_alone = 0
stats table using (index_in(total_algos, stringcolumn("algo")) && max2(rate("simulated", 1), rate("measured", 1)) >= 0 ? \
    (shown = with_word(shown, stringcolumn("algo")), macs = max2(macs, column("macs")), 0) : 0, rate("measured", 1) >= 0 ? (has_measured = 1, 0) : 0, \
    rate("simulated_alone", 1) >= 0 && rate("simulated_alone", 1) != rate("simulated", 1) ? (has_alone = 1, 0) : 0, 0) nooutput
do for [l = 1:n_levels] { do for [k = 1:3] { kind = word(kinds, k)
    stats table using (algo_is(base) ? (Base_misses[3 * k + l - 3] = misses(kind, l), Base_rate[3 * k + l - 3] = rate(kind, l), 0) : 0, 0) nooutput
} }
missing_in = "measured_loads"; eval find_reasons; has_paper = strlen(paper_l1_base) > 0
paper_algo = index_in(shown, "sconv_openblas") ? "sconv_openblas" : chosen # the paper's SConv has OpenBLAS's micro-kernel
is_rows = 1; n_slots = words(shown); n_bars = 1; n_panels = macs > 0 ? 2 * n_levels : n_levels; n_columns = n_levels; W = 1200; gap_x = 30; text_room = 0.75 + 1.1 * (has_alone + has_measured)
enter_panel = 'l = (p - 1) % n_levels + 1; by_work = p > n_levels'; mark_points = "circle open_diamond diamond"; mark_sizes = "0.9 1.1 1.5"
mark_colour(b, m) = m == 3 ? colour_paper : "#000000"
slot(dummy) = index_in(shown, stringcolumn("algo")); bar(dummy) = 1; shown_of(kind) = by_work ? misses(kind, l) / macs * 1000 : rate(kind, l)
part(k) = shown_of("simulated"); is_paper(dummy) = has_paper && !by_work && l == 1 && index_in(base." ".paper_algo, stringcolumn("algo"))
mark(m) = m == 1 ? (has_measured ? shown_of("measured") : NaN) : m == 2 ? (has_alone ? shown_of("simulated_alone") : NaN) : \
    is_paper(0) ? real(algo_is(base) ? paper_l1_base : paper_l1_sconv) : NaN
array Text[6 * n_slots]; do for [i = 1:6 * n_slots] { Text[i] = "" }; short(v) = sprintf(v >= 10 ? "%.1f" : v >= 0.095 ? "%.2f" : "%.2g", v)
times(k) = Base_rate[3 * k + l - 3] < few_percent && rate(word(kinds, k), l) < few_percent ? "few" : \
    misses(word(kinds, k), l) > 0 ? sprintf(Base_misses[3 * k + l - 3] / misses(word(kinds, k), l) >= 10 ? "×%.0f" : "×%.2g", Base_misses[3 * k + l - 3] / misses(word(kinds, k), l)) : "–"
paper_times(dummy) = by_work && n_levels == 3 && algo_is(paper_algo) && l > 1 ? (l == 2 ? paper_l2_ratio : paper_l3_ratio) : ""
said(k) = short(shown_of(word(kinds, k))).(by_work && !algo_is(base) ? " ".times(k) : "")
all_said(dummy) = said(1).(has_alone ? "; alone ".said(3) : "").(has_measured ? "; measured ".said(2) : "").(strlen(paper_times(0)) ? "; paper ×".paper_times(0) : "")
do for [p = 1:n_panels] { eval enter_panel; stats table using (slot(0) > 0 && part(1) == part(1) ? (Text[(p - 1) * n_slots + slot(0)] = all_said(0), 0) : 0, 0) nooutput }
bar_text(s, b, v) = Text[(p - 1) * n_slots + s]; bar_colour(b, k) = colour_of(word(shown, s)); slot_label(i) = title_of(word(shown, i))
title_text = sprintf("%s: cache misses of each algorithm (%s)", model, layer_text)
panel_title(p) = level_name((p - 1) % n_levels + 1).(p > n_levels ? ": load misses per 1000 multiply-adds" : ": load misses in % of all loads")
value_title(p) = p > n_levels ? "misses / 1000 macs" : "misses / all loads [%]"
dummy = legend(has_alone ? "simulated, the machine as it is" : "simulated", dark, square)
dummy = legend(has_alone ? "simulated, caches alone" : "", "black", open_diamond); dummy = legend(has_measured ? "measured" : "", "black", circle)
dummy = legend(has_paper ? "paper, average of 7 models" : "", colour_paper, diamond)
dummy = legend(macs > 0 && n_slots > 1 ? "×: Base's misses / the algorithm's" : "", dark, only_text)
dummy = note("Simulated: ".machine.", ".simulator.".") + note("Measured: ".measured_by(has_measured).".")
is_few = 0; do for [i = 1:6 * n_slots] { is_few = is_few || strstrt(Text[i], "few") }
dummy = note(is_few ? sprintf("few: Base and the algorithm miss in less than %g %% of their loads.", few_percent) : "")
dummy = note(has_paper ? "Paper: SConv, Figure 11, average of seven models, measured on a real machine of this kind." : "")
load figures."/bars.gp"
