# Memory of the largest layers of seven networks, by arithmetic.
# question How much memory do the largest layers need, directly, as LIFT's points, and as a GEMM?
# caption The paper's Figure 2, for the networks that are here. LIFT: the leanest of 1,000 points.
# draws memory.csv: direct_bytes lift_bytes gemm_bytes
load figures."/lift_common.gp"
W = 900; H = 460
eval open_output
eval put_note
set lmargin at screen 0.10; set rmargin at screen 0.98; set tmargin at screen 0.90; set bmargin at screen 0.30
set boxwidth 0.26
unset xtics
eval n_rows("memory_csv", "direct_bytes")
array Name[n]; array A[n]; array B[n]; array C[n]
k = 0
stats memory_csv using (k = k + 1, Name[k] = stringcolumn("model")." ".stringcolumn("layer"), A[k] = column("direct_bytes") / 1e6, \
    B[k] = column("lift_bytes") / 1e6, C[k] = column("gemm_bytes") / 1e6, 0) nooutput
set xrange [-0.6:n - 0.4]; set yrange [0:*]
set ylabel "MB"
set key at graph 0.5, graph 1.13 center top horizontal Left reverse samplen 1.5
eval name_tics
plot for [k = 1:n] [0:1] '+' using (bars(-0.27, k)):(A[k]) every ::0::0 with boxes lc rgb grey title (k == 1 ? "input, filters, output" : ""), \
     for [k = 1:n] [0:1] '+' using (bars(0, k)):(B[k]) every ::0::0 with boxes lc rgb blue title (k == 1 ? "LIFT, the leanest point" : ""), \
     for [k = 1:n] [0:1] '+' using (bars(0.27, k)):(C[k]) every ::0::0 with boxes lc rgb orange title (k == 1 ? "im2col + GEMM" : "")
