# Run behind counters/watch/x86.awk. Reads assembly that clang or gcc wrote for x86-64 (AT&T syntax) and writes the assembly
# with code that counts how often each basic block runs, and records each access (counters/watch/ring.h): not the stack, not
# constants beside the code, and no elements one by one. The code changes no register and no flag. Behind the assembly stand
#
#     lift_recorder      where records go (recorder.h)
#     lift_block_count   how often each block ran
#     lift_block_work    operations and multiply-adds of one run of each block
#     lift_n_blocks      how many blocks there are
#
# A label begins a block, and a jump ends a block. Ends with a message and status 1 at an access of unknown width.

BEGIN {
    KEPT_RAX = ".Llift_saved(%rip)"
    KEPT_RCX = ".Llift_saved+8(%rip)"
    NEXT = ".Llift_recorder(%rip)"
}

function begin_block(   at) {
    at = ".Llift_counts+" 8 * n_blocks++ "(%rip)"
    printf "\tmovq\t%%rax, %s\n\tmovq\t%s, %%rax\n\tleaq\t1(%%rax), %%rax\n", KEPT_RAX, at
    printf "\tmovq\t%%rax, %s\n\tmovq\t%s, %%rax\n", at, KEPT_RAX
    is_open = 1
}

# Adds an instruction to the work of the block. A gather loads its elements one by one.
function add_work(name, text,   lanes) {
    lanes = vector_bytes(text) / 4
    operations[n_blocks - 1] += name ~ /^vp?gather/ && lanes ? lanes : 1
    macs[n_blocks - 1] += name ~ /^(vfn?madd|vfmsub|vmul|mulss|mulps)/
}

function record(name, text,   n, i, at, bytes, kind) {
    n = split_operands(text)
    for (i = 1; i <= n && operand[i] !~ /\(/; i++)
        ;
    at = operand[i]
    if (i > n || at ~ /\(%r[is]p|mm/ || name ~ /^(lea|nop|j|call|push|pop)/)
        return
    bytes = width_of(name, text, n)
    if (!bytes) {
        print "its machine code cannot be watched: " name " " text >"/dev/stderr"
        failed = 1
        exit 1
    }
    sub(/\{.*/, "", at)
    kind = kind_of(name, n)
    if (kind % 2 || kind == 4)
        print_record(at, (bytes - 1) * 2, 0, 8)
    if (int(kind / 2) % 2)
        print_record(at, (bytes - 1) * 2 + 1, 0, 8)
}

/^[^ \t#].*:/ {
    is_open = 0
}

/^\t[A-Za-z]/ {
    line = substr($0, 2)
    sub(/#.*/, "", line)
    name = line
    sub(/[ \t].*/, "", name)
    text = substr(line, length(name) + 1)
    gsub(/[ \t]+/, "", text)
    if (!is_open)
        begin_block()
    add_work(name, text)
    record(name, text)
}

{
    print
}

/^\t(j|ret)/ {
    is_open = 0
}

END {
    if (failed)
        exit 1
    print "\t.data\n\t.p2align 3\n.Llift_saved:\n\t.zero 16\n.Llift_recorder:\n\t.zero 32\n.Llift_counts:"
    printf "\t.zero %d\nlift_n_blocks:\n\t.quad %d\nlift_block_work:\n", 8 * n_blocks + 8, n_blocks
    for (i = 0; i < n_blocks; i++)
        printf "\t.quad %d, %d\n", operations[i], macs[i]
    print "\t.globl lift_recorder, lift_block_count, lift_n_blocks, lift_block_work"
    print "\t.set lift_recorder, .Llift_recorder\n\t.set lift_block_count, .Llift_counts"
}
