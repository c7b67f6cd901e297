# The layout of all figures: a head with title and legend, a grid of panels, notes below. base/plot.c starts a script; the comments at the head of a
# script name the tables (base/plot_data.h), which arrive as variables: layers_csv is a copy of layers.csv, "" without a table.
#
# Each program sets these variables:
#   format   png or svg          output   the file to write          figures   this folder

set encoding utf8; set decimalsign "."; set style fill solid 1.0 noborder; set tics nomirror font ",10"; set key off
set datafile separator tab; set datafile columnheaders; set datafile missing NaN

# An algorithm and a method have one colour in all figures, named by their records. Further colours are Okabe and Ito's, which people with any kind of
# colour vision tell apart.
orange = "#e69f00"; sky = "#56b4e9"; green = "#009e73"; blue = "#0072b2"; vermilion = "#d55e00"; grey = "#c0c0c0"; dark = "#404040"; colour_paper = vermilion; rgb(c) = int("0x".c[2:*])

# ---- words and numbers ----
index_in(list, w) = int(sum [i = 1:words(list)] (word(list, i) eq w ? i : 0)); with_word(list, w) = index_in(list, w) ? list : list.(list eq "" ? "" : " ").w
title_of(a) = word(algo_titles, index_in(algo_names, a)) # the algorithms of an experiment (bench/course/variables.h)
colour_of(a) = word(algo_colours, index_in(algo_names, a))
title_of_peer(m) = word(peer_titles, index_in(peer_names, m)) # methods (peers/peers.h)
colour_of_peer(m) = index_in(peer_names, m) ? word(peer_colours, index_in(peer_names, m)) : grey; algo_is(a) = stringcolumn("algo") eq a
number(c) = column(c); max2(a, b) = (a != a) ? b : (b != b) ? a : (a > b ? a : b); min2(a, b) = (a != a) ? b : (b != b) ? a : (a < b ? a : b)
# A tic's name is a format to gnuplot: two percent signs stand for one.
tic_text(s) = strstrt(s, "%") ? s[1:strstrt(s, "%")]."%".tic_text(s[strstrt(s, "%") + 1:*]) : s

missing_prefix = "not available:"; is_missing(s) = s[1:strlen(missing_prefix)] eq missing_prefix
# The beginning of a reason, whose reason it is and the first clause; the table has the whole reason.
first_clause(s, mark) = strstrt(s, mark) ? s[1:strstrt(s, mark) - 1] : s
after_colon(s) = strstrt(s, ": ") ? ": ".first_clause(s[strstrt(s, ": ") + 2:*], ": ") : ""
short_reason(s) = first_clause(first_clause(first_clause(s[strlen(missing_prefix)+2:*], ": ").after_colon(s[strlen(missing_prefix)+2:*]), "; "), " (")

# ---- the figure ----
# What a figure may set before open_figure; W is the width in pixels, panel_h the height of each panel.
W = 1100.0; panel_h = 300.0; left = 90; right = 24; gap_x = 64; gap_y = 64; below = 62; n_panels = 1; n_columns = 1; title_lines = 1 # of a panel
title_text = ""; subtitle_text = ""; notes = ""; provenance = exists("what") ? what : ""
note(text) = (strlen(text) ? (notes = notes.(notes eq "" ? "" : " ¶ ").text, 0) : 0)

# A legend's marks: gnuplot's point types; a text alone; lines through (-1) and dashed (-2 and below).
square = 5; circle = 6; dot = 7; diamond = 13; open_diamond = 12; cross = 2; open_square = 4; triangle = 8; only_text = 0; line = -1; dashed = -2
n_legend = 0; array Legend_text[64]; array Legend_colour[64]; array Legend_mark[64]; array Legend_x[64]; array Legend_y[64]
legend(text, colour, mark) = text eq "" ? 0 : (n_legend = n_legend + 1, Legend_text[n_legend] = text, Legend_colour[n_legend] = colour, Legend_mark[n_legend] = mark, 0)

