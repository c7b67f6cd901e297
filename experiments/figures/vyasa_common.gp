# What the figures of `make vyasa` share: rows of a precision, in the order of the table, and the provenance below.
load figures."/style.gp"
of_bits(b, y) = column("bits") == b ? y : NaN
n_of(b) = sprintf('n = 0; stats vyasa_csv using (column("bits") == %d ? (n = n + 1, 0) : 0, 0) nooutput', b)
put_note = 'set label 97 what at screen 12.0 / W, screen 12.0 / H left font ",9" tc rgb "#404040"'
