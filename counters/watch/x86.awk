# What x86 instructions touch, in AT&T's syntax, and code that records an access: shared by the two scripts that make code
# record its accesses, of a compiler's assembly (record.awk) and of a linked program (rewrite.awk).

# Prints code that records an access, and changes no register and no flag: `what` stands in the upper 16 bits of the record
# (ring.h). Rax and rcx stand at KEPT_RAX and KEPT_RCX meanwhile. NEXT holds the place of the next record; the code writes
# `at` bytes from the place, and moves NEXT on by `room` bytes.
function print_record(address, what, at, room) {
    printf "\tmovq\t%%rax, %s\n\tmovq\t%%rcx, %s\n\tleaq\t%s, %%rax\n", KEPT_RAX, KEPT_RCX, address
    printf "\tmovabsq\t$0x%04x000000000000, %%rcx\n\tleaq\t(%%rax,%%rcx), %%rax\n", what
    printf "\tmovq\t%s, %%rcx\n\tmovq\t%%rax, %d(%%rcx)\n", NEXT, at
    if (room)
        printf "\tleaq\t%d(%%rcx), %%rcx\n\tmovq\t%%rcx, %s\n", room, NEXT
    printf "\tmovq\t%s, %%rcx\n\tmovq\t%s, %%rax\n", KEPT_RCX, KEPT_RAX
}

# Prints code that adds 1 to a number in memory, and changes no register and no flag.
function print_count(at) {
    printf "\tmovq\t%%rax, %s\n\tmovq\t%s, %%rax\n\tleaq\t1(%%rax), %%rax\n\tmovq\t%%rax, %s\n\tmovq\t%s, %%rax\n", \
        KEPT_RAX, at, at, KEPT_RAX
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
    return (text ~ /\(/ && text !~ /^%st/) || text ~ /^%[fg]s:/ || text ~ /^0x/
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

# Tells whether elements in memory are narrower than those in the register.
function is_converting(name) {
    return name ~ /^v?pmov[sz]x|^v?cvt(ps2pd|u?dq2pd|ph2ps|ps2ph|t?ps2u?qq)$|^v?pmovu?s?[dqw][bwd]$/
}

# Bytes in memory of such a vector.
function converted_width(name, text) {
    return vector_bytes(text) / (name ~ /(bd|wq|db|qw)$/ ? 4 : name ~ /(bq|qb)$/ ? 8 : 2)
}

# Bytes of an x87 instruction's operand; whole numbers have other suffixes than floats.
function x87_width(name) {
    if (name ~ /^f(ld|nst|st)cw$|^fn?stsw$/)
        return 2
    if (name ~ /^fi/)
        return name ~ /(ll|q)$/ ? 8 : name ~ /l$/ ? 4 : name ~ /s$/ ? 2 : 0
    return name ~ /^f(ld|stp)t$/ ? 10 : name ~ /s$/ ? 4 : name ~ /l$/ ? 8 : 0
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
    if (is_converting(name))
        return converted_width(name, text)
    if (name ~ /^v?movddup$/)
        return text ~ /%xmm/ ? 8 : vector_bytes(text)
    if (name ~ /^v?cvtt?pd2(ps|u?dq)[xyz]$/)
        return name ~ /x$/ ? 16 : name ~ /y$/ ? 32 : 64
    if (name ~ /^f/)
        return x87_width(name)
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
    if (name ~ /^f/)
        return name ~ /^f(n?st|ist)/ ? 2 : 1
    if (name ~ /^(v?ldmxcsr|cmp|test|bt[lq]?$|push|v?u?comis|i?mul|i?div|call|jmp)/ || n == 0)
        return 1
    if (name ~ /^(v?p?mov|kmov|vp?mask|v?p?extr|vextract|vp?compress|vcvtps2ph|set|pop|v?stmxcsr)/)
        return 2
    return 3
}

function is_masked(name, text) {
    return text ~ /\{%k[0-7]\}/ || name ~ /(maskmov|compress|expand|gather|scatter)/
}

# The class of an instruction, as insn.h has them.
function class_of(name, text, n,   i) {
    if (name ~ /^(j|call|ret|loop)/)
        return "branch"
    if (name ~ /^prefetch/)
        return "prefetch"
    if (name ~ /^vf(n?m(add|sub)|m(addsub|subadd))/)
        return "fma"
    if (name ~ /^push/)
        return "scalar_store"
    if (name ~ /^pop/)
        return "scalar_load"
    for (i = 1; i <= n && !is_memory(operand[i]); i++)
        ;
    if (i <= n && name ~ /^(v?mov|vp?maskmov|vp?broadcast|v?lddqu)/)
        return (text ~ /%[xyz]mm/ ? "vector_" : "scalar_") (i < n ? "load" : "store")
    return text ~ /%[xyz]mm/ || name ~ /^vzero/ ? "vector" : "other"
}

BEGIN {
    split("movss 4 movsd 8 movd 4 movq 8 movhps 8 movlps 8 movhpd 8 movlpd 8 vmovss 4 vmovsd 8 vmovd 4 vmovq 8 vmovhps 8 " \
          "vmovlps 8 vmovhpd 8 vmovlpd 8 movzbl 1 movzbq 1 movzbw 1 movsbl 1 movsbq 1 movsbw 1 movzwl 2 " \
          "movzwq 2 movswl 2 movswq 2 movslq 4 vbroadcastss 4 vbroadcastsd 8 vpbroadcastb 1 vpbroadcastw 2 vpbroadcastd 4 " \
          "vpbroadcastq 8 vbroadcastf128 16 vbroadcasti128 16 vbroadcastf32x4 16 vbroadcasti32x4 16 vbroadcastf64x2 16 " \
          "vbroadcasti64x2 16 vbroadcastf64x4 32 vbroadcasti64x4 32 vbroadcastf32x8 32 vbroadcasti32x8 32 vinsertps 4 " \
          "vinsertf128 16 vinserti128 16 vinsertf32x4 16 vinserti32x4 16 vinsertf64x4 32 vinserti64x4 32 vinsertf32x8 32 " \
          "vinserti32x8 32 vextractps 4 vextractf128 16 vextracti128 16 vextractf32x4 16 vextracti32x4 16 vextractf64x2 16 " \
          "vextracti64x2 16 vextractf64x4 32 vextracti64x4 32 vextractf32x8 32 vextracti32x8 32 pinsrd 4 pinsrq 8 " \
          "vpinsrd 4 vpinsrq 8 vpextrd 4 vpextrq 8 cvtsi2ssl 4 cvtsi2sdl 4 vpextrw 2 vpextrb 1 vpinsrw 2 " \
          "vpinsrb 1 pextrw 2 pextrb 1 pextrd 4 pextrq 8 pinsrw 2 pinsrb 1 insertps 4 extractps 4 vbroadcastf32x2 8 " \
          "vbroadcasti32x2 8 ldmxcsr 4 stmxcsr 4 vldmxcsr 4 vstmxcsr 4 " \
          "cvtsi2ssq 8 cvtsi2sdq 8 vcvtsi2ssl 4 vcvtsi2sdl 4 vcvtsi2ssq 8 vcvtsi2sdq 8 kmovb 1 kmovw 2 kmovd 4 kmovq 8 " \
          "push 8 pop 8 call 8 jmp 8 prefetcht0 1 prefetcht1 1 prefetcht2 1 prefetchnta 1 prefetchw 1", pair, " ")
    for (i = 1; i in pair; i += 2)
        width[pair[i]] = pair[i + 1]
    suffix["b"] = 1; suffix["w"] = 2; suffix["l"] = 4; suffix["q"] = 8
}