# Breaks `text` into lines of at most `columns` characters, and at each ¶: sets wrapped and n_lines.
wrap_text = 'wrapped = ""; this_line = ""; n_lines = 1; \
do for [i = 1:words(text)] { \
    next_word = word(text, i); is_end = next_word eq "¶"; \
    if (is_end || (this_line ne "" && strlen(this_line) + strlen(next_word) + 1 > columns)) { \
        wrapped = wrapped.this_line."\n"; this_line = is_end ? "" : next_word; n_lines = n_lines + 1 \
    } else { this_line = this_line.(this_line eq "" ? "" : " ").next_word } \
}; wrapped = wrapped.this_line'

# Entries of a legend follow each other in as many lines as the width asks for.
lay_legend_out = 'lx = left - 10; legend_lines = n_legend > 0; \
do for [i = 1:n_legend] { \
    entry = 36 + 8.3 * strlen(Legend_text[i]); \
    if (lx > left && lx + entry > W - 8) { lx = left - 10; legend_lines = legend_lines + 1 }; \
    Legend_x[i] = lx; Legend_y[i] = legend_lines; lx = lx + entry + 10 }'
put_legend = 'do for [i = 1:n_legend] { \
    y = H - legend_top - 20 * (Legend_y[i] - 1); x = Legend_x[i] + 8; \
    if (Legend_mark[i] > 0) { set label 1000 + i "" at screen x / W, screen y / H front point pt Legend_mark[i] ps 1.2 lw 1.4 lc rgb Legend_colour[i] }; \
    if (Legend_mark[i] < 0) { set arrow 1000 + i from screen (x - 14) / W, screen y / H to screen (x + 12) / W, screen y / H nohead lw 2.5 dt -Legend_mark[i] lc rgb Legend_colour[i] }; \
    set label 1100 + i Legend_text[i] at screen (x + (Legend_mark[i] == only_text ? -8 : 15)) / W, screen y / H left front tc rgb Legend_mark[i] == only_text ? Legend_colour[i] : "black" }'

# A PNG's letters are as large as 96 pixels per inch make them; an SVG's letters would be a quarter smaller.
terminal_of(name) = sprintf("set terminal %s size %d,%d noenhanced font 'DejaVu Sans,11'%s background 'white'", name, W, H, name eq "svg" ? " fontscale 1.333" : "")
title_font = 'title_size = 9.6 * strlen(title_text) < W ? 14 : 8.2 * strlen(title_text) < W ? 12 : 10'
open_figure = 'dummy = note(provenance); eval title_font; eval lay_legend_out; columns = W / 6.7; text = notes; eval wrap_text; foot = notes eq "" ? 8 : n_lines * 15.5 + 14; \
W = 1.0 * W; legend_top = 44 + (subtitle_text eq "" ? 0 : 22); head = legend_top + 20 * legend_lines + 4 + 16 * title_lines; \
panel_w = (W - left - right - (n_columns - 1) * gap_x) / n_columns; n_panel_rows = int(ceil(1.0 * n_panels / n_columns)); \
H = 1.0 * int(head + n_panel_rows * panel_h + (n_panel_rows - 1) * gap_y + below + foot); \
eval terminal_of(format eq "svg" ? "svg" : "pngcairo"); set output output; set multiplot; \
set label 998 title_text at screen 0.5, screen 1 - 18 / H center front font sprintf(",%d", title_size); \
set label 999 subtitle_text at screen 0.5, screen 1 - 42 / H center front font ",10" tc rgb dark; \
set label 997 wrapped at screen 12 / W, screen (foot - 12) / H left front font ",9" tc rgb dark; eval put_legend'
# The head belongs to the first panel alone.
drop_head = 'do for [i = 997:1100 + n_legend] { unset label i }; do for [i = 1001:1000 + n_legend] { unset arrow i }'
# Puts panel p into place; a figure may replace panel_title(p).
panel_title(p) = ""
place_panel = 'panel_column = (p - 1) % n_columns; panel_row = (p - 1) / n_columns; is_last_row = p + n_columns > n_panels; \
x0 = left + panel_column * (panel_w + gap_x); y0 = head + panel_row * (panel_h + gap_y); \
set lmargin at screen x0 / W; set rmargin at screen (x0 + panel_w) / W; set tmargin at screen 1 - y0 / H; set bmargin at screen 1 - (y0 + panel_h) / H; \
set border 3 lc rgb dark; set grid xtics ytics lt 1 lc rgb "#e0e0e0" lw 1; unset logscale; set xtics autofreq norotate nomirror; set ytics autofreq nomirror; \
set title panel_title(p) noenhanced font ",11" offset 0, -0.5; set xlabel ""; set ylabel ""; \
unset label 1; unset arrow 1; if (p == 2) { eval drop_head }'

