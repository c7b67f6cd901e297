# question How fast is the best point, and how much memory does it need?
# caption The paper's Figure 5. Filters are laid out beforehand. Memory: all buffers, beside those of input, filters and output alone.
# draws layers.csv: best_gflops
load figures."/lift_common.gp"
table = layers_csv; row_name(dummy) = stringcolumn("layer"); eval find_rows; n_panels = 2; n_columns = 2; W = 1000; gap_x = 30; text_room = 0.12
part(k) = p == 1 ? number(word("naive best gemm", g)."_gflops") : number(word("direct best gemm", g)."_bytes") / 1e6; bar_text(s, b, v) = sprintf("%.3g", v)
title_text = "Speed and memory of each layer"; panel_title(p) = p == 1 ? "speed" : "memory"; value_title(p) = p == 1 ? "GFLOP/s" : "MB"
dummy = legend("speed of one output of each work-item, memory of input, filters and output", grey, square) + legend("the best point", blue, square) + legend("im2col + OpenBLAS", orange, square)
load figures."/bars.gp"
