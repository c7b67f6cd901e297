# Picks, out of what objdump says of a program, the functions that are to be copied: those of an archive's objects, and
# those whose names match NAMES.
#
# Reads what `nm archive` prints, a line "PROGRAM", what `objdump -t program` prints, and what `objdump -d` does; copies
# of the last what belongs to those functions, each after a line "FUNCTION name", as rewrite.awk wants it. Local
# functions are known by the name of their file, which is unique.

!in_program && /\.o:$/ {
    sub(/\.o:$/, ".c")
    is_file[$0] = 1
}

!in_program && $2 == "T" {
    is_name[$3] = 1
}

$0 == "PROGRAM" {
    in_program = 1
}

in_program && / df \*ABS\*/ {
    file = $NF
}

in_program && $3 == "F" && (($2 == "l" && (file in is_file)) || ($2 == "g" && (($NF in is_name) || $NF ~ NAMES))) {
    name_of[$1] = $NF
}

in_program && /^[0-9a-f]+ <.*>:$/ {
    is_on = $1 in name_of
    if (is_on)
        print "FUNCTION " name_of[$1]
    next
}

is_on && !/^FUNCTION /
