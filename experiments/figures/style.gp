# What the figures of all programs share: input format, colours, text, the head, extremes. base/plot.c starts the scripts; the comments at the
# head of each name its tables (base/plot_data.h), which arrive as variables: layers_csv is a copy of layers.csv, "" if there is none.
#
# Variables set by every program:
#   format   png or svg          output   file to write          figures   this folder

set encoding utf8
set datafile separator tab
set datafile columnheaders
set datafile missing NaN
set decimalsign "."
set style fill solid 1.0 noborder
set tics nomirror
set border 3 lc rgb "#404040"
set grid ytics lt 1 lc rgb "#e0e0e0" lw 1

# Algorithms and methods have one colour in all figures: their records say which. What else has a colour takes it from Okabe and Ito's palette,
# which people with any kind of colour vision tell apart.
orange = "#e69f00"; sky = "#56b4e9"; green = "#009e73"; blue = "#0072b2"; vermilion = "#d55e00"; grey = "#c0c0c0"
colour_paper = vermilion

# The algorithms of an experiment: how they are called, and their colours (bench/course/variables.h).
index_in(list, w) = int(sum [i = 1:words(list)] (word(list, i) eq w ? i : 0))
title_of(a) = word(algo_titles, index_in(algo_names, a))
colour_of(a) = word(algo_colours, index_in(algo_names, a))

font_size = 11
char_width = 8.3 # of that font, in pixels, rather much; for wrapping text
line_height = font_size * 1.75
text_mode = "noenhanced" # layer names have underscores

missing_prefix = "not available:"
is_missing(s) = s[1:strlen(missing_prefix)] eq missing_prefix
# The beginning of a reason: whose it is, and its first clause. The table has all of it.
first_clause(s, mark) = strstrt(s, mark) ? s[1:strstrt(s, mark) - 1] : s
after_colon(s) = strstrt(s, ": ") ? ": ".first_clause(s[strstrt(s, ": ") + 2:*], ": ") : ""
short_reason(s) = first_clause(first_clause(first_clause(s[strlen(missing_prefix)+2:*], ": ").after_colon(s[strlen(missing_prefix)+2:*]), "; "), " (")
# NaN where the cell says why it has no number, and where an older table has no such column.
number(c) = column(c)
# Names at tics are formats to gnuplot, which takes two percent signs for one.
tic_text(s) = strstrt(s, "%") ? s[1:strstrt(s, "%")]."%".tic_text(s[strstrt(s, "%") + 1:*]) : s
max2(a, b) = (a != a) ? b : (b != b) ? a : (a > b ? a : b)
min2(a, b) = (a != a) ? b : (b != b) ? a : (a < b ? a : b)

# Opens the output; W and H in pixels.
# A PNG's letters are as large as 96 pixels per inch make them; an SVG's would be a quarter smaller.
terminal_of(name) = sprintf("set terminal %s size %d,%d %s font 'DejaVu Sans,%d'%s background 'white'", name, W, H, text_mode, font_size, \
    name eq "svg" ? " fontscale 1.333" : "")
open_output = 'eval terminal_of(format eq "svg" ? "svg" : "pngcairo"); set output output'

# Breaks `text` into lines of at most `columns` characters: sets wrapped and n_lines.
wrap_text = 'wrapped = ""; line = ""; n_lines = 1; \
do for [i = 1:words(text)] { \
    if (line ne "" && strlen(line) + strlen(word(text, i)) + 1 > columns) { \
        wrapped = wrapped.line."\n"; line = word(text, i); n_lines = n_lines + 1 \
    } else { line = (line eq "") ? word(text, i) : line." ".word(text, i) } \
}; wrapped = wrapped.line'

# Three lines over the panels: title, what it is about, legend; there is room for a second line of a long legend. It is made of labels 100, 101, ...
head_height = 104
title_line = 16; subtitle_line = 38; legend_line = 64
put_head = 'set label 98 title_text at screen 0.5, screen 1 - title_line / (1.0 * H) center front noenhanced font ",14"; \
    set label 99 subtitle_text at screen 0.5, screen 1 - subtitle_line / (1.0 * H) center front noenhanced; \
    legend_x = 60; legend_id = 100'
