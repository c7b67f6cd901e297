# question How much memory do the largest layers need, directly, as LIFT's points, and as a GEMM?
# caption The paper's Figure 2, for the networks that are here. LIFT: the leanest of 1,000 points.
# draws memory.csv: direct_bytes lift_bytes gemm_bytes
load figures."/lift_common.gp"
table = memory_csv; row_name(dummy) = stringcolumn("model")." ".stringcolumn("layer"); eval find_rows; W = 900; text_room = 0.06
part(k) = number(word("direct lift gemm", g)."_bytes") / 1e6; bar_text(s, b, v) = sprintf("%.3g", v)
title_text = "Memory of the largest layer of each network"; value_title(p) = "MB"
dummy = legend("input, filters, output", grey, square) + legend("LIFT, the leanest point", blue, square) + legend("im2col + GEMM", orange, square)
load figures."/bars.gp"
