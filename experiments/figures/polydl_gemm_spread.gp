# question Where are the picks among their variants? (its Figure 19)
# caption As polydl_spread
# draws picks.csv: worst of model: gemm
# reads printed.csv
load figures."/polydl_common.gp"; eval find_gemms; f = "Figure 19"; c = "polydl_dnn_fraction_of_max"; eval find_printed
names = "microkernel pick_polydl top5_polydl top5_polydl_dnn"; n_parts = 0; panel_h = 330; span_is_range = 1
n_rules = 2; rule(i) = i == 1 ? 1 : printed eq "" ? NaN : printed + 0; mark_points = "square dot circle open_square"; mark_sizes = "0.8 0.9 1.5 2.2"
slot(dummy) = is_gemm(0) ? column("place") : 0; mark(m) = number(word(names, m)) / number("best")
low_of(dummy) = number("worst") / number("best"); high_of(dummy) = 1; mark_colour(b, m) = word(sky." ".blue." ".blue." ".vermilion, m)
title_text = "Speed over that of the fastest variant, one thread (PolyDL's Figure 19)"; value_title(p) = "speed / fastest variant's"
dummy = legend("from the slowest variant to the fastest", "#e0e0e0", square)
do for [m = 1:4] { dummy = legend(word("'tiles of 16 (Microkernel)' 'PolyDL, first pick' 'PolyDL, best of its top 5 %' 'PolyDL-DNN, best of its top 5 %'", m), mark_colour(1, m), value(word(mark_points, m))) }
dummy = legend(printed ne "" ? "the paper's mean of PolyDL-DNN: ".printed : "", vermilion, dashed)
dummy = note("Tiles of 16 are none of the variants: they may be faster than every variant.")
load figures."/bars.gp"
