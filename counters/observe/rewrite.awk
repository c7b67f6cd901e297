# Writes assembly that does what some functions of a program do, and records each of their accesses before it is made.
#
# Reads lines "FUNCTION name", each followed by what `objdump -d -w --insn-width=16` prints of that function, out of a
# program that is linked at fixed addresses. The copy runs beside the program in memory (obs_rewritten_watcher.c loads it
# and knows MAGIC; its own memory is at WORK; both lie low enough for 32-bit addresses): every instruction is copied as
# its bytes, but jumps, which go to the copy, and addresses relative to the place, which become absolute. Before an
# instruction that touches memory, or prefetches, stands the code that records its address and its number; it changes no
# register and no flag. Calls go to originals: where there is a copy, they jump there. An indirect jump looks its target
# up in a table at MAP of four bytes for each of the program's (0: there is no copy).
#
# Whatever is not understood (an unknown width, a lock) makes the function one that is not rewritten, with
# the reason: it is then never entered unseen (obs_rewritten_watcher.c). So do a masked access and a call, unless WHOLE
# is 1: then all the program's kernels are among the functions, and a masked access is recorded as one.

function refuse(why) {
    if (!(n_functions - 1 in refused))
        refused[n_functions - 1] = why
    if (current ~ /\.cold/)
        why_not_cold[current] = why
}

# Operands of an instruction, split at the commas that are outside parentheses.
function split_operands(text,   i, c, depth, n, start) {
    n = 0; depth = 0; start = 1
    for (i = 1; i <= length(text) + 1; i++) {
        c = i <= length(text) ? substr(text, i, 1) : ","
        depth += c == "(" ? 1 : c == ")" ? -1 : 0
        if (c == "," && (depth == 0 || i > length(text))) {
            operand[++n] = substr(text, start, i - start)
            start = i + 1
        }
    }
    return text == "" ? 0 : n
}

