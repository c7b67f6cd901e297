# What the figures of `make bench-peers` and `make judge` share. Variables: those of style.gp, what (one line of provenance).
load figures."/style.gp"

# The methods: how they are called, and their colours (peers/peers.h).
title_of_peer(m) = word(peer_titles, index_in(peer_names, m))
colour_of_peer(m) = index_in(peer_names, m) ? word(peer_colours, index_in(peer_names, m)) : grey

set key outside top center horizontal Left reverse samplen 2
W = 1000; H = 560
# Caches as the layer before leaves them. Older tables say sweep: all layers ran one after the other.
is_network(dummy) = index_in("network sweep", stringcolumn("cache"))

# The provenance below everything, in as many lines as it needs.
put_what = 'text = what; columns = W / 7.0; eval wrap_text; \
    set label 99 wrapped at screen 0.01, screen (n_lines * 15.5 - 4) / (1.0 * H) left font ",9" tc rgb "#404040"'
