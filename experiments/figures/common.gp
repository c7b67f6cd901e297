# What all figures share: input format, colours, terminal, small helpers. Loaded by each figure's script, which exp_plot.c starts.
#
# Variables set by the caller:
#   format      png or svg                     output      file to write
#   figures     this folder                    layers      layers.csv as plain text (see exp_figures.c)
#   totals      model.csv, likewise            classes     classes.csv, likewise; "" if there is none
#   machine     simulated machine, for titles
#   simulator   what simulated, for titles     host        where measured, for titles
#   observed    observed.csv, likewise; "" if there is none
#   observed_by by what it was observed, for titles
#   paper_*     published numbers; "" where the paper has none for this machine or model

set encoding utf8
set datafile separator tab
set datafile columnheaders
set decimalsign "."
set style fill solid 1.0 noborder
set tics nomirror
set border 3 lc rgb "#404040"
set grid ytics lt 1 lc rgb "#e0e0e0" lw 1

# Okabe and Ito's palette, told apart by people with any kind of colour vision.
colour_base = "#7f7f7f"
colour_is = "#e69f00"
colour_ws = "#0072b2"
colour_sconv = "#009e73"
colour_paper = "#d55e00"
colour_openblas = "#cc79a7"

font_size = 11
char_width = 7.9 # of that font, in pixels, rather much; for wrapping text
line_height = font_size * 1.75
text_mode = "noenhanced" # layer names have underscores

algo_is(a) = stringcolumn("algo") eq a
missing_prefix = "not available:"
is_missing(s) = s[1:strlen(missing_prefix)] eq missing_prefix
short_reason(s) = s[strlen(missing_prefix)+2:*]

# What the rows say about themselves. Layers are numbered 1, 2, ... as shown: a filter may have left gaps in layer_index.
model = ""; last_index = 0; n_shown = 0; longest_name = 0
max2(a, b) = (a != a) ? b : (b != b) ? a : (a > b ? a : b)
stats layers using (model = stringcolumn("model"), last_index = max2(last_index, int(column("layer_index"))), \
    longest_name = max2(longest_name, strlen(stringcolumn("layer"))), 0) nooutput
array Position[last_index]
seen = 0
stats layers using (column("layer_index") != seen ? (seen = column("layer_index"), n_shown = n_shown + 1, \
    Position[int(column("layer_index"))] = n_shown) : 0, 0) nooutput
position(i) = Position[int(i)]
layer_text = sprintf("%d convolution%s", n_shown, n_shown == 1 ? "" : "s")

# Opens the output; W and H in pixels.
terminal_of(name) = sprintf("set terminal %s size %d,%d %s font 'DejaVu Sans,%d' background 'white'", name, W, H, text_mode, font_size)
open_output = 'eval terminal_of(format eq "svg" ? "svg" : "pngcairo"); set output output'

# Breaks `text` into lines of at most `columns` characters: sets wrapped and n_lines.
wrap_text = 'wrapped = ""; line = ""; n_lines = 1; \
do for [i = 1:words(text)] { \
    if (line ne "" && strlen(line) + strlen(word(text, i)) + 1 > columns) { \
        wrapped = wrapped.line."\n"; line = word(text, i); n_lines = n_lines + 1 \
    } else { line = (line eq "") ? word(text, i) : line." ".word(text, i) } \
}; wrapped = wrapped.line'

# Bars of the three algorithms around each layer's number.
offset_of(a) = (a eq "base") ? -0.27 : (a eq "sconv_is") ? 0 : (a eq "sconv_ws") ? 0.27 : NaN
bar_x(dummy) = position(column("layer_index")) + offset_of(stringcolumn("algo"))
only(a, v) = algo_is(a) ? v : NaN
is_chosen(v) = column("chosen") == 1 ? v : NaN

# Figures with one slot per layer along x: width, and room for the rotated names.
slot_pixels = n_shown <= 20 ? 48 : n_shown <= 60 ? 26 : 17
name_height = 12 + longest_name * 6.6
set_layer_width = 'W = 100 + n_shown * slot_pixels; if (W < 1000) { W = 1000 }'

# Three lines over the panels: title, machine, legend. The legend is made of labels 100, 101, ...
head_height = 104
title_line = 16; machine_line = 38; legend_line = 64
put_head = 'set label 98 title_text at screen 0.5, screen 1 - title_line / (1.0 * H) center front noenhanced font ",14"; \
    set label 99 "simulated machine: ".machine at screen 0.5, screen 1 - machine_line / (1.0 * H) center front noenhanced; \
    legend_x = 60; legend_id = 100'
put_legend = 'if (legend_point) { \
        set label legend_id legend_text at screen legend_x / (1.0 * W), screen 1 - legend_line / (1.0 * H) left front noenhanced \
            offset 1.3, -0.12 point pt legend_point ps 1.2 lw 1.4 lc rgb legend_colour \
    } else { \
        set label legend_id legend_text at screen (legend_x - 8) / (1.0 * W), screen 1 - (legend_line - 4) / (1.0 * H) left front \
            noenhanced tc rgb legend_colour \
    }; legend_x = legend_x + 58 + 7.6 * strlen(legend_text); legend_id = legend_id + 1'
drop_head = 'do for [i = 98:120] { unset label i }'
square = 5; circle = 6; dot = 7; diamond = 13; open_square = 4; only_text = 0
