#include "experiments/papers/lift/cost.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/lift/recorder.h"
#include "sim/base/record.h"

enum { PASSES = 8, MOST_PLACES = 512, MOST_OPERANDS = 4, CALL_CYCLES = 20 };

/* ---- the core ---- */

struct lift_core lift_core_of(const struct sim_machine *m)
{
    const struct sim_issue *i = &m->issue;
    const double mac = i->mac_instructions_per_cycle > 0 ? i->mac_instructions_per_cycle : 2;
    const double loads = i->loads_per_cycle > 0 ? i->loads_per_cycle : 2;
    const double stores = i->stores_per_cycle > 0 ? i->stores_per_cycle : 1;
    const double latency = m->level[0].latency_cycles > 0 ? m->level[0].latency_cycles : 4;
    const bool is_intel = !strncmp(m->description, "Intel", strlen("Intel"));

    return (struct lift_core){ .per_cycle = { [LIFT_MULTIPLIES] = mac,
                                              [LIFT_ADDS] = 2,
                                              [LIFT_SHUFFLES] = 2,
                                              [LIFT_LOADS] = loads,
                                              [LIFT_STORES] = stores,
                                              [LIFT_SCALARS] = 4,
                                              [LIFT_BRANCHES] = 1,
                                              [LIFT_ISSUES] = 6 },
                               .gather_shuffles = is_intel ? 0 : 2,
                               .window = is_intel ? 512 : 256,
                               .load_cycles = latency,
                               .vector_load_cycles = latency + 3,
                               .forward_cycles = latency + 4 };
}

/* ---- instructions ---- */

/*
 * Says what an instruction does whose name begins so: operations, of which unit, and cycles until its result is
 * there.
 */
struct kind {
    const char *begins;
    enum lift_unit unit;
    double operations, cycles;
};

/* Of several that fit, the first. Numbers of a Zen 3. */
static const struct kind kinds[] = {
    { "vfmadd", LIFT_MULTIPLIES, 1, 4 },
    { "vfnmadd", LIFT_MULTIPLIES, 1, 4 },
    { "vfmsub", LIFT_MULTIPLIES, 1, 4 },
    { "vfnmsub", LIFT_MULTIPLIES, 1, 4 },
    { "vmul", LIFT_MULTIPLIES, 1, 3 },
    { "mulss", LIFT_MULTIPLIES, 1, 3 },
    { "mulps", LIFT_MULTIPLIES, 1, 3 },
    { "vdiv", LIFT_MULTIPLIES, 6, 11 },
    { "vhadd", LIFT_SHUFFLES, 3, 6 },
    { "vdpps", LIFT_SHUFFLES, 7, 15 },
    { "vadd", LIFT_ADDS, 1, 3 },
    { "vsub", LIFT_ADDS, 1, 3 },
    { "addss", LIFT_ADDS, 1, 3 },
    { "addps", LIFT_ADDS, 1, 3 },
    { "vmax", LIFT_ADDS, 1, 1 },
    { "vcvt", LIFT_ADDS, 1, 3 },
    { "vgather", LIFT_SHUFFLES, 0, 20 },
    { "vpgather", LIFT_SHUFFLES, 0, 20 },
    { "vpermil", LIFT_SHUFFLES, 1, 1 },
    { "vperm", LIFT_SHUFFLES, 2, 4 },
    { "vbroadcast", LIFT_SHUFFLES, 1, 3 },
    { "vinsert", LIFT_SHUFFLES, 1, 3 },
    { "vextract", LIFT_SHUFFLES, 1, 3 },
    { "vunpck", LIFT_SHUFFLES, 1, 1 },
    { "vshuf", LIFT_SHUFFLES, 1, 1 },
    { "vblend", LIFT_SHUFFLES, 1, 1 },
    { "vmovsh", LIFT_SHUFFLES, 1, 1 },
    { "vmovsl", LIFT_SHUFFLES, 1, 1 },
    { "vmovdd", LIFT_SHUFFLES, 1, 1 },
    { "vmovhl", LIFT_SHUFFLES, 1, 1 },
    { "vmovlh", LIFT_SHUFFLES, 1, 1 },
    { "vpshuf", LIFT_SHUFFLES, 1, 1 },
    { "vpinsr", LIFT_SHUFFLES, 2, 4 },
    { "vpextr", LIFT_SHUFFLES, 2, 4 },
    { "vpmov", LIFT_SHUFFLES, 1, 3 },
    { "vpbroad", LIFT_SHUFFLES, 1, 3 },
    { "vpunpck", LIFT_SHUFFLES, 1, 1 },
    { "valign", LIFT_SHUFFLES, 1, 3 },
    { "vpmul", LIFT_MULTIPLIES, 1, 3 },
    { "vmov", LIFT_ISSUES, 0, 0 },
    { "v", LIFT_ISSUES, 0, 1 },
    { "mov", LIFT_ISSUES, 0, 0 },
    { "xorps", LIFT_ISSUES, 0, 1 },
    { "imul", LIFT_SCALARS, 1, 3 },
    { "div", LIFT_SCALARS, 8, 12 },
    { "idiv", LIFT_SCALARS, 8, 12 },
    { "j", LIFT_BRANCHES, 1, 0 },
    { "call", LIFT_BRANCHES, CALL_CYCLES, 0 },
    { "ret", LIFT_BRANCHES, 1, 0 },
    { "nop", LIFT_ISSUES, 0, 0 },
    { "", LIFT_SCALARS, 1, 1 },
};

