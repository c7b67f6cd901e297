# How fast the tilings of each method are, the best one found = 100 %.
# question How fast are the tilings of each method?
# caption Bars: of the best tiling that an exhaustive search found; whiskers: the worst tenth of the layers. halving is CSA's
# caption own method; alpha_0.5 is that with 0.5 in place of 0.9 of L1 for tiles, beta_ and gamma_ likewise for L2 and L3
# draws methods.csv: speed_percent worst_tenth_percent
load figures."/peers_common.gp"
file = methods_csv
W = 1200; H = 600
eval open_output
eval put_what
set title "Speed of each method's tilings, geometric mean over the layers; whiskers: the worst tenth" offset 0, 3.4
set tmargin 6.5; set bmargin 7 + n_lines
set ylabel "of the best tiling found [%]"
set yrange [0:*]
set boxwidth 0.25
set xtics rotate by 40 right
set key at graph 0.5, graph 1.01 center bottom horizontal Left reverse maxrows 1
names = ""
wanted(m) = stringcolumn("machine") eq m && (stringcolumn("part") eq (m eq "here" ? "others" : "all"))
machines = "clx4208 power10 here"; how = '"clx4208, by replay" "power10, by replay" "this computer, by the clock: layers that csa2 was not fitted to"'
array Shade[3] = [sky, orange, green]
do for [m in machines] {
    stats file using (wanted(m) && !index_in(names, stringcolumn("method")) ? (names = names." ".stringcolumn("method"), 0) : 0, 0) nooutput
}
set xrange [0.3:words(names) + 0.7]
do for [i = 1:words(names)] { set xtics add (tic_text(word(names, i)) i) }
set style fill solid 0.9 noborder
slot(m, k) = wanted(m) ? index_in(names, stringcolumn("method")) + 0.27 * (k - 2) : NaN
plot for [k = 1:3] file using (slot(word(machines, k), k)):(number("speed_percent")) with boxes lc rgb Shade[k] title word(how, k), \
     for [k = 1:3] file using (slot(word(machines, k), k)):(number("speed_percent")):(number("worst_tenth_percent")):(number("speed_percent")) \
         with yerrorbars pt 0 lc rgb "#404040" notitle
