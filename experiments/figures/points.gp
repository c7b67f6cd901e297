# Draws points, lines and sorted curves. Gathers x and y of the rows of `table` for each panel p and pass g first. style.gp lists what a script may set.
set print $data; print "panel\tseries\tx\ty\tlabel"; unset print
append_rows = 'set table $data append separator tab; plot table using (p):(series(0)):(x(0)):(y(0)):(label(0)) with table if (series(0) > 0 && x(0) == x(0) && y(0) == y(0)); unset table'
# A sorted curve has its values at the middles of equal shares, the largest first, or (is_rising) last.
append_sorted = 'n_values = 0; stats table using (series(0) > 0 && y(0) == y(0) ? (n_values = n_values + 1, of_series = series(0), 0) : 0, 0) nooutput; \
if (n_values) { set print $sorted; print "value count"; unset print; set table $sorted append; plot table using (series(0) > 0 ? y(0) : NaN):(1.0) smooth cumulative; \
    unset table; set table $data append separator tab; set datafile separator whitespace; plot $sorted using (p):(of_series):(100 * (is_rising ? $2 - 0.5 : n_values + 0.5 - $2) / n_values):1:(no_label) with table; unset table; set datafile separator tab }'
do for [p = 1:n_panels] { eval enter_panel; do for [g = 1:n_passes] { eval enter_pass; eval is_sorted ? append_sorted : append_rows } }
eval with_notes; eval open_figure
# A line through few points shows the points, too.
array Rows_of[n_series]; do for [s = 1:n_series] { Rows_of[s] = 0 }
stats $data using (Rows_of[int($2)] = Rows_of[int($2)] + 1, 0) nooutput
mark_of(s) = point_of(s) ? point_of(s) : Rows_of[s] <= 12 ? dot : 0
positive(v, is_log) = !is_log || v > 0 ? v : NaN
see_x(v) = (x_zeros = x_zeros + (x_log && v == 0), x_low = min2(x_low, positive(v, x_log)), x_high = max2(x_high, positive(v, x_log)), 0)
see_y(v) = (y_zeros = y_zeros + (is_log && v == 0), y_low = min2(y_low, positive(v, is_log)), y_high = max2(y_high, positive(v, is_log)), 0)
at_x(v) = x_log && v == 0 ? x_zero : v
at_y(v) = is_log && v == 0 ? y_zero : v
mine(s, v) = $1 == p && $2 == s ? at_x(v) : NaN
y_is_log = is_log
do for [p = 1:n_panels] {
    eval enter_panel; eval place_panel
    x_low = NaN; x_high = NaN; y_low = NaN; y_high = NaN; x_zeros = 0; y_zeros = 0; is_log = y_is_log
    stats $data using ($1 == p ? see_x($3) + see_y($4) : 0, 0) nooutput
    is_empty = x_low != x_low && !x_zeros
    do for [w in x_has] { dummy = see_x(w + 0) }
    do for [w in y_has] { dummy = see_y(w + 0) }
    if (is_square) { x_low = min2(x_low, y_low); y_low = x_low; x_high = max2(x_high, y_high); y_high = x_high; x_zeros = x_zeros + y_zeros; y_zeros = x_zeros }
    is_log = x_log; low = x_low; high = x_high; n_zeros = x_zeros; axis = "x"; eval fit_axis; x_zero = zero; x_low = low
    is_log = y_is_log; low = y_low; high = y_high; n_zeros = y_zeros; axis = "y"; eval fit_axis; y_zero = zero; y_low = low; y_high = high
    if (limits ne "") { eval sprintf("set xrange [%s]", limits) }
    set xlabel (is_last_row || labels_in_all ? x_title(p) : ""); set ylabel (panel_column == 0 || labels_in_all ? value_title(p) : "") offset -0.2, 0
    do for [i = 1:n_rules] { if (rule(i) == rule(i)) { set arrow 10 + i from graph 0, first rule(i) to graph 1, first rule(i) nohead lw 1.5 dt Rule_dash[i] lc rgb Rule_colour[i] } }
    if (is_empty) { set label 1 "no values" at graph 0.5, graph 0.5 center tc rgb dark }
    labels = sprintf("x\ty\ttext\n%.9g\t%.9g\t ", x_low, y_low) # never none: gnuplot 5.4 ends with a signal
    stats $data using ($1 == p && !(stringcolumn(5)[1:1] eq no_label) ? (labels = labels.sprintf("\n%.9g\t%.9g\t%s", at_x($3), at_y($4), stringcolumn(5)), 0) : 0, 0) nooutput
    set print $labels; print labels; unset print
    eval before_plot
    plot for [i = 1:n_references] (reference(i, x) >= y_low && reference(i, x) <= y_high ? reference(i, x) : NaN) with lines lw 1.5 dt Rule_dash[i] lc rgb Rule_colour[i], \
         for [s = 1:n_series] $data using (line_of(s) ? mine(s, $3) : NaN):(at_y($4)) smooth unique with lines lw width_of(s) dt line_of(s) lc rgb series_colour(s), \
         for [s = 1:n_series] $data using (mark_of(s) ? mine(s, $3) : NaN):(at_y($4)) with points pt mark_of(s) ps size_of(s) lw 1.4 lc rgb series_colour(s), \
         $labels using 1:2:(stringcolumn(3)) with labels offset 1, 0.6 font ",9"
}
unset multiplot