struct instruction {
    const char *name;
    size_t name_bytes;
    const struct kind *kind;
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

/* Tells what an instruction does to memory. The last operand is where its result goes. */
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
    i->kind = kinds;
    while (strncmp(i->kind->begins, line, strlen(i->kind->begins)) != 0)
        i->kind++;
    split_operands(i, line + i->name_bytes, bytes - i->name_bytes);
    find_memory(i);
}

/* Returns the lanes of 32 bits that the widest register among the operands has. */
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

/* Adds what an instruction uses. What loads alone broadcasts for nothing; a gather loads its elements one by one. */
static void add_uses(double uses[LIFT_N_UNITS], const struct instruction *i, const struct lift_core *core)
{
    const bool is_gather = begins(i, "vgather") || begins(i, "vpgather");
    const bool is_free = i->is_load && begins(i, "vbroadcast");
    const double operations = is_free ? 0 : is_gather ? core->gather_shuffles * lanes_of(i) : i->kind->operations;

    uses[i->kind->unit] += i->kind->unit == LIFT_ISSUES ? 0 : operations;
    uses[LIFT_LOADS] += is_gather ? lanes_of(i) : i->is_load;
    uses[LIFT_STORES] += i->is_store;
    uses[LIFT_ISSUES] += fmax(operations, is_gather ? lanes_of(i) : 1);
}

/* ---- recording ---- */

/* How many bytes of memory an instruction whose name begins so touches; others: as wide as their registers. */
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

/*
 * Prints code that records an access (sim/base/record.h) where lift_recorder says, and changes no register and no
 * flag.
 */
static void print_record(FILE *out, const char *address, unsigned bytes, enum sim_kind kind)
{
    fprintf(out, "\tmovq\t%%rax, .Llift_saved(%%rip)\n\tmovq\t%%rcx, .Llift_saved+8(%%rip)\n\tleaq\t%s, %%rax\n",
            address);
    fprintf(out, "\tmovq\t.Llift_recorder(%%rip), %%rcx\n\tmovq\t%%rax, 2(%%rcx)\n\tmovw\t$%u, (%%rcx)\n",
            (unsigned)sim_record(0, bytes, kind, 0, 0));
    fprintf(out, "\tleaq\t8(%%rcx), %%rcx\n\tmovq\t%%rcx, .Llift_recorder(%%rip)\n"
                 "\tmovq\t.Llift_saved+8(%%rip), %%rcx\n\tmovq\t.Llift_saved(%%rip), %%rax\n");
}

/* Records what an instruction accesses: not the stack, not constants beside the code, and no elements one by one. */
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

/* ---- chains ---- */

/* Registers of all widths have one number; behind them come the places on the stack that a block names. */
enum { VECTOR_0, GENERAL_0 = 32, STACK_0 = 48, NOWHERE = STACK_0 + MOST_PLACES };

/* What a block's results wait for. */
struct places {
    char name[MOST_PLACES][64]; /* of the stack */
    size_t n;
    double ready[NOWHERE + 1];
};

static unsigned general_of(const char *at)
{
    static const char *const general[] = { "ax", "bx", "cx", "dx", "si", "di", "bp" };

    for (unsigned k = 0; k < sizeof general / sizeof general[0]; k++) {
        if (strstr(at, general[k]) || (at[0] == general[k][0] && at[1] == 'l' && !at[2]))
            return GENERAL_0 + k;
    }
    return *at == 'r' && isdigit((unsigned char)at[1]) ? (unsigned)(GENERAL_0 + atoi(at + 1) % 16) : NOWHERE;
}

