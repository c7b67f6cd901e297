# Changes a figure's script into a script that also writes the plotted data and axes: each plot command is made twice,
# at first into the table <output>.drawn, which axes_judge.awk reads. Tables use the tics' format, so the format is set
# aside meanwhile.
function finish(command) {
    sub(/^[ \t]+/, "", command)
    print "set format xy '%.9g'"
    print "set table output.\".drawn\" append"
    print command
    print "unset table"
    print "set print output.\".drawn\" append"
    print "print sprintf(\"axes %.15g %.15g %.15g %.15g\", GPVAL_X_MIN, GPVAL_X_MAX, GPVAL_Y_MIN, GPVAL_Y_MAX)"
    print "unset print"
    print format == "" ? "set format" : format
}
/^[ \t]*set format / { format = $0 }
!holds && /^[ \t]*plot / { holds = 1; command = lines = "" }
!holds { print; next }
{
    lines = lines $0 "\n"
    continues = sub(/\\$/, "")
    command = command $0
    if (!continues) {
        holds = 0
        finish(command)
        printf "%s", lines
    }
}
