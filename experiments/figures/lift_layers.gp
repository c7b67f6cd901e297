# Speed and memory of each layer: one output of each work-item, the best point, im2col and OpenBLAS.
# question How fast is the best point, and how much memory does it need?
# caption The paper's Figure 5. Filters are laid out beforehand. Memory: all buffers, beside those of input, filters and output alone.
# draws layers.csv: best_gflops
load figures."/lift_common.gp"
W = 1100; H = 640
eval open_output
set multiplot
eval put_note
set lmargin at screen 0.08; set rmargin at screen 0.98
set boxwidth 0.26
unset xtics
eval n_rows("layers_csv", "direct_bytes")
array Name[n]; array A[n]; array B[n]; array C[n]
k = 0
stats layers_csv using (k = k + 1, Name[k] = stringcolumn("layer"), A[k] = number("naive_gflops"), B[k] = number("best_gflops"), \
    C[k] = number("gemm_gflops"), 0) nooutput
set xrange [-0.6:n - 0.4]; set yrange [0:*]
set tmargin at screen 0.92; set bmargin at screen 0.60
set ylabel "GFLOP/s"
set key at graph 0.5, graph 1.18 center top horizontal Left reverse samplen 1.5
eval name_tics
plot for [k = 1:n] [0:1] '+' using (bars(-0.27, k)):(A[k]) every ::0::0 with boxes lc rgb grey title (k == 1 ? "one output of each work-item" : ""), \
     for [k = 1:n] [0:1] '+' using (bars(0, k)):(B[k]) every ::0::0 with boxes lc rgb blue title (k == 1 ? "the best point" : ""), \
     for [k = 1:n] [0:1] '+' using (bars(0.27, k)):(C[k]) every ::0::0 with boxes lc rgb orange title (k == 1 ? "im2col + OpenBLAS" : "")
unset label 97
k = 0
stats layers_csv using (k = k + 1, A[k] = column("direct_bytes") / 1e6, B[k] = number("best_bytes") / 1e6, C[k] = column("gemm_bytes") / 1e6, 0) nooutput
set tmargin at screen 0.44; set bmargin at screen 0.14
set ylabel "MB"
plot for [k = 1:n] [0:1] '+' using (bars(-0.27, k)):(A[k]) every ::0::0 with boxes lc rgb grey title (k == 1 ? "input, filters, output" : ""), \
     for [k = 1:n] [0:1] '+' using (bars(0, k)):(B[k]) every ::0::0 with boxes lc rgb blue title (k == 1 ? "the best point" : ""), \
     for [k = 1:n] [0:1] '+' using (bars(0.27, k)):(C[k]) every ::0::0 with boxes lc rgb orange title (k == 1 ? "im2col + OpenBLAS" : "")
unset multiplot