/* Finds the number of a register, or of a place on the stack: an address without an index. */
static unsigned place_of(struct places *p, const char *operand)
{
    size_t k = 0;

    if (*operand == '%')
        return operand[2] == 'm' ? (unsigned)(VECTOR_0 + atoi(operand + 4) % 32) : general_of(operand + 1);
    if (!strstr(operand, "(%rsp)"))
        return NOWHERE;
    while (k < p->n && strcmp(p->name[k], operand) != 0)
        k++;
    if (k == MOST_PLACES)
        return NOWHERE; /* a block with so many is no loop's that waits for one */
    if (k == p->n)
        exp_say(p->name[p->n++], sizeof p->name[0], "%s", operand);
    return (unsigned)(STACK_0 + k);
}

/* An instruction's reads and its result, as places; NOWHERE: always there. */
struct step {
    unsigned read[MOST_OPERANDS + 3], address[4], result;
    size_t n_reads, n_addresses;
    double load_cycles, cycles; /* from the addresses, from all */
};

static bool is_zeroing(const struct instruction *i)
{
    const char * xor = strstr(i->name, "xor");

    return xor&&xor < i->name + i->name_bytes && i->n_operands >= 2 && !strcmp(i->operand[0], i->operand[1]);
}

/* Tells whether an instruction also reads where its result goes: those of two operands, and multiply-adds. */
static bool reads_result(const struct instruction *i)
{
    return *i->name == 'v' ? begins(i, "vfm") || begins(i, "vfn") : !is_move(i);
}

/* The registers of an address. */
static void add_address(struct step *s, struct places *p, const char *operand)
{
    for (const char *at = strchr(operand, '%'); at && s->n_addresses < 4; at = strchr(at + 1, '%')) {
        char part[16];

        exp_say(part, sizeof part, "%.*s", (int)strcspn(at, ",)"), at);
        s->address[s->n_addresses++] = place_of(p, part);
    }
}

static void add_read(struct step *s, struct places *p, const struct instruction *i, const char *operand,
                     const struct lift_core *core)
{
    if (is_memory(operand)) {
        add_address(s, p, operand);
        s->load_cycles = begins(i, "lea") ? 0 : *i->name == 'v' ? core->vector_load_cycles : core->load_cycles;
    }
    if (!begins(i, "lea"))
        s->read[s->n_reads++] = place_of(p, operand);
}

static struct step step_of(struct places *p, const struct instruction *i, const struct lift_core *core)
{
    struct step s = { .result = NOWHERE, .cycles = i->kind->cycles + (i->is_store ? core->forward_cycles : 0) };

    if (!i->n_operands || *i->name == 'j' || begins(i, "call"))
        return s;
    for (size_t k = 0; k + 1 < i->n_operands && !is_zeroing(i); k++)
        add_read(&s, p, i, i->operand[k], core);
    if (reads_result(i) && !is_zeroing(i))
        add_read(&s, p, i, i->operand[i->n_operands - 1], core);
    if (!only_reads(i))
        s.result = place_of(p, i->operand[i->n_operands - 1]);
    return s;
}

static void take_step(struct places *p, const struct step *s)
{
    double at = 0, ready = 0;

    for (size_t k = 0; k < s->n_addresses; k++)
        at = fmax(at, p->ready[s->address[k]]);
    ready = s->n_addresses ? at + s->load_cycles : 0;
    for (size_t k = 0; k < s->n_reads; k++)
        ready = fmax(ready, p->ready[s->read[k]]);
    if (s->result != NOWHERE)
        p->ready[s->result] = ready + s->cycles;
}

static double latest(const struct places *p)
{
    double latest = 0;

    for (size_t k = 0; k < NOWHERE; k++)
        latest = fmax(latest, p->ready[k]);
    return latest;
}

/* Returns by how much a pass of a loop begins later than the one before. */
static double chain_of(const struct instruction *i, size_t n, const struct lift_core *core)
{
    struct places *p = exp_new(1, sizeof *p);
    struct step *s = exp_new(n, sizeof *s);
    double half = 0, whole;

    for (size_t k = 0; k < n; k++)
        s[k] = step_of(p, &i[k], core);
    for (int pass = 0; pass < PASSES; pass++) {
        half = pass == PASSES / 2 ? latest(p) : half;
        for (size_t k = 0; k < n; k++)
            take_step(p, &s[k]);
    }
    whole = latest(p);
    free(s);
    free(p);
    return (whole - half) / (PASSES - PASSES / 2);
}

