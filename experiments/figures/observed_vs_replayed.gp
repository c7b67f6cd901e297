# question Does the replay describe what the real kernels do?
# caption Bars: observed; circles: the replay of the same plan and part with the buffers at the same addresses; each panel names the largest
# caption difference. Where layers were observed in part, the last panel has the parts
# draws observed.csv: observed_load_misses of algo: $default_algos
# hint OBSERVE=sample makes some of Base, SConv, and SConv with OpenBLAS's micro-kernel
# slots layers.csv: layer_index layer $shape_columns of macs: 120
load figures."/common.gp"; table = observed_csv
bars = default_algos; n_bars = words(bars) # whatever else was observed is in the table alone
algo_bar(dummy) = stringcolumn("tensor") eq "all" ? index_in(bars, stringcolumn("algo")) : 0; n_levels = 0; least_share = 100
stats table using (algo_bar(0) && column("observed_load_misses") >= 0 ? (n_levels = max2(n_levels, int(column("level_index"))), 0) : 0, \
    algo_bar(0) ? (least_share = min2(least_share, column("observed_share_percent")), 0) : 0) nooutput
array Level[n_levels + 1]; array Worst[n_levels + 1]; difference(l) = abs(column("observed_load_miss_percent") - column("replayed_load_miss_percent"))
do for [l = 1:n_levels] {
    Worst[l] = 0
    stats table using (algo_bar(0) && column("level_index") == l ? (Level[l] = stringcolumn("level"), Worst[l] = max2(Worst[l], difference(l)), 0) : 0, 0) nooutput
}
n_panels = n_levels + (least_share < 100); mark_points = "circle"; panel_h = 170
bar(dummy) = column("level_index") == (p <= n_levels ? p : 0) ? algo_bar(0) : 0
part(k) = column(p <= n_levels ? "observed_load_miss_percent" : "observed_share_percent")
mark(m) = p <= n_levels ? column("replayed_load_miss_percent") : NaN
title_text = sprintf("%s: cache misses in %% of all loads, observed against the replay (%s)", model, layer_text)
panel_title(p) = p > n_levels ? "the observed part of each layer, in % of its multiply-adds" : \
    Level[p].(Worst[p] < 0.005 ? ": the two agree" : sprintf(": the two differ by %.2g percentage points at most", Worst[p]))
value_title(p) = p > n_levels ? "observed [%]" : "misses /\nloads [%]"; eval legend_of_bars; dummy = legend("replayed", "black", circle)
dummy = note("Observed (bars): ".observed_by."; every access to the tensors simulated as it happens. Replayed (circles): the same plan, \
from the nests' descriptions, with the buffers at the same addresses; of a layer that was observed in part, the same part. Caches are \
empty when a layer starts. ".slot_note)
load figures."/bars.gp"
