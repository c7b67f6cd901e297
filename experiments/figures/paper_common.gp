# What the figures of `make paper` share: the sources of our numbers ("views"), found in a long table, and what the paper prints. Variables: those
# of style.gp and bench/course/variables.h; paper_algo, the algorithm that stands beside the paper's numbers.
load figures."/style.gp"

# The curves or bars of a table: each view and algorithm for which is_shown(0) holds, in the order of the table, once.
max_series = 24
array View[max_series]; array Heading[max_series]; array Arch[max_series]; array Algo[max_series]; array Rows[max_series]
n_series = 0
series_of(v, a) = int(sum [i = 1:n_series] (View[i] eq v && Algo[i] eq a ? i : 0))
open_series(dummy) = (n_series = n_series + 1, View[n_series] = stringcolumn("view"), Heading[n_series] = stringcolumn("heading"), \
    Arch[n_series] = stringcolumn("arch"), Algo[n_series] = stringcolumn("algo"), Rows[n_series] = 0, n_series)
count_row(i) = (Rows[i] = Rows[i] + 1, 0)
this_series(dummy) = series_of(stringcolumn("view"), stringcolumn("algo"))
find_series = 'stats series_csv using (is_shown(0) && n_series < max_series ? count_row(this_series(0) ? this_series(0) : open_series(0)) : 0, 0) nooutput'
has_arch(a) = int(sum [i = 1:n_series] (Arch[i] eq a))
is_series(i) = stringcolumn("view") eq View[i] && stringcolumn("algo") eq Algo[i]

# Views that are there for what only they have; figures would show the same twice.
is_parts(v) = strlen(v) > 6 && v[strlen(v) - 5:*] eq "_parts"

# A published number of all models, by its metric and machine; NaN if there is none.
found = NaN
published(metric, arch) = sprintf('found = NaN; stats numbers_csv using (stringcolumn("metric") eq "%s" && stringcolumn("arch") eq "%s" && found != found ? (found = column("published")) : 0, 0) nooutput', metric, arch)

# The provenance below everything, in as many lines as it needs.
foot_line = 15.5
wrap_what = 'text = what; columns = W / 7.0; eval wrap_text; foot = wrapped; foot_lines = n_lines'
put_foot = 'set label 97 foot at screen 12.0 / W, screen (foot_lines - 0.3) * foot_line / (1.0 * H) left font ",9" tc rgb "#404040"'
short_model(name) = name eq "resnet18" ? "RN-18" : name eq "resnet50" ? "RN-50" : name eq "resnet152" ? "RN-152" : \
    name eq "squeezenet" ? "Squeeze" : name eq "googlenet" ? "Google" : name eq "inceptionv2" ? "Incep.2" : name eq "vgg16" ? "VGG-16" : name
