# Run behind x86.awk: -f x86.awk -f rewrite.awk.
#
# Writes assembly that does what some functions of a program do, and records each of their accesses before it is made.
#
# Reads lines "FUNCTION name", each followed by what `objdump -d -w --insn-width=16` prints of that function, out of a
# program that is linked at fixed addresses. The copy runs beside the program in memory (twin_watcher.c loads it
# and knows MAGIC; its own memory is at WORK; both lie low enough for 32-bit addresses): every instruction is copied as
# its bytes, but jumps, which go to the copy, and addresses relative to the place, which become absolute. Before an
# instruction that touches memory, or prefetches, stands the code that records its address and its number, and before
# each, if WHOLE is 1, code that counts it, at COUNTS by function and class; neither changes a register or a flag. Calls go to originals: where there is a copy, they jump there. An indirect jump looks its target
# up in a table at MAP of four bytes for each of the program's (0: there is no copy).
#
# Whatever is not understood (an unknown width, a lock) makes the function one that is not rewritten, with
# the reason: it is then never entered unseen (twin_watcher.c). So do a masked access and a call, unless WHOLE
# is 1: then all the program's kernels are among the functions, and a masked access is recorded as one.

function refuse(why) {
    if (!(n_functions - 1 in refused))
        refused[n_functions - 1] = why
    if (current ~ /\.cold/)
        why_not_cold[current] = why
}

# An instruction of the function at hand, counted.
function count(class) {
    if (!WHOLE)
        return
    print_count(COUNTS + 8 * ((n_functions - 1) * n_classes + number_of[class]))
}

# Records an access of the function at hand. Accesses of a function that are alike share a site.
function record_site(address, bytes, kind,   site) {
    site = n_functions - 1 SUBSEP bytes SUBSEP kind
    if (!(site in number_of_site)) {
        site_bytes[n_sites] = bytes
        site_kind[n_sites] = kind
        site_function[n_sites] = n_functions - 1
        number_of_site[site] = n_sites++
    }
    if (n_sites > 65536)
        refuse("more kinds of accesses than a record tells apart")
    else
        print_record(address, number_of_site[site], 0, 8)
}

function bytes_of(hex,   n, i, b, text) {
    n = split(hex, b, " ")
    for (i = 1; i <= n; i++)
        text = text (i > 1 ? "," : "") "0x" b[i]
    return ".byte " text
}

# The access of an instruction that has one, recorded.
function watch(name, text, n,   i, bytes, at) {
    if (name ~ /^(lea$|nop|endbr)/)
        return
    for (i = 1; i <= n && !is_memory(operand[i]); i++)
        ;
    if (i > n)
        return
    at = operand[i]
    bytes = width_of(name, text, n)
    if (!WHOLE && is_masked(name, text))
        refuse("masked: " name " " text)
    else if (!bytes)
        refuse("unknown width: " name " " text)
    if (n_functions - 1 in refused)
        return
    gsub(/\{[^}]*\}|%[fg]s:/, "", at)
    sub(/,%[xyz]mm.*/, ")", at) # of a gather, where it starts from
    record_site(at, bytes, kind_of(name, n) + (is_masked(name, text) ? 8 : 0))
}

# What an instruction does to the stack by itself.
function watch_stack(name) {
    if (name ~ /^(push|call)/)
        record_site("-8(%rsp)", 8, 2)
    else if (name ~ /^(pop|ret)/)
        record_site("(%rsp)", 8, 1)
    else if (name ~ /^leave/)
        record_site("(%rbp)", 8, 1)
}

# stos or movs, repeated or not: one by one, without touching a flag. Code clears and copies upwards.
function watch_string(text,   bytes, repeats, label) {
    repeats = text ~ /^rep /
    bytes = text ~ /(%rax|sq) / ? 8 : text ~ /(%eax|sl) / ? 4 : text ~ /(%ax|sw) / ? 2 : 1
    sub(/^rep /, "", text)
    label = n_strings++
    if (repeats)
        printf ".Lrepeat%d:\njrcxz .Lnone%d\njmp .Lone%d\n.Lnone%d:\njmp .Lrepeated%d\n.Lone%d:\n", label, label, label, label, label, label
    if (text ~ /^movs/)
        record_site("(%rsi)", bytes, 1)
    record_site("(%rdi)", bytes, 2)
    print text
    if (repeats)
        printf "lea -1(%%rcx),%%rcx\njmp .Lrepeat%d\n.Lrepeated%d:\n", label, label
}

# To a place that a register or memory names. In a function, only tables of a switch lead to the middle of one.
function jump_indirect(text) {
    has_targets[n_functions - 1] = 1
    printf "mov %%rax,%s\nmov %%rcx,%s\nmov %s,%%rax\n", KEPT_RAX, KEPT_RCX, substr(text, 2)
    printf "mov %s(,%%rax,4),%%ecx\njrcxz .Loriginal%d\nmov %%rcx,%%rax\n", MAP, ++n_indirect
    printf ".Loriginal%d:\nmov %%rax,%s\nmov %s,%%rcx\nmov %s,%%rax\njmp *%s\n", n_indirect, WORK "+24", KEPT_RCX, KEPT_RAX, WORK "+24"
}

