# What the figures of `make paper` share: the sources of our numbers ("views"), found in a long table, and what the paper prints. Variables: those
# of style.gp and bench/course/variables.h; paper_algo, the algorithm that stands beside the paper's numbers.
load figures."/style.gp"
# The curves or panels of a table: each view and algorithm for which is_shown(0) holds, in the order of the table, once.
max_views = 24; n_views = 0; array View[max_views]; array Heading[max_views]; array Arch[max_views]; array Algo[max_views]; array Rows_in[max_views]
view_of(v, a) = int(sum [i = 1:n_views] (View[i] eq v && Algo[i] eq a ? i : 0))
open_view(dummy) = (n_views = n_views + 1, View[n_views] = stringcolumn("view"), Heading[n_views] = stringcolumn("heading"), \
    Arch[n_views] = stringcolumn("arch"), Algo[n_views] = stringcolumn("algo"), Rows_in[n_views] = 0, n_views)
count_row(i) = (Rows_in[i] = Rows_in[i] + 1, 0); this_view(dummy) = view_of(stringcolumn("view"), stringcolumn("algo"))
find_views = 'stats table using (is_shown(0) && n_views < max_views ? count_row(this_view(0) ? this_view(0) : open_view(0)) : 0, 0) nooutput'
# Views that are there for what only they have; figures would show the same twice.
is_parts(v) = strlen(v) > 6 && v[strlen(v) - 5:*] eq "_parts"
# A published number of all models, by its metric and machine: sets found, NaN if there is none.
published(metric, arch) = sprintf('found = NaN; stats numbers_csv using (stringcolumn("metric") eq "%s" && stringcolumn("arch") eq "%s" && found != found ? (found = column("published")) : 0, 0) nooutput', metric, arch)
# Slots: the models.
find_models = 'n_slots = 1; stats table using (n_slots = max2(n_slots, int(column("model_index"))), 0) nooutput; array Name[n_slots]; do for [i = 1:n_slots] { Name[i] = "" }; \
    stats table using (Name[int(column("model_index"))] = stringcolumn("model"), 0) nooutput'
slot_label(i) = Name[i] eq "squeezenet" ? "squeeze" : Name[i]
