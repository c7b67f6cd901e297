# What the figures of `make bench-peers` share. Variables: those of style.gp, what (one line of provenance).
load figures."/style.gp"
# Caches as the layer before leaves them; older tables call that a sweep.
is_network(dummy) = index_in("network sweep", stringcolumn("cache")); name_of(dummy) = stringcolumn("model")." ".stringcolumn("layer")
x_of_row(dummy) = 0; y_of_row(dummy) = 0