# Whether a function is this one, or the part of it that the compiler put elsewhere.
function is_same(name) {
    return name == current || name == current ".cold" || name ".cold" == current
}

function call(text) {
    if (!WHOLE && text !~ /<(__wrap_memset|__stack_chk_fail)>/)
        refuse("calls " text)
    watch_stack("call")
    if (text ~ /^\*/)
        print "call " text
    else
        printf "call 0x%s\n", substr(text, 1, index(text " ", " ") - 1)
}

function jump(name, text,   target, place) {
    if (text ~ /^\*/) {
        jump_indirect(text)
        return
    }
    target = place = text
    sub(/ .*/, "", target)
    gsub(/.*<|(\+0x[0-9a-f]+)?>.*/, "", place)
    if (is_same(place))
        printf "%s .L%s\n", name, target
    else if (WHOLE && text !~ /\+0x/)
        printf "%s 0x%s\n", name, target
    else
        refuse("leaves: " name " " text)
}

BEGIN {
    FS = "\t"
    NEXT = WORK
    KEPT_RAX = WORK "+8"
    KEPT_RCX = WORK "+16"
    n_sites = n_functions = 0
    n_classes = split("fma vector_load vector_store vector scalar_load scalar_store prefetch branch other", class, " ")
    for (i = 1; i <= n_classes; i++)
        number_of[class[i]] = i - 1
    print ".section .code,\"ax\""
}

/^FUNCTION / {
    current = substr($0, 10)
    name_of[n_functions++] = current
    started = 0
    next
}

/^ *[0-9a-f]+:\t/ {
    address = $1
    gsub(/[ :]/, "", address)
    text = $3
    sub(/ *#.*/, "", text)
    sub(/ *$/, "", text)
    comment = $3
    if (!started) {
        original[n_functions - 1] = address
        if (current !~ /\.cold/) # nobody else jumps there
            first_bytes[n_functions - 1] = $2
        started = 1
    }
    address_of[++n_addresses] = address
    function_of[n_addresses] = n_functions - 1
    printf ".L%s:\n", address
    if (text ~ /^(rep )?(stos %[er]?a[xl],%es:\(%rdi\)|movs[bwlq] %ds:\(%rsi\),%es:\(%rdi\))$/) {
        count("other")
        watch_string(text)
        next
    }
    while (text ~ /^(cs|ds|data16|notrack|bnd|rep|repz|lock) /) {
        if (text ~ /^(rep|lock)/ && text !~ /^repz ret/)
            refuse(text)
        sub(/^[a-z0-9]+ /, "", text)
    }
    name = text
    sub(/ .*/, "", name)
    rest = substr(text, length(name) + 1)
    sub(/^ */, "", rest)
    is_relative = rest ~ /\(%rip\)/
    if (is_relative) { # comment: "# 1c0f2e0 <symbol>"
        target = comment
        sub(/.*# */, "", target)
        sub(/ .*/, "", target)
        sub(/-?(0x)?[0-9a-f]+\(%rip\)/, "0x" target, rest)
    }
    count(class_of(name, rest, split_operands(rest)))
    if (name ~ /^(j|call|loop|xbegin)/) {
        operands = rest
        if (sub(/^\*/, "", operands))
            watch(name, operands, split_operands(operands))
        if (name ~ /^call/)
            call(rest)
        else
            jump(name, rest)
        next
    }
    watch(name, rest, split_operands(rest))
    watch_stack(name)
    print is_relative ? name " " rest : bytes_of($2)
}

# A string of so many bytes, zeros behind it.
function put_text(text, bytes) {
    text = substr(text, 1, bytes - 1)
    printf ".ascii \"%s\"\n.zero %d\n", text, bytes - length(text)
}

END {
    for (f = 0; f < n_functions; f++) { # nor is one entered whose other part is not rewritten
        if (!(f in refused) && ((name_of[f] ".cold") in why_not_cold))
            refused[f] = why_not_cold[name_of[f] ".cold"]
    }
    for (i = 1; i <= n_addresses; i++)
        n_targets += has_targets[function_of[i]]
    printf ".section .head,\"a\"\nhead: .quad 0x%s, head, %s, %s\n", MAGIC, WORK, MAP
    printf ".quad %d, %d, %d, %d, %s, %d\n", n_functions, n_targets, n_sites, WHOLE, COUNTS, WHOLE ? n_classes : 0
    for (i = 1; i <= n_classes && WHOLE; i++)
        put_text(class[i], 16)
    for (f = 0; f < n_functions; f++) {
        copy = (f in refused) ? "0" : ".L" original[f]
        n = split(first_bytes[f], b, " ")
        n = n < 8 ? n : 8
        print ".quad 0x" original[f] ", " copy ", " n
        for (i = 1; i <= 8; i++)
            print ".byte 0x" (i <= n ? b[i] : "00")
        put_text(name_of[f], 64)
        put_text(refused[f], 96)
    }
    for (i = 1; i <= n_addresses; i++) {
        if (has_targets[function_of[i]])
            printf ".long 0x%s, .L%s\n", address_of[i], address_of[i]
    }
    for (s = 0; s < n_sites; s++)
        print ".short " site_function[s] "\n.byte " site_bytes[s] "," site_kind[s]
}
