# What the figures of `make lift` share: rows of three bars, a row per layer.
load figures."/style.gp"; is_rows = 1; n_bars = 3; n_passes = 3; bar(dummy) = g; bar_colour(b, k) = word(grey." ".blue." ".orange, b)
threads_text(s) = strstrt(s, "1 threads") ? s[1:strstrt(s, "1 threads") + 7].s[strstrt(s, "1 threads") + 9:*] : s; provenance = threads_text(what)