# ---- axes ----
# Numbers for the tics of a logarithmic axis from `low` to `high`, four of them at least: sets tics. Where 1, 2 and 5 of each decade are too few,
# steps are finer; where the decades are many, decades do alone. Along x numbers want room: axis_pixels is the axis' length, 0 along y.
axis_pixels = 0
has_room(value) = axis_pixels == 0 || log(1.0 * value / last_tic) / log(1.0 * high / low) * axis_pixels > 12 + 4.6 * (strlen(sprintf("%.10g", value)) + strlen(sprintf("%.10g", last_tic)))
add_tic = 'if (value >= low * 0.999 && value <= high * 1.001 && (!n_tics || has_room(value))) { \
    tics = tics.(n_tics ? ", " : "").sprintf("%.10g", value); n_tics = n_tics + 1; last_tic = value }'
list_tics = 'tics = ""; n_tics = 0; \
do for [decade = int(floor(log10(low))):int(ceil(log10(high)))] { do for [s in steps] { value = s * 10.0**decade; eval add_tic } }'
find_log_tics = 'steps = 1.0 * high / low > 3e4 ? "1" : "1 2 5"; eval list_tics; \
if (n_tics < 4) { steps = "1 1.5 2 3 4 6 8"; eval list_tics }; \
if (n_tics < 4) { \
    step = 10.0**floor(log10((high - low) / 3.0)); do for [times in "2 2.5 2"] { if ((high - low) / step > (axis_pixels > 0 ? axis_pixels / 60 : 7)) { step = times * step } }; tics = ""; n_tics = 0; \
    do for [i = int(ceil(low / step)):int(floor(high / step))] { value = i * step; eval add_tic } }'
# Sets the axis named `axis` ("x" or "y") around data from `low` to `high`. With n_zeros, zero stands at an edge of a logarithmic axis of its own.
zero = NaN; n_zeros = 0
fit_axis = 'if (low != low) { low = is_log ? 0.5 : 0; high = is_log ? 2 : 1 }; \
if (is_log) { \
    factor = (1.0 * high / low)**0.05; if (factor < 1.04) { factor = 1.04 }; low = low / factor; high = high * factor; axis_pixels = axis eq "x" ? panel_w : 0; eval find_log_tics; \
    if (n_zeros) { zero = low / (high / low)**0.13; low = zero / (high / zero)**0.02; tics = sprintf("\"0\" %.9g, ", zero).tics }; \
    eval sprintf("set logscale %s; set %srange [%.12g:%.12g]; set %stics (%s)", axis, axis, low, high, axis, tics) \
} else { \
    reach = high - low; if (reach <= 0) { reach = abs(high) > 0 ? abs(high) : 1 }; \
    eval sprintf("set %srange [%.12g:%.12g]", axis, low >= 0 && low < 0.6 * high ? 0 : low - 0.06 * reach, high + 0.06 * reach) }'

