# What the figures of `make polydl` share. Variables: those of style.gp, ranking_names, ranking_titles, what (one line of provenance).
load figures."/style.gp"
set datafile missing NaN

title_of_ranking(r) = word(ranking_titles, index_in(ranking_names, r))
one_thread(v) = column("threads") == 1 ? v : NaN
of_model(m, v) = stringcolumn("model") eq m ? one_thread(v) : NaN
is_gemm(dummy) = stringcolumn("model") eq "gemm"

# The networks of Figures 9 to 14, and where they are in the paper.
models = "fastrcnn resnet maskrcnn"
speed_figure(m) = word("9 11 13", index_in(models, m))
spread_figure(m) = word("10 12 14", index_in(models, m))

# Those of the models that have rows: sets present and n_present.
find_present = 'present = ""; stats picks_csv using (index_in(present, stringcolumn("model")) == 0 && index_in(models, stringcolumn("model")) > 0 ? \
    (present = present.(present eq "" ? "" : " ").stringcolumn("model"), 0) : 0, 0) nooutput; n_present = words(present)'

# The geometric mean of a column of a model's rows, `mean`; NaN if there are none.
find_mean = 'log_sum = 0; n_rows = 0; stats picks_csv using (v = of_model(m, number(c)), v == v && v > 0 ? \
    (log_sum = log_sum + log(v), n_rows = n_rows + 1, 0) : 0, 0) nooutput; mean = n_rows ? exp(log_sum / n_rows) : NaN'

# Names the GEMMs below the axis. (Tics read along with a plot are lost where other rows stand before them.)
label_gemms = 'gemms = ""; stats picks_csv using (is_gemm(0) && column("threads") == 1 ? \
    (gemms = gemms.(gemms eq "" ? "" : " ").stringcolumn("layer"), 0) : 0, 0) nooutput; \
    set xtics (""0) rotate by 20 right font ",9"; do for [g = 1:words(gemms)] { set xtics add (tic_text(word(gemms, g)) g) }'

# A number that the paper prints, as text: `printed`, "" if it has none.
find_printed = 'printed = ""; if (printed_csv ne "") { stats printed_csv using (stringcolumn("figure") eq f && stringcolumn("metric") eq c ? \
    (printed = stringcolumn("printed"), 0) : 0, 0) nooutput }'

# The provenance below everything, in as many lines as it needs; `foot` pixels are for it.
columns = W / 7.0
text = what; eval wrap_text
foot = n_lines * 15.5 + 6
put_what = 'set label 97 wrapped at screen 0.01, screen (foot - 10) / (1.0 * H) left font ",9" tc rgb "#404040"'
