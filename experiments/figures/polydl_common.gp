# What the figures of `make polydl` share. Variables: those of style.gp, ranking_names, ranking_titles, what (one line of provenance).
load figures."/style.gp"; one_thread(dummy) = column("threads") == 1; is_gemm(dummy) = stringcolumn("model") eq "gemm" && one_thread(0); W = 1200
# The networks of Figures 9 to 14 with rows, in the order of the table, and the number of layers of each network.
find_networks = 'table = picks_csv; seen = ""; n_slots = 1; array Places[3] = [0, 0, 0]; stats table using (one_thread(0) && index_in("fastrcnn resnet maskrcnn", stringcolumn("model")) ? \
    (seen = with_word(seen, stringcolumn("model")), last = index_in(seen, stringcolumn("model")), Places[last] = max2(Places[last], int(column("place"))), n_slots = max2(n_slots, int(column("place"))), 0) : 0, 0) nooutput; \
    networks = seen; n_panels = words(networks)'
# The GEMMs, by their places.
find_gemms = 'table = picks_csv; n_slots = 0; stats table using (is_gemm(0) ? (n_slots = max2(n_slots, int(column("place"))), 0) : 0, 0) nooutput; \
    array Name[n_slots]; do for [i = 1:n_slots] { Name[i] = "" }; stats table using (is_gemm(0) ? (Name[int(column("place"))] = stringcolumn("layer"), 0) : 0, 0) nooutput'
# The geometric mean of column c in a model's rows, `mean`; NaN without rows. A number that the paper prints, as text: `printed`, "" for none.
find_mean = 'log_sum = 0; n_rows = 0; stats picks_csv using (stringcolumn("model") eq m && one_thread(0) && number(c) > 0 ? \
    (log_sum = log_sum + log(number(c)), n_rows = n_rows + 1, 0) : 0, 0) nooutput; mean = n_rows ? exp(log_sum / n_rows) : NaN'
find_printed = 'printed = ""; if (printed_csv ne "") { stats printed_csv using (stringcolumn("figure") eq f && stringcolumn("metric") eq c ? \
    (printed = stringcolumn("printed"), 0) : 0, 0) nooutput }'
of_paper(text) = text eq "" ? "" : " (paper: ".text.")"