function is_memory(text) {
    return text ~ /\(/ || text ~ /^%[fg]s:/ || text ~ /^0x/
}

# Bytes of the general register that an operand is.
function register_bytes(text) {
    if (text ~ /^%r([a-ds][xip]|[sb]p|[sd]i|[0-9]+)$/)
        return 8
    if (text ~ /^%(e[a-ds][xip]|e[sb]p|e[sd]i|r[0-9]+d)$/)
        return 4
    if (text ~ /^%([a-d]x|[sb]p|[sd]i|r[0-9]+w)$/)
        return 2
    return text ~ /^%([a-d][lh]|[sb]pl|[sd]il|r[0-9]+b)$/ ? 1 : 0
}

function vector_bytes(text) {
    return text ~ /%zmm/ ? 64 : text ~ /%ymm/ ? 32 : text ~ /%xmm/ ? 16 : 0
}

# Bytes that an instruction touches; 0: not known. What has a vector touches as much, unless it widens or narrows.
function width_of(name, text, n,   i) {
    if (text ~ /\{1to/)
        return name ~ /(pd|q)$/ ? 8 : 4
    if (name in width)
        return width[name]
    if (name ~ /gather|scatter|^v?cvtt?ss2/ || (name ~ /ss$/ && name !~ /^v?cvt/))
        return 4
    if (name ~ /^v?cvtt?sd2/ || (name ~ /sd$/ && name !~ /^v?(cvt|p)/))
        return 8
    if (vector_bytes(text))
        return name !~ /broadcast|insert|extr|insr|pmov|cvt/ || name ~ /cvt(dq2ps|t?ps2dq)$/ ? vector_bytes(text) : 0
    for (i = 1; i <= n; i++) {
        if (register_bytes(operand[i]))
            return register_bytes(operand[i])
    }
    if (name ~ /^set/)
        return 1
    if (name ~ /^(mov|add|sub|cmp|test|and|or|xor|inc|dec|neg|not|shl|shr|sar|i?mul|i?div|adc|sbb|push|pop)[bwlq]$/)
        return suffix[substr(name, length(name))]
    return 0
}

# 1 load, 2 store, 3 both, 4 prefetch; 8 more: masked.
function kind_of(name, n) {
    if (name ~ /^prefetch/)
        return 4
    if (n && !is_memory(operand[n]))
        return 1
    if (name ~ /^(cmp|test|bt[lq]?$|push|v?u?comis|i?mul|i?div|call|jmp)/ || n == 0)
        return 1
    if (name ~ /^(v?p?mov|kmov|vp?mask|v?p?extr|vextract|vp?compress|vcvtps2ph|set|pop)/)
        return 2
    return 3
}

function is_masked(name, text) {
    return text ~ /\{%k[0-7]\}/ || name ~ /(maskmov|compress|expand|gather|scatter)/
}

function record(address, site) {
    printf "mov %%rax,%s\nmov %%rcx,%s\nlea %s,%%rax\nmov %s,%%rcx\n", work "+8", work "+16", address, work
    printf "mov %%rax,(%%rcx)\nmovq $%d,8(%%rcx)\nlea 16(%%rcx),%%rcx\nmov %%rcx,%s\n", site, work
    printf "mov %s,%%rcx\nmov %s,%%rax\n", work "+16", work "+8"
}

# A site of the function at hand, recorded.
function record_site(address, bytes, kind) {
    site_bytes[n_sites] = bytes
    site_kind[n_sites] = kind
    site_function[n_sites] = n_functions - 1
    record(address, n_sites++)
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
    label = n_sites
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
    printf "mov %%rax,%s\nmov %%rcx,%s\nmov %s,%%rax\n", work "+8", work "+16", substr(text, 2)
    printf "mov %s(,%%rax,4),%%ecx\njrcxz .Loriginal%d\nmov %%rcx,%%rax\n", MAP, ++n_indirect
    printf ".Loriginal%d:\nmov %%rax,%s\nmov %s,%%rcx\nmov %s,%%rax\njmp *%s\n", n_indirect, work "+24", work "+16", work "+8", work "+24"
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
    work = WORK
    split("movss 4 movsd 8 movd 4 movq 8 movhps 8 movlps 8 movhpd 8 movlpd 8 vmovss 4 vmovsd 8 vmovd 4 vmovq 8 vmovhps 8 " \
          "vmovlps 8 vmovhpd 8 vmovlpd 8 vmovddup 8 movzbl 1 movzbq 1 movzbw 1 movsbl 1 movsbq 1 movsbw 1 movzwl 2 " \
          "movzwq 2 movswl 2 movswq 2 movslq 4 vbroadcastss 4 vbroadcastsd 8 vpbroadcastb 1 vpbroadcastw 2 vpbroadcastd 4 " \
          "vpbroadcastq 8 vbroadcastf128 16 vbroadcasti128 16 vbroadcastf32x4 16 vbroadcasti32x4 16 vbroadcastf64x2 16 " \
          "vbroadcasti64x2 16 vbroadcastf64x4 32 vbroadcasti64x4 32 vbroadcastf32x8 32 vbroadcasti32x8 32 vinsertps 4 " \
          "vinsertf128 16 vinserti128 16 vinsertf32x4 16 vinserti32x4 16 vinsertf64x4 32 vinserti64x4 32 vinsertf32x8 32 " \
          "vinserti32x8 32 vextractps 4 vextractf128 16 vextracti128 16 vextractf32x4 16 vextracti32x4 16 vextractf64x2 16 " \
          "vextracti64x2 16 vextractf64x4 32 vextracti64x4 32 vextractf32x8 32 vextracti32x8 32 pinsrd 4 pinsrq 8 " \
          "vpinsrd 4 vpinsrq 8 vpextrd 4 vpextrq 8 vpmovzxbd 8 vpmovsxdq 16 vpmovzxdq 16 cvtsi2ssl 4 cvtsi2sdl 4 " \
          "cvtsi2ssq 8 cvtsi2sdq 8 vcvtsi2ssl 4 vcvtsi2sdl 4 vcvtsi2ssq 8 vcvtsi2sdq 8 kmovb 1 kmovw 2 kmovd 4 kmovq 8 " \
          "push 8 pop 8 call 8 jmp 8 prefetcht0 1 prefetcht1 1 prefetcht2 1 prefetchnta 1 prefetchw 1", pair, " ")
    for (i = 1; i in pair; i += 2)
        width[pair[i]] = pair[i + 1]
    suffix["b"] = 1; suffix["w"] = 2; suffix["l"] = 4; suffix["q"] = 8
    n_sites = n_functions = 0
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
    printf ".section .head,\"a\"\nhead: .quad 0x%s, head, %s, %s\n", MAGIC, work, MAP
    printf ".quad %d, %d, %d, %d\n", n_functions, n_targets, n_sites, WHOLE
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
