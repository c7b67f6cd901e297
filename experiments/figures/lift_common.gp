# What the figures of `make lift` share: bars of three kinds beside each other, and the provenance below.
load figures."/style.gp"
put_note = 'columns = int(W / 7); text = what; eval wrap_text; \
set label 97 wrapped at screen 12.0 / W, screen (n_lines * 14.0) / H left font ",9" tc rgb "#404040"'
n_rows(file, c) = sprintf('n = 0; stats %s using (n = n + 1, column("%s")) nooutput', file, c)
name_tics = 'do for [k = 1:n] { set label k Name[k] at k - 1, graph -0.03 rotate by 30 right font ",9" }'
bars(shift, k) = k - 1 + shift