put_legend = 'if (legend_x > 60 && legend_x + 22 + 7.6 * strlen(legend_text) > W) { legend_x = 60; legend_line = legend_line + 18 }; \
    if (legend_point) { \
        set label legend_id legend_text at screen legend_x / (1.0 * W), screen 1 - legend_line / (1.0 * H) left front noenhanced \
            offset 1.3, -0.12 point pt legend_point ps 1.2 lw 1.4 lc rgb legend_colour \
    } else { \
        set label legend_id legend_text at screen (legend_x - 8) / (1.0 * W), screen 1 - (legend_line - 4) / (1.0 * H) left front \
            noenhanced tc rgb legend_colour \
    }; legend_x = legend_x + 58 + 7.6 * strlen(legend_text); legend_id = legend_id + 1'
drop_head = 'do for [i = 98:120] { unset label i }'
square = 5; circle = 6; dot = 7; diamond = 13; open_square = 4; only_text = 0

# Numbers for the tics of a logarithmic axis from `low` to `high`, four of them at least: sets tics. Where 1, 2 and 5 of each decade are too few,
# steps are finer; where the decades are many, they do alone.
# Along x numbers want room: axis_pixels is how long the axis is, 0 along y.
axis_pixels = 0
has_room(value) = axis_pixels == 0 || log(1.0 * value / last_tic) / log(1.0 * high / low) * axis_pixels > 10 + 4.2 * (strlen(sprintf("%.10g", value)) + strlen(sprintf("%.10g", last_tic)))
add_tic = 'if (value >= low * 0.999 && value <= high * 1.001 && (!n_tics || has_room(value))) { \
    tics = tics.(n_tics ? ", " : "").sprintf("%.10g", value); n_tics = n_tics + 1; last_tic = value }'
list_tics = 'tics = ""; n_tics = 0; \
do for [decade = int(floor(log10(low))):int(ceil(log10(high)))] { do for [s in steps] { value = s * 10.0**decade; eval add_tic } }'
find_log_tics = 'steps = 1.0 * high / low > 3e4 ? "1" : "1 2 5"; eval list_tics; \
if (n_tics < 4) { steps = "1 1.2 1.5 2 2.5 3 4 5 6 7 8 9"; eval list_tics }; \
if (n_tics < 4) { \
    step = 10.0**floor(log10((high - low) / 3.0)); if ((high - low) / step > 8) { step = 2 * step }; tics = ""; n_tics = 0; \
    do for [i = int(ceil(low / step)):int(floor(high / step))] { value = i * step; eval add_tic } }'

# Finds the rows of the table `extremes_of` that stand out: by descending score(0), which is NaN for rows that do not, at most n_wanted of them and
# each name_of(0) once. Sets n_extremes, and Extreme_name, Extreme_x, Extreme_y, Extreme_score by x_of_row(0), y_of_row(0).
max_extremes = 6
array Extreme_name[max_extremes]; array Extreme_x[max_extremes]; array Extreme_y[max_extremes]; array Extreme_score[max_extremes]
note_extreme(s) = (best = s, best_name = name_of(0), best_x = x_of_row(0), best_y = y_of_row(0), 0)
find_extremes = 'n_extremes = 0; taken = "\t"; \
do for [k = 1:n_wanted] { \
    best = NaN; \
    stats extremes_of using (score(0) == score(0) && (best != best || score(0) > best) && !strstrt(taken, "\t".name_of(0)."\t") ? \
        note_extreme(score(0)) : 0, 0) nooutput; \
    if (best == best) { \
        n_extremes = k; taken = taken.best_name."\t"; \
        Extreme_name[k] = best_name; Extreme_x[k] = best_x; Extreme_y[k] = best_y; Extreme_score[k] = best \
    } \
}'
