# question Which combination of two keys costs least?
# caption A panel per algorithm, all in % of the best configuration of all algorithms. Where more than two keys vary, the others have their best
# caption value; of several models, the sum. Frames: CSA's own tiles are among these
# draws configs.csv: cost_percent of algo: $shown_algos
load figures."/style.gp"; table = configs_csv
if (y_key eq "") { print "only one key varies: a curve shows it (sweep_pareto)"; exit status 77 }
n_x = words(x_values); n_y = words(y_values); n_panels = words(shown_algos); n_columns = n_panels
if (n_x > 40 || n_y > 40) { print "more than 40 values of a key do not fit a heat map"; exit status 77 }
# A configuration costs what all models together do, and has CSA's own tiles if it has them for each model.
last_config = 1; models = ""
stats table using (last_config = max2(last_config, int(column("config"))), models = with_word(models, stringcolumn("model")), 0) nooutput
array Total[last_config]; array Own[last_config]; n_cells = n_x * n_y; array Best[n_panels * n_cells]; array Framed[n_panels * n_cells]
add_cost(i) = (Total[i] = Total[i] + number("cost"), Own[i] = Own[i] && number("csa") == 1, 0)
is_of(a) = algo_is(a) && index_in(x_values, stringcolumn(x_key)) && index_in(y_values, stringcolumn(y_key))
cell(dummy) = (p - 1) * n_cells + index_in(x_values, stringcolumn(x_key)) + n_x * (index_in(y_values, stringcolumn(y_key)) - 1)
take(c, i) = (Best[c] = min2(Total[i], Best[c]), Framed[c] = Framed[c] || (Own[i] && Total[i] == Total[i]), n_own = n_own + Own[i], n_rows = n_rows + 1, \
    least = min2(least, Total[i]), most = max2(most, Best[c]), 0)
least = NaN; most = NaN; has_frames = 0; array Has_frames[n_panels]
do for [p = 1:n_panels] {
    do for [c = 1:n_cells] { Best[(p - 1) * n_cells + c] = NaN; Framed[(p - 1) * n_cells + c] = 0 }
    do for [i = 1:last_config] { Total[i] = 0; Own[i] = 1 }
    n_own = 0; n_rows = 0
    stats table using (is_of(word(shown_algos, p)) ? add_cost(int(column("config"))) : 0, 0) nooutput
    stats table using (is_of(word(shown_algos, p)) ? take(cell(0), int(column("config"))) : 0, 0) nooutput
    Has_frames[p] = n_own > 0 && n_own < n_rows; has_frames = has_frames || Has_frames[p]
}
most = 1; do for [c = 1:n_panels * n_cells] { most = max2(most, Best[c] / least) }
most = max2(120, 100 * most) # a difference of a few percent is no contrast
W = max2(1000, n_panels * (150 + max2(n_x, 4) * 70)); panel_h = max2(n_y, 3) * 44; left = 110; gap_x = 90
title_text = sprintf("%s: %s by %s and %s", words(models) > 3 ? sprintf("%d models", words(models)) : models, cost_label, x_key, y_key)
subtitle_text = "simulated machine: ".machine."; these keys are varied; in % of the best of all panels, all panels with the same colours"
panel_title(p) = title_of(word(shown_algos, p)); dummy = legend(has_frames ? "framed: CSA's own tiles" : "", vermilion, open_square); eval open_figure
set palette defined (0 "#f7fbff", 0.25 "#9ecae1", 0.5 "#4292c6", 1 "#08306b"); set cbrange [100:most]; unset colorbox
do for [p = 1:n_panels] {
    eval place_panel; unset grid
    set xrange [0.5:n_x + 0.5]; set yrange [0.5:n_y + 0.5]; set xlabel x_key; set ylabel y_key
    set xtics ("" 0) scale 0; do for [i = 1:n_x] { set xtics add (tic_text(word(x_values, i)) i) }
    set ytics ("" 0) scale 0; do for [i = 1:n_y] { set ytics add (tic_text(word(y_values, i)) i) }
    cells = "x\ty\tpercent\tframed"
    do for [x = 1:n_x] { do for [y = 1:n_y] { c = (p - 1) * n_cells + x + n_x * (y - 1); if (Best[c] == Best[c]) {
        cells = cells.sprintf("\n%d\t%d\t%.9g\t%d", x, y, 100 * Best[c] / least, Has_frames[p] && Framed[c]) } } }
    set print $cells; print cells; unset print; framed(v) = $4 == 1 ? v : NaN
    text(v, is_dark) = (v > 100 + 0.6 * (most - 100)) == is_dark ? sprintf("%.4g", v) : ""
    plot $cells using 1:2:($1 - 0.5):($1 + 0.5):($2 - 0.5):($2 + 0.5):3 with boxxyerror fillcolor palette, \
         $cells using 1:2:(text($3, 0)) with labels tc rgb "black", $cells using 1:2:(text($3, 1)) with labels tc rgb "white", \
         $cells using (framed($1)):2:($1 - 0.46):($1 + 0.46):($2 - 0.44):($2 + 0.44) with boxxyerror lc rgb vermilion lw 2.5 fillstyle empty border
}
unset multiplot
