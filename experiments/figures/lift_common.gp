# What the figures of `make lift` share: rows of three bars, a row per layer.
load figures."/style.gp"
is_rows = 1; n_bars = 3; n_passes = 3; row = 0
find_rows = 'n_slots = 0; stats table using (n_slots = n_slots + 1, 0) nooutput; array Name[n_slots]; \
    row = 0; stats table using (row = row + 1, Name[row] = row_name(0), 0) nooutput'
slot(dummy) = int(column(0)) + 1; bar(dummy) = g; bar_colour(b, k) = word(grey." ".blue." ".orange, b); slot_label(i) = Name[i]
threads_text(s) = strstrt(s, "1 threads") ? s[1:strstrt(s, "1 threads") + 7].s[strstrt(s, "1 threads") + 9:*] : s; provenance = threads_text(what)
