# Run behind counters/observe/x86.awk. Reads assembly that gcc wrote for x86-64 (AT&T syntax) and writes it with code
# before each instruction that touches memory: it records the address, the width, and whether that is a store, for
# recorder.c, and changes no register and no flag. What a push, pop, call or return does to the stack is not recorded.
#
# Ends with a message and status 1 at an instruction whose accesses are not known: nothing goes unseen.

function stop(what) {
    print "its machine code cannot be watched: " what >"/dev/stderr"
    failed = 1
    exit 1
}

# What a record has in its upper 16 bits (recorder.h). Two instructions of a loop seldom have the same number.
function meta(bytes, is_store) {
    n_sites++
    return (n_sites % 512) * 128 + (bytes - 1) * 2 + is_store
}

function record(address, bytes, is_store) {
    print "\tmovq\t%rax, conv_recorder_saved(%rip)"
    print "\tmovq\t%rcx, conv_recorder_saved+8(%rip)"
    print "\tleaq\t" address ", %rax"
    print "\tmovq\tconv_recorder_next(%rip), %rcx"
    print "\tmovq\t%rax, (%rcx)"
    print "\tmovw\t$" meta(bytes, is_store) ", 6(%rcx)"
    print "\tleaq\t8(%rcx), %rcx"
    print "\tmovq\t%rcx, conv_recorder_next(%rip)"
    print "\tmovq\tconv_recorder_saved+8(%rip), %rcx"
    print "\tmovq\tconv_recorder_saved(%rip), %rax"
}

# A gather or scatter: its elements one by one, by a function of recorder.c that gets index, mask and origin in memory.
function record_elements(name, at, n,   is_store, index_bytes, element, origin, vector, scale, i) {
    is_store = name ~ /scatter/
    sub(/^vp?(gather|scatter)/, "", name)
    index_bytes = substr(name, 1, 1) == "d" ? 4 : 8
    element = substr(name, 2) ~ /^(ps|d)$/ ? 4 : 8
    vector = at
    sub(/.*,%/, "%", vector)
    match(vector, /^%[xyz]mm[0-9]+/)
    scale = substr(vector, RLENGTH + 1)
    vector = substr(vector, 1, RLENGTH)
    gsub(/[,)]/, "", scale)
    origin = at
    sub(/,?%[xyz]mm.*/, ")", origin)
    sub(/\(\)$/, "", origin)
    n_lanes = 0
    for (i = 1; i <= n; i++) { # as many as the shorter of indices and elements
        if (operand[i] ~ /^%[xyz]mm/ && operand[i] !~ /\(/)
            n_lanes = vector_bytes(operand[i]) / element
    }
    if (vector_bytes(vector) / index_bytes < n_lanes || !n_lanes)
        n_lanes = vector_bytes(vector) / index_bytes
    print "\tvmovdqu" (vector ~ /zmm|mm(1[6-9]|2|3)/ ? "64" : "") "\t" vector ", conv_recorder_index(%rip)"
    mask = ""
    for (i = 1; i <= n; i++) {
        if (match(operand[i], /\{%k[0-7]\}/))
            mask = substr(operand[i], RSTART + 1, RLENGTH - 2)
    }
    if (mask != "")
        print "\tkmovw\t" mask ", conv_recorder_mask(%rip)"
    else # AVX2: the sign of each element of the first operand
        print "\tvmovdqu\t" operand[1] ", conv_recorder_mask(%rip)"
    print "\tmovq\t%rax, conv_recorder_saved(%rip)"
    print "\tleaq\t" origin ", %rax"
    print "\tmovq\t%rax, conv_recorder_origin(%rip)"
    print "\tmovq\tconv_recorder_saved(%rip), %rax"
    i = index_bytes + element * 16 + (scale == "" ? 1 : scale) * 256 + n_lanes * 4096 + (mask != "") * 131072 + is_store * 262144
    print "\tmovl\t$" i ", conv_recorder_what(%rip)"
    print "\tleaq\t-128(%rsp), %rsp\n\tpushfq\n\tcall\tconv_recorder_elements\n\tpopfq\n\tleaq\t128(%rsp), %rsp"
}

# Records the access of an instruction that has one.
function watch(name, text,   n, i, at, bytes, kind) {
    n = split_operands(text)
    for (i = 1; i <= n && !is_memory(operand[i]); i++)
        ;
    if (i > n || name ~ /^(leaq?|leal|leaw|nop[wl]?|endbr64|prefetch.*|j[a-z]*|call|ret)$/ && text !~ /^\*/)
        return
    at = operand[i]
    if (at ~ /^%[fg]s:|@GOT/) # of the thread, or the loader's
        return
    sub(/^\*/, "", at)
    if (name ~ /gather|scatter/) {
        gsub(/\{[^}]*\}/, "", at)
        record_elements(name, at, n)
        return
    }
    if (name ~ /compress|expand/)
        stop(name " " text)
    bytes = name ~ /^(jmp|call)/ ? 8 : width_of(name, text, n)
    if (!bytes)
        stop(name " " text)
    gsub(/\{[^}]*\}/, "", at)
    kind = kind_of(name, n)
    if (kind % 2)
        record(at, bytes, 0)
    if (int(kind / 2) % 2)
        record(at, bytes, 1)
}

/^\t[a-z]/ {
    line = $0
    sub(/^\t/, "", line)
    sub(/[ \t]*#.*$/, "", line)
    while (line ~ /^(notrack|bnd|lock|data16|rep|repz|repnz|repe|repne)[; \t]/) {
        if (line ~ /^rep/ && line ~ /(stos|movs|cmps|scas|lods)/)
            stop(line)
        sub(/^[a-z0-9]+[; \t]+/, "", line)
    }
    name = line
    sub(/[ \t].*/, "", name)
    text = substr(line, length(name) + 1)
    gsub(/[ \t]+/, "", text)
    if (name ~ /^(stos|movs|cmps|scas|lods)[bwlq]?$/ && text !~ /,/)
        stop(line)
    watch(name, text)
}

{
    print
}