/* ---- blocks ---- */

struct reading {
    struct lift_code *code;
    const struct lift_core *core;
    FILE *out;
    struct instruction *instruction; /* [n] of the block */
    size_t n;
    char label[128]; /* at which the block begins */
    bool is_open;
};

static void end_block(struct reading *r)
{
    struct lift_block *b;
    const struct instruction *last = r->n ? &r->instruction[r->n - 1] : NULL;

    if (!r->is_open)
        return;
    b = &r->code->block[r->code->n - 1];
    for (size_t k = 0; k < r->n; k++)
        add_uses(b->uses, &r->instruction[k], r->core);
    if (last && *last->name == 'j' && last->n_operands && !strcmp(last->operand[0], r->label))
        b->chain_cycles = chain_of(r->instruction, r->n, r->core);
    for (int u = 0; u < LIFT_N_UNITS; u++)
        b->unit_cycles = fmax(b->unit_cycles, b->uses[u] / r->core->per_cycle[u]);
    b->cycles = fmax(b->unit_cycles, b->chain_cycles);
    r->is_open = false;
    r->n = 0;
}

/* Begins a block: code that counts it comes first. */
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
    struct instruction *i;

    if (!r->is_open)
        begin_block(r);
    i = exp_append(&r->instruction, &r->n, sizeof *i);
    read_instruction(i, line, bytes);
    record(r->out, i);
}

/* Takes a line. A label begins a block, a jump ends one; what a directive says is not code. */
static void take_line(struct reading *r, const char *line, size_t bytes)
{
    const char *colon = memchr(line, ':', bytes);
    const bool is_label = bytes && !isspace((unsigned char)*line) && *line != '#' && colon;
    const bool is_code = bytes > 1 && *line == '\t' && isalpha((unsigned char)line[1]);

    if (is_label) {
        end_block(r);
        exp_say(r->label, sizeof r->label, "%.*s", (int)(colon - line), line);
    }
    if (is_code)
        take_instruction(r, line + 1, bytes - 1);
    fprintf(r->out, "%.*s\n", (int)bytes, line);
    if (is_code && (line[1] == 'j' || !strncmp(line + 1, "ret", 3))) {
        end_block(r);
        r->label[0] = '\0';
    }
}

int lift_code_read(struct lift_code *code, const char *assembly, const struct lift_core *core, struct exp_why *why)
{
    struct reading r = { .code = code, .core = core };
    size_t bytes;

    *code = (struct lift_code){ 0 };
#ifdef __x86_64__
    (void)why;
#else
    return exp_fail(why, -ENOTSUP, "what code costs is known of x86-64 only");
#endif
    r.out = exp_memory_open(&code->counted, &bytes);
    for (const char *line = assembly; *line; line += strcspn(line, "\n") + (line[strcspn(line, "\n")] == '\n'))
        take_line(&r, line, strcspn(line, "\n"));
    end_block(&r);
    free(r.instruction);
    fprintf(r.out,
            "\t.bss\n\t.p2align 3\n.Llift_saved:\n\t.zero 16\n.Llift_recorder:\n\t.zero %zu\n.Llift_counts:\n"
            "\t.zero %zu\n\t.globl lift_recorder, " LIFT_BLOCK_COUNTS "\n\t.set lift_recorder, .Llift_recorder\n"
            "\t.set " LIFT_BLOCK_COUNTS ", .Llift_counts\n",
            sizeof(struct lift_recorder), 8 * code->n + 8);
    fclose(r.out);
    return 0;
}

double lift_code_cycles(const struct lift_code *code, const struct lift_core *core, const uint64_t *count, size_t n)
{
    double operations = 0, cycles = 0, beside;

    for (size_t i = 0; i < code->n; i++)
        operations += (double)count[i] * code->block[i].uses[LIFT_ISSUES];
    beside = fmax(1, core->window * (double)n / fmax(1, operations));
    for (size_t i = 0; i < code->n; i++)
        cycles += (double)count[i] * fmax(code->block[i].unit_cycles, code->block[i].chain_cycles / beside);
    return cycles;
}

void lift_code_release(struct lift_code *code)
{
    free(code->counted);
    free(code->block);
    *code = (struct lift_code){ 0 };
}
