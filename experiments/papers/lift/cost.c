#include "experiments/papers/lift/cost.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/lift/recorder.h"
#include "sim/base/record.h"

enum { MOST_OPERANDS = 4 };

/* ---- instructions ---- */

struct instruction {
    const char *name;
    size_t name_bytes;
    char operand[MOST_OPERANDS][64];
    size_t n_operands;
    bool is_load, is_store;
};

static bool begins(const struct instruction *i, const char *text)
{
    return !strncmp(i->name, text, strlen(text));
}

static bool is_memory(const char *operand)
{
    return strchr(operand, '(') || (isdigit((unsigned char)*operand) && !strchr(operand, '$'));
}

/* Takes operands apart: at commas outside of parentheses. */
static void split_operands(struct instruction *i, const char *text, size_t bytes)
{
    size_t depth = 0, n = 0;

    i->n_operands = 0;
    for (size_t k = 0; k <= bytes && i->n_operands < MOST_OPERANDS; k++) {
        const char c = k < bytes ? text[k] : ',';

        depth += c == '(';
        depth -= c == ')' && depth;
        if (c == ',' && !depth) {
            i->operand[i->n_operands][n] = '\0';
            i->n_operands += n > 0;
            n = 0;
        } else if (!isspace((unsigned char)c) && n + 1 < sizeof i->operand[0]) {
            i->operand[i->n_operands][n++] = c;
        }
    }
}

static bool only_reads(const struct instruction *i)
{
    return begins(i, "cmp") || begins(i, "test") || begins(i, "vucomis") || begins(i, "ucomis") ||
           begins(i, "vcomis") || begins(i, "vptest") || begins(i, "vtest") || begins(i, "bt") || begins(i, "prefetch");
}

static bool is_move(const struct instruction *i)
{
    return begins(i, "mov") || begins(i, "vmov") || begins(i, "vbroadcast") || begins(i, "vextract") ||
           begins(i, "lea") || begins(i, "vpextr") || begins(i, "vpmov") || begins(i, "set");
}

/* Tells whether an instruction loads and stores. The last operand is the result. */
static void find_memory(struct instruction *i)
{
    const size_t last = i->n_operands - 1;

    i->is_load = i->is_store = false;
    if (!i->n_operands || begins(i, "lea") || begins(i, "nop") || begins(i, "j") || begins(i, "call"))
        return;
    for (size_t k = 0; k < last; k++)
        i->is_load |= is_memory(i->operand[k]);
    if (is_memory(i->operand[last])) {
        i->is_store = !only_reads(i);
        i->is_load |= only_reads(i) || !is_move(i);
    }
    if (begins(i, "push"))
        i->is_store = true;
    if (begins(i, "pop"))
        i->is_load = true;
}

static void read_instruction(struct instruction *i, const char *line, size_t bytes)
{
    const char *end = memchr(line, '#', bytes);

    bytes = end ? (size_t)(end - line) : bytes;
    i->name = line;
    i->name_bytes = 0;
    while (i->name_bytes < bytes && !isspace((unsigned char)line[i->name_bytes]))
        i->name_bytes++;
    split_operands(i, line + i->name_bytes, bytes - i->name_bytes);
    find_memory(i);
}

/* Returns the lanes of 32 bits of the widest register among the operands. */
static double lanes_of(const struct instruction *i)
{
    double lanes = 1;

    for (size_t k = 0; k < i->n_operands; k++) {
        if (strstr(i->operand[k], "%zmm"))
            return 16;
        if (strstr(i->operand[k], "%ymm"))
            lanes = 8;
        else if (strstr(i->operand[k], "%xmm") && lanes < 4)
            lanes = 4;
    }
    return lanes;
}

static bool multiplies(const struct instruction *i)
{
    return begins(i, "vfmadd") || begins(i, "vfnmadd") || begins(i, "vfmsub") || begins(i, "vfnmsub") ||
           begins(i, "vmul") || begins(i, "mulss") || begins(i, "mulps");
}

/* Adds an instruction to the work of a block. A gather loads its elements one by one. */
static void add_work(struct sim_work *w, const struct instruction *i)
{
    w->operations += begins(i, "vgather") || begins(i, "vpgather") ? lanes_of(i) : 1;
    w->macs += multiplies(i);
}

/* ---- recording ---- */

/* The bytes of memory that instructions with these names touch; further instructions: as wide as their registers. */
static const struct {
    const char *begins;
    unsigned bytes;
} widths[] = { { "vbroadcastss", 4 }, { "vbroadcastsd", 8 }, { "vbroadcastf128", 16 }, { "vmovss", 4 },
               { "vmovsd", 8 },       { "vmovddup", 8 },     { "vmovlp", 8 },          { "vmovhp", 8 },
               { "vmovq", 8 },        { "vmovd", 4 },        { "vinsertps", 4 },       { "vinsert", 16 },
               { "vextractps", 4 },   { "vextract", 16 },    { "vpinsrd", 4 },         { "vpinsrq", 8 },
               { "vpextrd", 4 },      { "vpextrq", 8 } };

static unsigned width_of(const struct instruction *i)
{
    const bool is_scalar = i->name_bytes > 2 && !strncmp(i->name + i->name_bytes - 2, "ss", 2);

    for (size_t k = 0; k < sizeof widths / sizeof widths[0]; k++) {
        if (begins(i, widths[k].begins))
            return widths[k].bytes;
    }
    if (is_scalar || strstr(i->operand[0], "{1to"))
        return sizeof(float);
    if (*i->name == 'v' || strstr(i->name, "ps") == i->name + i->name_bytes - 2)
        return (unsigned)lanes_of(i) * (unsigned)sizeof(float);
    return i->name[i->name_bytes - 1] == 'q' ? 8 : i->name[i->name_bytes - 1] == 'l' ? 4 : 1;
}

