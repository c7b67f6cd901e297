# Run behind x86.awk. Reads assembly that gcc wrote for x86-64 (AT&T syntax) and writes it with code
# before each instruction that touches memory: it records the address, the width, and whether that is a store, for
# plugin_watcher.c, and changes no register and no flag. What a push, pop, call or return does to the stack is not recorded.
#
# Code between two jumps or labels is a block. Each block counts how often it runs (conv_recorder_counts), and so does each
# end of a loop; a table (conv_recorder_costs) has for each of these counters: vector instructions, other instructions
# without branches, multiply-adds among them, and for the end of a loop the counter of the loop's last block, plus 1.
#
# Ends with a message and status 1 at an instruction whose accesses are not known: nothing goes unseen.

function stop(what) {
    print "its machine code cannot be watched: " what >"/dev/stderr"
    failed = 1
    exit 1
}

# What a record has in its upper 16 bits (ring.h). Two instructions of a loop seldom have the same number.
function meta(bytes, is_store) {
    n_sites++
    return (n_sites % 512) * 128 + (bytes - 1) * 2 + is_store
}

# Registers are kept below what a function may have beneath its stack (the red zone).
BEGIN {
    KEPT_RAX = "-136(%rsp)"
    KEPT_RCX = "-144(%rsp)"
    NEXT = "conv_recorder_next(%rip)"
    n_counters = 0
}

# Holds the place of a new counter.
function hold_counter() {
    hold("")
    counter_at[n_held] = n_counters
    return n_counters++
}

# Adds an instruction to the block at hand. Begins a block.
function count(name, text,   class) {
    if (!has_counter)
        current = hold_counter()
    has_counter = 1
    class = class_of(name, text, split_operands(text))
    vectors[current] += class ~ /vector|fma/
    scalars[current] += class !~ /vector|fma|branch/
    macs[current] += class == "fma" || name ~ /^v?mul[ps][sd]$/
}

# A jump back to a label ends a loop: what follows the jump counts the loop's ends.
function jump_back(name, label) {
    if (label in is_label && name != "jmp")
        ended = current + 1
}

function print_counters(   i) {
    print "\t.bss\n\t.balign\t8\n\t.globl\tconv_recorder_counts\n\t.hidden\tconv_recorder_counts\nconv_recorder_counts:"
    printf "\t.zero\t%d\n", 8 * n_counters + 8
    print "\t.section\t.rodata\n\t.balign\t4\n\t.globl\tconv_recorder_costs\n\t.hidden\tconv_recorder_costs"
    print "conv_recorder_costs:"
    for (i = 0; i < n_counters; i++)
        printf "\t.long\t%d, %d, %d, %d\n", vectors[i], scalars[i], macs[i], loop_of[i]
    print "\t.long\t0, 0, 0, 0\n\t.globl\tconv_recorder_n_counts\n\t.hidden\tconv_recorder_n_counts"
    printf "conv_recorder_n_counts:\n\t.long\t%d\n", n_counters
}

# Keeps code until it is known how many accesses there are up to the next label, jump or call (release).
function hold(text) {
    held[++n_held] = text
}

function record(address, bytes, is_store) {
    place_of[++n_held] = ++n_records
    held[n_held] = address
    meta_of[n_held] = meta(bytes, is_store)
}

# Prints what is held. The first access makes room for all accesses, so that the other accesses need not wait for each other.
function release(   i) {
    for (i = 1; i <= n_held; i++) {
        if (i in counter_at)
            print_count("conv_recorder_counts+" 8 * counter_at[i] "(%rip)")
        else if (i in place_of)
            print_record(held[i], meta_of[i], place_of[i] == 1 ? 0 : 8 * (place_of[i] - 1 - n_records), \
                         place_of[i] == 1 ? 8 * n_records : 0)
        else
            print held[i]
    }
    n_held = n_records = has_counter = 0
    split("", place_of)
    split("", counter_at)
}

# Puts where an access begins into memory, and has a function of plugin_watcher.c record it, which changes no register.
function record_by(function_, origin, what) {
    release()
    print "\tmovq\t%rax, -136(%rsp)"
    print "\tleaq\t" origin ", %rax"
    print "\tmovq\t%rax, conv_recorder_origin(%rip)"
    print "\tmovq\t-136(%rsp), %rax"
    print "\tmovl\t$" what ", conv_recorder_what(%rip)"
    print "\tleaq\t-128(%rsp), %rsp\n\tpushfq\n\tcall\t" function_ "\n\tpopfq\n\tleaq\t128(%rsp), %rsp"
}

# Puts the mask of an instruction into memory. Returns 1 if it is a mask register's bits, 0 if signs of a vector's elements.
function keep_mask(n, n_lanes, vector,   i) {
    for (i = 1; i <= n; i++) {
        if (match(operand[i], /\{%k[1-7]\}/)) {
            hold("\tkmov" (n_lanes > 16 ? "q" : "w") "\t" substr(operand[i], RSTART + 1, RLENGTH - 2) ", conv_recorder_mask(%rip)")
            return 1
        }
    }
    hold("\tvmovdqu\t" vector ", conv_recorder_mask(%rip)")
    return 0
}

# A vector of which a mask chooses elements: what they span.
function record_masked(name, text, at, n, kind,   element, bytes) {
    bytes = vector_bytes(text)
    element = name ~ /(pd|sd|q|64)$/ ? 8 : name ~ /(u8|b)$/ ? 1 : name ~ /(u16|w)$/ ? 2 : 4
    record_by("conv_recorder_masked", at, element + bytes / element * 16 + \
              keep_mask(n, bytes / element, operand[2]) * 131072 + (int(kind / 2) % 2) * 262144 + \
              (name ~ /compress|expand/) * 524288)
}

# A gather or scatter: its elements one by one.
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
    hold("\tvmovdqu" (vector ~ /zmm|mm(1[6-9]|2|3)/ ? "64" : "") "\t" vector ", conv_recorder_index(%rip)")
    record_by("conv_recorder_elements", origin, index_bytes + element * 16 + (scale == "" ? 1 : scale) * 256 + \
              n_lanes * 4096 + keep_mask(n, n_lanes, operand[1]) * 131072 + is_store * 262144)
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
    bytes = name ~ /^(jmp|call)/ ? 8 : width_of(name, text, n)
    if (!bytes)
        stop(name " " text)
    kind = kind_of(name, n)
    if (text !~ /\{1to/ && !is_converting(name) && vector_bytes(text) && (name ~ /maskmov/ || text ~ /\{%k[1-7]\}/)) {
        gsub(/\{[^}]*\}/, "", at)
        record_masked(name, text, at, n, kind)
        return
    }
    gsub(/\{[^}]*\}/, "", at)
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
    count(name, text)
    if (name ~ /^(stos|movs|cmps|scas|lods)[bwlq]?$/ && text !~ /,/)
        stop(line)
    watch(name, text)
    if (name ~ /^j/)
        jump_back(name, text)
    if (name ~ /^(j|call|ret|loop|xbegin|syscall|ud2)/)
        release()
}

!/^\t[a-z]/ || /[;:]/ {
    release()
}

/^\.L[A-Za-z0-9_]+:/ {
    is_label[substr($0, 1, index($0, ":") - 1)] = 1
}

{
    hold($0)
    if (ended)
        loop_of[hold_counter()] = ended
    ended = 0
}

END {
    if (!failed) {
        release()
        print_counters()
    }
}
