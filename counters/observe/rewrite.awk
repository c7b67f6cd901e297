# Writes assembly that does what some functions of a program do, and records each of their accesses before it is made.
#
# Reads lines "FUNCTION name", each followed by what `objdump -d -w --insn-width=16` prints of that function, out of a
# program that is linked at fixed addresses. The copy runs beside the program in memory (obs_rewritten_watcher.c loads it
# and knows MAGIC; its own memory is at WORK; both lie low enough for 32-bit addresses): every instruction is copied as
# its bytes, but jumps, which go to the copy, and addresses relative to the place, which become absolute. Before an
# instruction that touches memory, or prefetches, stands the code that records its address and its number; it changes no
# register and no flag.
#
# Whatever is not understood (an unknown width, a masked access, an indirect jump) makes the function one that is not
# rewritten, with the reason: it is then never entered unseen (obs_rewritten_watcher.c).

function refuse(why) {
    if (!(current in refused))
        refused[current] = why
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
    return text ~ /\(/ || text ~ /^%[fg]s:/
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

# Bytes that an instruction touches; 0: not known.
function width_of(name, text, n,   i) {
    if (text ~ /\{1to/)
        return name ~ /(pd|q)$/ ? 8 : 4
    if (name in width)
        return width[name]
    if (name ~ /^v/ && name ~ /ss$/)
        return 4
    if (name ~ /^v/ && name ~ /sd$/)
        return 8
    if (name ~ /^v(mov[au]p[sd]|movdq[au](8|16|32|64)?|f?n?m(add|sub)[0-9]*p[sd]|(add|sub|mul|div|max|min|xor|and|andn|or|unpck[lh]|shuf)p[sd]|(pxor|por|pand|padd)[dq]?|movs[lh]dup|perm(ps|pd|ilps|ilpd|[dq])|permt2p[sd]|permi2p[sd]|fmaddsub[0-9]*p[sd])$/)
        return vector_bytes(text)
    for (i = 1; i <= n; i++) {
        if (register_bytes(operand[i]))
            return register_bytes(operand[i])
    }
    if (name ~ /^(mov|add|sub|cmp|test|and|or|xor|inc|dec|neg|not|shl|shr|sar|imul)[bwlq]$/)
        return suffix[substr(name, length(name))]
    return 0
}

# 1 load, 2 store, 3 both, 4 prefetch.
function kind_of(name, n) {
    if (name ~ /^prefetch/)
        return 4
    if (n && !is_memory(operand[n]))
        return 1
    if (name ~ /^(cmp|test)/ || n == 0)
        return 1
    if (name ~ /^(mov|vmov|vextract|set)/ || name == "vextractps")
        return 2
    return 3
}

function record(address, site) {
    printf "mov %%rax,%s\nmov %%rcx,%s\nlea %s,%%rax\nmov %s,%%rcx\n", work "+8", work "+16", address, work
    printf "mov %%rax,(%%rcx)\nmovq $%d,8(%%rcx)\nlea 16(%%rcx),%%rcx\nmov %%rcx,%s\n", site, work
    printf "mov %s,%%rcx\nmov %s,%%rax\n", work "+16", work "+8"
}

function bytes_of(hex,   n, i, b, text) {
    n = split(hex, b, " ")
    for (i = 1; i <= n; i++)
        text = text (i > 1 ? "," : "") "0x" b[i]
    return ".byte " text
}

# The access of an instruction that has one, recorded.
function watch(name, text, n,   i, bytes, at) {
    if (name ~ /^(lea|nop|push|pop|endbr|ret|leave)/)
        return
    for (i = 1; i <= n && !is_memory(operand[i]); i++)
        ;
    if (i > n || operand[i] ~ /^%[fg]s:/)
        return
    at = operand[i]
    bytes = width_of(name, text, n)
    if (text ~ /\{%k[0-7]\}/ || at ~ /\{%k/ || name ~ /(gather|scatter|maskmov|compress|expand)/)
        refuse("masked: " name " " text)
    else if (!bytes)
        refuse("unknown width: " name " " text)
    if (current in refused)
        return
    sub(/\{1to[0-9]+\}/, "", at)
    site_bytes[n_sites] = bytes
    site_kind[n_sites] = kind_of(name, n)
    site_function[n_sites] = n_functions - 1
    record(at, n_sites++)
}

# A store of %rax, repeated: one by one, without touching a flag.
function repeat_store() {
    printf ".Lrepeat%d:\njrcxz .Lrepeated%d\n", n_sites, n_sites
    repeated = n_sites
    watch("mov", "%rax,(%rdi)", split_operands("%rax,(%rdi)"))
    printf "mov %%rax,(%%rdi)\nlea 8(%%rdi),%%rdi\nlea -1(%%rcx),%%rcx\njmp .Lrepeat%d\n.Lrepeated%d:\n", repeated, repeated
}

function jump(name, text,   target) {
    target = text
    sub(/ .*/, "", target)
    if (target !~ /^[0-9a-f]+$/)
        refuse("indirect: " name " " text)
    else if (name == "call" && text !~ /<(__wrap_memset|__stack_chk_fail)>/)
        refuse("calls " text)
    else if (name == "call")
        printf "call 0x%s\n", target
    else if ((name ~ /^j/) && !(text ~ ("<" current "(\\+0x[0-9a-f]+)?>")))
        refuse("leaves: " name " " text)
    else
        printf "%s .L%s\n", name, target
}

BEGIN {
    FS = "\t"
    work = WORK
    split("vbroadcastss 4 vbroadcastsd 8 vmovss 4 vmovsd 8 vmovhpd 8 vmovlpd 8 vmovhps 8 vmovlps 8 vinsertps 4 " \
          "vextractps 4 vinsertf128 16 vextractf128 16 vbroadcastf128 16 vbroadcastf32x4 16 vinsertf32x4 16 " \
          "vextractf32x4 16 vextractf64x4 32 vinsertf64x4 32 vbroadcastf64x4 32 vmovd 4 vmovq 8 movzbl 1 movzbq 1 " \
          "movsbl 1 movzwl 2 movslq 4 " \
          "prefetcht0 1 prefetcht1 1 prefetcht2 1 prefetchnta 1 prefetchw 1 vmovddup 8 movss 4 movsd 8 movups 16", pair, " ")
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
        first_bytes[n_functions - 1] = $2
        started = 1
    }
    printf ".L%s:\n", address
    if (text == "rep stos %rax,%es:(%rdi)") {
        repeat_store()
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
    if (name ~ /^(j|call|loop|xbegin)/) {
        jump(name, rest)
        next
    }
    n = split_operands(rest)
    if (rest ~ /\(%rip\)/) { # comment: "# 1c0f2e0 <symbol>"
        target = comment
        sub(/.*# */, "", target)
        sub(/ .*/, "", target)
        if (name !~ /^(lea|v?mov|vbroadcast|vperm|vadd|vmul|v?xor|vand|vpadd)/)
            refuse("relative: " text)
        sub(/-?(0x)?[0-9a-f]+\(%rip\)/, "0x" target, rest)
        print name " " rest # constants: outside all tensors
        next
    }
    watch(name, rest, n)
    print bytes_of($2)
}

# A string of so many bytes, zeros behind it.
function put_text(text, bytes) {
    text = substr(text, 1, bytes - 1)
    printf ".ascii \"%s\"\n.zero %d\n", text, bytes - length(text)
}

END {
    print ".section .head,\"a\"\nhead: .quad 0x" MAGIC ", head, " WORK ", " n_functions ", " n_sites
    for (f = 0; f < n_functions; f++) {
        current = name_of[f]
        copy = (current in refused) ? "0" : ".L" original[f]
        n = split(first_bytes[f], b, " ")
        n = n < 8 ? n : 8
        print ".quad 0x" original[f] ", " copy ", " n
        for (i = 1; i <= 8; i++)
            print ".byte 0x" (i <= n ? b[i] : "00")
        put_text(current, 64)
        put_text(refused[current], 96)
    }
    for (s = 0; s < n_sites; s++)
        print ".short " site_function[s] "\n.byte " site_bytes[s] "," site_kind[s]
}