# ---- rows that stand out ----
# Finds the rows of the table `extremes_of` that stand out: by descending score(0), NaN for ordinary rows, n_wanted rows at most and each name_of(0)
# once. Sets n_extremes, and Extreme_name, Extreme_x, Extreme_y, Extreme_score by x_of_row(0), y_of_row(0).
array Extreme_name[6]; array Extreme_x[6]; array Extreme_y[6]; array Extreme_score[6]
note_extreme(s) = (best = s, best_name = name_of(0), best_x = x_of_row(0), best_y = y_of_row(0), 0)
find_extremes = 'n_extremes = 0; taken = "\t"; \
do for [k = 1:n_wanted] { \
    best = NaN; \
    stats extremes_of using (score(0) == score(0) && (best != best || score(0) > best) && !strstrt(taken, "\t".name_of(0)."\t") ? \
        note_extreme(score(0)) : 0, 0) nooutput; \
    if (best == best) { \
        n_extremes = k; taken = taken.best_name."\t"; \
        Extreme_name[k] = best_name; Extreme_x[k] = best_x; Extreme_y[k] = best_y; Extreme_score[k] = best } }'

# ---- what the kinds of figure take; a script sets what differs ----
# Both kinds: enter_panel is run before panel p is gathered, and drawn; before_plot just before a panel is drawn; with_notes between gathering and
# the layout. is_log is the values' axis.
enter_panel = ""; before_plot = ""; with_notes = ""; is_log = 0; text_room = 0; limits = ""
# bars.gp: slot(0) and bar(0) say where a row of the table belongs, 0 for nowhere. part(k) is the height of a part of the bar; without parts, marks stand
# alone. mark(m) is a mark on the bar, low_of(0) to high_of(0) the span, flag(0) a dot at the end. Rows of one bar are added, or averaged by is_mean.
is_rows = 0; dots_at_foot = 0; n_bars = 1; n_parts = 1; mark_points = ""; mark_sizes = ""; n_rules = 0; is_mean = 0; labels_in_all = 0; span_is_range = 0; slot_title = ""
size_of_mark(m) = m > words(mark_sizes) ? 1 : word(mark_sizes, m) + 0
array Rule_colour[4] = ["black", vermilion, green, blue]; array Rule_dash[4] = [1, 2, 1, 1]
bar(dummy) = 1; mark(m) = NaN; low_of(dummy) = NaN; high_of(dummy) = NaN; flag(dummy) = 0; rule(i) = NaN
mark_colour(b, m) = "#000000"; bar_text(s, b, v) = ""; heading(i) = ""; value_title(p) = ""; shares_scale(p, q) = p == q; slots_in(p) = n_slots; slot_label(i) = Name[i]; slot(dummy) = int(column(0)) + 1
# points.gp: series(0), x(0), y(0), label(0) of a row of the table in pass g of n_passes; point_of(s) and line_of(s) are gnuplot's types, 0 for none.
# is_sorted draws y sorted over the share of the rows. x_has and y_has are numbers that the axes reach; references are functions of x.
n_passes = 1; enter_pass = ""; n_series = 1; is_sorted = 0; is_rising = 0; x_log = 0; x_has = ""; y_has = ""; is_square = 0; n_references = 0
reference(i, x) = NaN; series(dummy) = 1; no_label = "~"; label(dummy) = no_label; point_of(s) = 7; line_of(s) = 0; width_of(s) = 2; size_of(s) = 0.8; x_title(p) = ""
# A slot for each row of the table, named by row_name(0).
find_rows = 'n_slots = 0; stats table using (n_slots = n_slots + 1, 0) nooutput; array Name[n_slots]; stats table using (Name[int(column(0)) + 1] = row_name(0), 0) nooutput'
legend_of_series = 'do for [s = 1:n_series] { dummy = legend(series_title(s), series_colour(s), line_of(s) ? -line_of(s) : point_of(s)) }'
