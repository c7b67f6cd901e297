# question What becomes of packing and of SConv when the micro-kernel gets faster, by replay?
# caption Two bounds: loads that miss hit all the same, or wait; dashed: SConv. Elements of bf16 and int8 move fewer bytes. Green is measured. Labels are what has about such a micro-kernel
# draws micro_kernels.csv: base_packing_percent sconv_packing_percent speedup
load figures."/style.gp"; table = micro_kernels_csv; groups = "hit wait hit_narrow wait_narrow measured"; column_of_group = "misses"
group_title(k) = word("'loads that miss hit all the same' 'loads that miss wait' 'bf16 and int8, hit' 'bf16 and int8, wait' 'measured, Granite Rapids'", k); group_colour(k) = word(blue." ".vermilion." ".sky." ".orange." ".green, k)
# The micro-kernels' names are the tics.
what_of(dummy) = strstrt(stringcolumn("what"), ",") ? stringcolumn("what")[1:strstrt(stringcolumn("what"), ",") - 1] : stringcolumn("what")
rates = ""; n_rates = 0
stats table using (index_in(rates, sprintf("%d", column("macs_per_cycle"))) ? 0 : (rates = with_word(rates, sprintf("%d", column("macs_per_cycle"))), n_rates = n_rates + 1), 0) nooutput
array Rate_name[n_rates]; stats table using (Rate_name[index_in(rates, sprintf("%d", column("macs_per_cycle")))] = what_of(0), 0) nooutput
before_plot = 'set xtics ("" 1) rotate by 30 right; do for [r = 1:n_rates] { set xtics add (word(rates, r)." ".tic_text(Rate_name[r]) word(rates, r) + 0) }'
below = 100; title_text = "Faster micro-kernels, simulated: Base and SConv replayed, sample of layers, caches of clx4208, cold; and measured"
load figures."/study_common.gp"
