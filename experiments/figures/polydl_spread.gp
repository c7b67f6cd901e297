# question How far apart are a layer's variants, and where are the picks? (its Figures 10, 12, 14)
# caption Grey: from the slowest variant to the fastest, which is 1. Of what is no variant, points may lie above or below
# draws picks.csv: worst of model: fastrcnn resnet maskrcnn
# reads printed.csv
load figures."/polydl_common.gp"; eval find_networks
names = "pick_default_order pick_polydl pick_polydl_dnn"; n_parts = 0; panel_h = 190; labels_in_all = 1; span_is_range = 1; n_rules = 1; rule(i) = 1
mark_points = "square dot circle"; mark_sizes = "0.8 0.9 1.6"; slot(dummy) = stringcolumn("model") eq word(networks, p) && one_thread(0) ? column("place") : 0
mark(m) = number(word(names, m)) / number("best"); low_of(dummy) = number("worst") / number("best"); high_of(dummy) = 1
mark_colour(b, m) = word(sky." ".blue." ".vermilion, m); slot_label(i) = sprintf("%d", i); slots_in(p) = Places[p]; array Gain[n_panels + 1]
do for [p = 1:n_panels] {
    m = word(networks, p); f = "Figure ".word("10 12 14", index_in("fastrcnn resnet maskrcnn", m))
    c = "pick_polydl"; eval find_mean; over = mean
    c = "pick_default_order"; eval find_mean; over = over / mean
    c = "percent_over_default_loop_order_avg"; eval find_printed; paper = printed eq "" ? "" : sprintf("%.2f", 1 + printed / 100.0)
    c = "speedup_over_microkernel_avg"; eval find_printed; paper = printed eq "" ? paper : printed
    Gain[p] = sprintf("%s (%s): PolyDL's pick is %.2f times as fast as Figure 8's order", m, f, over).of_paper(paper)
}
panel_title(p) = Gain[p]; value_title(p) = "speed /\nfastest variant's"
title_text = "Speed over that of the fastest variant, one thread (PolyDL's Figures 10, 12, 14)"
dummy = legend("from the slowest variant to the fastest", "#e0e0e0", square)
do for [m = 1:3] { dummy = legend(word("'Figure 8 order (Microkernel)' 'PolyDL' 'PolyDL-DNN'", m), mark_colour(1, m), value(word(mark_points, m))) }
dummy = note("Numbers below the bars are places of the layers in the networks.")
load figures."/bars.gp"