/* Prints code that records an access (sim/base/record.h) in lift_recorder, and changes no register and no flag. */
static void print_record(FILE *out, const char *address, unsigned bytes, enum sim_kind kind)
{
    fprintf(out, "\tmovq\t%%rax, .Llift_saved(%%rip)\n\tmovq\t%%rcx, .Llift_saved+8(%%rip)\n\tleaq\t%s, %%rax\n",
            address);
    fprintf(out, "\tmovq\t.Llift_recorder(%%rip), %%rcx\n\tmovq\t%%rax, 2(%%rcx)\n\tmovw\t$%u, (%%rcx)\n",
            (unsigned)sim_record(0, bytes, kind, 0, 0));
    fprintf(out, "\tleaq\t8(%%rcx), %%rcx\n\tmovq\t%%rcx, .Llift_recorder(%%rip)\n"
                 "\tmovq\t.Llift_saved+8(%%rip), %%rcx\n\tmovq\t.Llift_saved(%%rip), %%rax\n");
}

/*
 * Records the accesses of an instruction: not to the stack, not to constants beside the code, and no elements one by
 * one.
 */
static void record(FILE *out, const struct instruction *i)
{
    for (size_t k = 0; k < i->n_operands && (i->is_load || i->is_store); k++) {
        char address[64];

        if (!strchr(i->operand[k], '(') || strstr(i->operand[k], "(%rsp") || strstr(i->operand[k], "(%rip") ||
            strstr(i->operand[k], "mm") || begins(i, "push") || begins(i, "pop"))
            continue;
        snprintf(address, sizeof address, "%.*s", (int)strcspn(i->operand[k], "{"), i->operand[k]);
        if (i->is_load)
            print_record(out, address, width_of(i), SIM_LOAD);
        if (i->is_store)
            print_record(out, address, width_of(i), SIM_STORE);
    }
}

/* ---- blocks ---- */

struct reading {
    struct lift_code *code;
    FILE *out;
    bool is_open; /* the last block */
};

/* Begins a block: the code that counts the block comes first. */
static void begin_block(struct reading *r)
{
    const size_t i = r->code->n;

    exp_append(&r->code->block, &r->code->n, sizeof *r->code->block);
    r->is_open = true;
    fprintf(r->out,
            "\tmovq\t%%rax, .Llift_saved(%%rip)\n\tmovq\t.Llift_counts+%zu(%%rip), %%rax\n\tleaq\t1(%%rax), %%rax\n"
            "\tmovq\t%%rax, .Llift_counts+%zu(%%rip)\n\tmovq\t.Llift_saved(%%rip), %%rax\n",
            8 * i, 8 * i);
}

static void take_instruction(struct reading *r, const char *line, size_t bytes)
{
    struct instruction i;

    if (!r->is_open)
        begin_block(r);
    read_instruction(&i, line, bytes);
    add_work(&r->code->block[r->code->n - 1], &i);
    record(r->out, &i);
}

/* Takes a line. A label begins a block, a jump ends a block; a directive is no code. */
static void take_line(struct reading *r, const char *line, size_t bytes)
{
    const char *colon = memchr(line, ':', bytes);
    const bool is_label = bytes && !isspace((unsigned char)*line) && *line != '#' && colon;
    const bool is_code = bytes > 1 && *line == '\t' && isalpha((unsigned char)line[1]);

    if (is_label)
        r->is_open = false;
    if (is_code)
        take_instruction(r, line + 1, bytes - 1);
    fprintf(r->out, "%.*s\n", (int)bytes, line);
    if (is_code && (line[1] == 'j' || !strncmp(line + 1, "ret", 3)))
        r->is_open = false;
}

int lift_code_read(struct lift_code *code, const char *assembly, struct exp_why *why)
{
    struct reading r = { .code = code };
    size_t bytes;

    assert(assembly);
    *code = (struct lift_code){ 0 };
#ifdef __x86_64__
    (void)why;
#else
    return exp_fail(why, -ENOTSUP, "what code costs is known of x86-64 only");
#endif
    r.out = exp_memory_open(&code->counted, &bytes);
    for (const char *line = assembly; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n'))
        take_line(&r, line, strcspn(line, "\n"));
    fprintf(r.out,
            "\t.bss\n\t.p2align 3\n.Llift_saved:\n\t.zero 16\n.Llift_recorder:\n\t.zero %zu\n.Llift_counts:\n"
            "\t.zero %zu\n\t.globl lift_recorder, " LIFT_BLOCK_COUNTS "\n\t.set lift_recorder, .Llift_recorder\n"
            "\t.set " LIFT_BLOCK_COUNTS ", .Llift_counts\n",
            sizeof(struct lift_recorder), 8 * code->n + 8);
    fclose(r.out);
    return 0;
}

void lift_code_add(const struct lift_code *code, const uint64_t *count, struct sim_work *w)
{
    assert(w && (count || !code->n));
    for (size_t i = 0; i < code->n; i++) {
        w->operations += (double)count[i] * code->block[i].operations;
        w->macs += (double)count[i] * code->block[i].macs;
    }
}

void lift_code_release(struct lift_code *code)
{
    free(code->counted);
    free(code->block);
    *code = (struct lift_code){ 0 };
}
