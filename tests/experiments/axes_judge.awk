# Reads the data drawn by a figure (axes_script.awk) and names each datum outside of the axes, which a reader does not
# see, or not whole. A width or an uncertainty is a part of a datum. Prints the number of plots last.
function outside(value, low, high,    slack) {
    slack = 1e-5 * (high - low) + 1e-5 * (value < 0 ? -value : value)
    return value < low - slack || value > high + slack
}
function is_x(name) { return name ~ /^(x|xlow|xhigh)$/ }
function is_y(name) { return name ~ /^(y|ylow|yhigh)$/ }
function judge_row(row, low_x, high_x, low_y, high_y,    cell, name, n, i, x, y) {
    n = split(heads[row], name, " ")
    split(rows[row], cell, " ")
    for (i = 1; i <= n; i++) {
        if (name[i] == "x") x = cell[i] + 0
        if (name[i] == "y") y = cell[i] + 0
        if ((name[i] == "x" || name[i] == "y") && cell[i] !~ /^[-+0-9.]/) return ""
    }
    for (i = 1; i <= n; i++) {
        if (cell[i] !~ /^[-+0-9.]/) continue
        if (name[i] == "delta_x") { if (outside(x + cell[i], low_x, high_x)) return "x + " cell[i] }
        else if (name[i] == "delta_y") { if (outside(y + cell[i], low_y, high_y)) return "y + " cell[i] }
        else if (is_x(name[i]) && outside(cell[i] + 0, low_x, high_x)) return name[i] " " cell[i]
        else if (is_y(name[i]) && outside(cell[i] + 0, low_y, high_y)) return name[i] " " cell[i]
    }
    return ""
}
/^# x / { head = substr($0, 3); sub(/ type$/, "", head); next }
/^#/ || !NF { next }
$1 == "axes" {
    plots++
    low_x = $2 < $3 ? $2 : $3; high_x = $2 < $3 ? $3 : $2; low_y = $4 < $5 ? $4 : $5; high_y = $4 < $5 ? $5 : $4
    for (r = 1; r <= n_rows; r++) {
        found = judge_row(r, low_x + 0, high_x + 0, low_y + 0, high_y + 0)
        if (found != "") printf "plot %d: %s is outside of [%s:%s] x [%s:%s]: %s\n", plots, found, $2, $3, $4, $5, rows[r]
    }
    points += n_rows
    n_rows = 0
    next
}
{ heads[++n_rows] = head; rows[n_rows] = $0 }
END { print "plots:", plots + 0, "points:", points + 0 }
