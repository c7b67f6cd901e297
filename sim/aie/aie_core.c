#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/aie/aie.h"

__extension__ typedef __int128 wide;

enum { RING = AIE_MOST_LATENCY + 1, MOST_CHECKS = 10 };

static const uint32_t UNDEFINED = UINT32_MAX; /* the tag of a register never written */

/*
 * The multiply of a bundle, decoded once: the pairs of elements of the register file, and the registers read. The
 * multiply is plain, and faster, if lanes have neighbouring elements of x and all lanes have the same z.
 */
struct decoded {
    uint8_t x[32], z[32]; /* [column][lane], in elements of the register file */
    bool is_plain;
    unsigned n_checks;
    struct {
        uint8_t v;
        uint32_t tag;
    } check[MOST_CHECKS];
};

struct arriving_load {
    uint8_t n_v, v; /* 0: none */
    uint32_t tag;
    uint8_t data[32];
};

struct arriving_product {
    bool is_there, is_mul;
    uint8_t kind, acc;
    uint32_t tag, acc_tag;
    size_t bundle;
    union {
        int64_t narrow[AIE_LANES];
        wide wide[8];
    } lane;
};

struct leaving_store {
    bool is_there;
    uint32_t address;
    size_t bundle;
    uint8_t data[32];
};

struct accumulator {
    bool is_wide;
    uint32_t tag;
    uint64_t last_issue; /* of a multiply, + 1; 0: none */
    union {
        int64_t narrow[AIE_LANES];
        wide wide[8];
    } lane;
};

struct aie_core {
    struct aie_params params;
    const struct aie_program *program;
    struct decoded *decoded;
    uint8_t *memory;

    union {
        uint8_t byte[AIE_N_V * AIE_V_BYTES];
        int16_t half[AIE_N_V * AIE_V_BYTES / 2];
        int32_t word[AIE_N_V * AIE_V_BYTES / 4];
    } v;
    uint32_t v_tag[AIE_N_V];
    struct accumulator acc[AIE_N_ACC];
    uint32_t pointer[AIE_N_POINTERS], scalar[AIE_N_SCALARS];
    size_t pc, loop_start, loop_end;
    uint32_t loop_count;
    unsigned branch_in; /* bundles until a branch is taken, + 1; 0: there is none */
    size_t branch_to;
    bool is_halted;

    uint64_t now; /* cycles without stalls */
    struct arriving_load load[RING][2];
    struct arriving_product product[RING];
    struct leaving_store store[RING];
    struct aie_counts counts;
    struct aie_stop *stop;
};

static int fail(struct aie_core *c, int err, uint32_t address, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static int fail(struct aie_core *c, int err, uint32_t address, const char *format, ...)
{
    va_list args;
    int n;

    c->stop->bundle = c->pc;
    c->stop->cycle = c->now + c->counts.stalls;
    c->stop->address = address;
    n = snprintf(c->stop->text, sizeof c->stop->text, "bundle %zu, cycle %llu, address 0x%x: ", c->pc,
                 (unsigned long long)c->stop->cycle, (unsigned)address);
    va_start(args, format);
    vsnprintf(c->stop->text + n, sizeof c->stop->text - (size_t)n, format, args);
    va_end(args);
    return err;
}

/* ---- checks of a program before its run ---- */

static int check_address(struct aie_core *c, const struct aie_address *at)
{
    if (at->pointer >= AIE_N_POINTERS)
        return fail(c, -EINVAL, 0, "there is no pointer p%u", at->pointer);
    if (at->offset % AIE_V_BYTES || at->post % AIE_V_BYTES)
        return fail(c, -EINVAL, 0, "offset %d or increment %d is not aligned to 128 bits", at->offset, at->post);
    return 0;
}

static int check_load(struct aie_core *c, const struct aie_load *l)
{
    if (!l->bytes)
        return 0;
    if ((l->bytes != 16 && l->bytes != 32) || l->reg >= AIE_N_REGISTERS ||
        aie_registers[l->reg].n_v * AIE_V_BYTES != l->bytes)
        return fail(c, -EINVAL, 0, "a load of %u bytes does not fit its register", l->bytes);
    return check_address(c, &l->at);
}

static int check_store(struct aie_core *c, const struct aie_store *s)
{
    if (!s->bits)
        return 0;
    if ((s->bits != 16 && s->bits != 32) || s->acc >= AIE_N_ACC || s->shift > 63)
        return fail(c, -EINVAL, 0, "there is no such store: %u bits of bm%u, shifted by %u", s->bits, s->acc, s->shift);
    return check_address(c, &s->at);
}

static int check_scalar(struct aie_core *c, const struct aie_scalar *s)
{
    const bool jumps = s->kind == AIE_LOOP || s->kind == AIE_JMP || s->kind == AIE_JNZD || s->kind == AIE_JZD;

    if (s->kind > AIE_HALT || (jumps && s->target >= c->program->n) ||
        (s->kind == AIE_LOOP && (s->end < s->target || s->end >= c->program->n || s->value < 1)))
        return fail(c, -EINVAL, 0, "there is no such scalar instruction, or its target is not in the program");
    if ((s->kind == AIE_MOVP || s->kind == AIE_PADD) && s->reg >= AIE_N_POINTERS)
        return fail(c, -EINVAL, 0, "there is no pointer p%u", s->reg);
    if (s->reg >= AIE_N_SCALARS)
        return fail(c, -EINVAL, 0, "there is no register r%u", s->reg);
    return 0;
}

static int check_move(struct aie_core *c, const struct aie_move *m)
{
    if (!m->bytes)
        return 0;
    if (m->to >= AIE_N_REGISTERS || m->from >= AIE_N_REGISTERS || m->bytes > 64 ||
        aie_registers[m->to].n_v * AIE_V_BYTES != m->bytes || aie_registers[m->from].n_v * AIE_V_BYTES != m->bytes)
        return fail(c, -EINVAL, 0, "a move of %u bytes between such registers does not exist", m->bytes);
    return 0;
}

static void add_check(struct decoded *d, uint8_t v, uint32_t tag)
{
    for (unsigned i = 0; i < d->n_checks; i++) {
        if (d->check[i].v == v)
            return;
    }
    d->check[d->n_checks].v = v;
    d->check[d->n_checks++].tag = tag;
}

/* Works out where the elements of an operand lie in the register file. */
static void decode_operand(struct decoded *d, uint8_t *index, const struct aie_mac *m, bool x)
{
    const struct aie_register *r = &aie_registers[x ? m->x : m->z];
    const unsigned bytes = aie_mac_element_bytes(m->kind), per_v = AIE_V_BYTES / bytes;
    const unsigned lanes = aie_mac_lanes(m->kind), columns = aie_mac_columns(m->kind);

    for (unsigned i = 0; i < lanes * columns; i++) {
        const unsigned e = aie_element(x ? &m->px : &m->pz, m->kind, x, i % lanes, i / lanes, r->n_v * per_v);

        index[i] = (uint8_t)(r->v[e / per_v] * per_v + e % per_v);
        add_check(d, r->v[e / per_v], x ? m->x_tag[e / per_v] : m->z_tag[e / per_v]);
    }
}

static int decode_mac(struct aie_core *c, struct decoded *d, const struct aie_mac *m)
{
    if (m->kind == AIE_MAC_NONE)
        return 0;
    if (m->kind > AIE_MAC_16X8 || m->acc >= AIE_N_ACC || m->x < AIE_W || m->x >= AIE_N_REGISTERS || m->z < AIE_W ||
        m->z >= AIE_X)
        return fail(c, -EINVAL, 0, "there is no such multiply: x has 256 to 1,024 bits, z 256");
    if (m->kind != AIE_MAC_32 && (m->px.start % 2 || m->px.step % 2))
        return fail(c, -EINVAL, 0, "start %u or step %u of x is not a multiple of 32 bits", m->px.start, m->px.step);
    decode_operand(d, d->x, m, true);
    decode_operand(d, d->z, m, false);
    d->is_plain = m->kind == AIE_MAC_16;
    for (unsigned i = 0; i < 32; i++)
        d->is_plain &= d->x[i] == d->x[i & 16] + (i & 15) && d->z[i] == d->z[i & 16];
    return 0;
}

static int check_program(struct aie_core *c)
{
    int err = 0;

    if (!c->program->n || c->program->n > c->params.program_bundles)
        return fail(c, -EINVAL, 0, "%zu bundles do not fit the program memory of %u", c->program->n,
                    c->params.program_bundles);
    for (c->pc = 0; c->pc < c->program->n && !err; c->pc++) {
        const struct aie_bundle *b = &c->program->bundle[c->pc];

        if (b->load[0].bytes && b->load[1].bytes && c->params.load_units < 2)
            err = fail(c, -EINVAL, 0, "there is one load unit");
        err = err ? err : check_load(c, &b->load[0]);
        err = err ? err : check_load(c, &b->load[1]);
        err = err ? err : check_store(c, &b->store);
        err = err ? err : check_scalar(c, &b->scalar);
        err = err ? err : check_move(c, &b->move);
        err = err ? err : decode_mac(c, &c->decoded[c->pc], &b->mac);
    }
    return err;
}

int aie_core_new(struct aie_core **core, const struct aie_params *params, const struct aie_program *program,
                 struct aie_stop *stop)
{
    struct aie_core *c = calloc(1, sizeof *c);
    int err = -ENOMEM;

    assert(core && params && program);
    *core = NULL;
    *stop = (struct aie_stop){ 0 };
    if (!c)
        return err;
    c->params = *params;
    c->program = program;
    c->stop = stop;
    c->memory = calloc(params->memory_bytes, 1);
    c->decoded = calloc(program->n ? program->n : 1, sizeof *c->decoded);
    if (c->memory && c->decoded)
        err = check_program(c);
    if (err) {
        aie_core_free(c);
        return err;
    }
    *core = c;
    return 0;
}

void aie_core_free(struct aie_core *core)
{
    if (!core)
        return;
    free(core->memory);
    free(core->decoded);
    free(core);
}

uint8_t *aie_core_memory(struct aie_core *core)
{
    return core->memory;
}

/* ---- results that arrive in a cycle ---- */

static void take_load(struct aie_core *c, struct arriving_load *l)
{
    for (unsigned i = 0; i < l->n_v; i++) {
        memcpy(c->v.byte + (l->v + i) * AIE_V_BYTES, l->data + i * AIE_V_BYTES, AIE_V_BYTES);
        c->v_tag[l->v + i] = l->tag;
    }
    l->n_v = 0;
}

/* Wraps a sum around in 48 bits, as the accumulator does. */
static int64_t wrap_48(int64_t x)
{
    return (int64_t)((uint64_t)x << 16) >> 16;
}

static wide wrap_80(wide x)
{
    __extension__ typedef unsigned __int128 bits;

    return (wide)((bits)x << 48) >> 48;
}

/* Adds products to an accumulator, which must hold the intended result. The accumulator's reader wraps the value. */
static int take_product(struct aie_core *c, struct arriving_product *p)
{
    struct accumulator *a = &c->acc[p->acc];

    p->is_there = false;
    if (!p->is_mul && (a->tag == UNDEFINED || (p->acc_tag && a->tag != p->acc_tag)))
        return fail(c, -EPROTO, 0, "the MAC of bundle %zu adds to bm%u, which holds result %u, not %u", p->bundle,
                    p->acc, (unsigned)a->tag, (unsigned)p->acc_tag);
    a->is_wide = p->kind == AIE_MAC_32;
    a->tag = p->tag;
    if (a->is_wide) {
        for (unsigned l = 0; l < 8; l++)
            a->lane.wide[l] = (p->is_mul ? 0 : a->lane.wide[l]) + p->lane.wide[l];
    } else if (p->is_mul) {
        memcpy(a->lane.narrow, p->lane.narrow, sizeof a->lane.narrow);
    } else {
        for (unsigned l = 0; l < AIE_LANES; l++)
            a->lane.narrow[l] = (int64_t)((uint64_t)a->lane.narrow[l] + (uint64_t)p->lane.narrow[l]);
    }
    return 0;
}

uint32_t aie_banks(uint32_t address, unsigned bytes)
{
    const unsigned pair = address >> 13 & 15;

    return (bytes > AIE_V_BYTES ? 3U : 1U << (address >> 4 & 1)) << 2 * pair;
}

/* Notes that banks are touched in this cycle; a second access to a bank costs a cycle, or ends the run. */
static int touch(struct aie_core *c, uint32_t *touched, uint32_t address, unsigned bytes)
{
    const uint32_t banks = aie_banks(address, bytes);

    if (*touched & banks) {
        if (!c->params.conflicts_stall)
            return fail(c, -EBUSY, address, "two accesses to a bank in one cycle");
        c->counts.stalls++;
    }
    *touched |= banks;
    return 0;
}

static int arrive(struct aie_core *c, uint32_t *touched)
{
    const size_t slot = c->now % RING;
    struct leaving_store *s = &c->store[slot];
    int err = 0;

    for (unsigned i = 0; i < 2; i++) {
        if (c->load[slot][i].n_v)
            take_load(c, &c->load[slot][i]);
    }
    if (c->product[slot].is_there)
        err = take_product(c, &c->product[slot]);
    if (s->is_there) {
        s->is_there = false;
        memcpy(c->memory + s->address, s->data, sizeof s->data);
        err = err ? err : touch(c, touched, s->address, sizeof s->data);
    }
    return err;
}

/* ---- issue ---- */

static int resolve(struct aie_core *c, const struct aie_address *at, unsigned bytes, uint32_t *address)
{
    const int64_t a = (int64_t)(int32_t)c->pointer[at->pointer] + at->offset;

    *address = (uint32_t)a;
    if (a < 0 || a + bytes > c->params.memory_bytes)
        return fail(c, -EFAULT, *address, "an access of %u bytes is outside of the memory", bytes);
    if (a % AIE_V_BYTES)
        return fail(c, -EINVAL, *address, "an access is not aligned to 128 bits");
    return 0;
}

static int issue_load(struct aie_core *c, const struct aie_load *l, unsigned port, uint32_t *touched)
{
    struct arriving_load *to = &c->load[(c->now + c->params.load_latency) % RING][port];
    uint32_t address;
    int err = resolve(c, &l->at, l->bytes, &address);

    err = err ? err : touch(c, touched, address, l->bytes);
    if (err)
        return err;
    to->n_v = (uint8_t)(l->bytes / AIE_V_BYTES);
    to->v = aie_registers[l->reg].v[0];
    to->tag = l->tag;
    for (unsigned i = 0; i < to->n_v; i++)
        memcpy(to->data + i * AIE_V_BYTES, c->memory + address + i * AIE_V_BYTES, AIE_V_BYTES);
    c->counts.loads++;
    c->counts.load_bytes += l->bytes;
    return 0;
}

static int64_t saturate(wide x, unsigned bits)
{
    const int64_t most = ((int64_t)1 << (bits - 1)) - 1;

    return x > most ? most : x < -most - 1 ? -most - 1 : (int64_t)x;
}

static void put_lane(uint8_t *data, unsigned lane, unsigned bits, int64_t value)
{
    const int16_t narrow = (int16_t)value;
    const int32_t word = (int32_t)value;

    if (bits == 16)
        memcpy(data + 2 * lane, &narrow, sizeof narrow);
    else
        memcpy(data + 4 * lane, &word, sizeof word);
}

/* A store of 16 bits takes 16 lanes, a store of 32 bits takes 8: a wide accumulator has no more. */
static int issue_store(struct aie_core *c, const struct aie_store *s)
{
    struct leaving_store *to = &c->store[(c->now + c->params.srs_latency) % RING];
    const struct accumulator *a = &c->acc[s->acc];
    const unsigned lanes = a->is_wide ? 8u : 256u / s->bits;
    int err;

    if (a->tag == UNDEFINED || (s->tag && a->tag != s->tag))
        return fail(c, -EPROTO, 0, "a store reads bm%u, which holds result %u, not %u: too early, or too late", s->acc,
                    (unsigned)a->tag, (unsigned)s->tag);
    err = resolve(c, &s->at, sizeof to->data, &to->address);
    if (err)
        return err;
    memset(to->data, 0, sizeof to->data);
    for (unsigned l = 0; l < lanes; l++) {
        const wide sum = a->is_wide ? wrap_80(a->lane.wide[l]) : wrap_48(a->lane.narrow[l]);

        put_lane(to->data, l, s->bits, saturate(sum >> s->shift, s->bits));
    }
    to->is_there = true;
    to->bundle = c->pc;
    c->counts.stores++;
    c->counts.store_bytes += sizeof to->data;
    return 0;
}

static int check_operands(struct aie_core *c, const struct decoded *d)
{
    for (unsigned i = 0; i < d->n_checks; i++) {
        const uint8_t v = d->check[i].v;

        if (c->v_tag[v] == UNDEFINED)
            return fail(c, -EPROTO, 0, "%s is read and was never written", aie_registers[v].name);
        if (d->check[i].tag && c->v_tag[v] != d->check[i].tag)
            return fail(c, -EPROTO, 0, "%s is read too early or too late: it holds value %u, not %u",
                        aie_registers[v].name, (unsigned)c->v_tag[v], (unsigned)d->check[i].tag);
    }
    return 0;
}

static void multiply(const struct aie_core *c, const struct decoded *d, struct arriving_product *p)
{
    const int16_t *half = c->v.half;

    if (p->kind == AIE_MAC_32) {
        for (unsigned l = 0; l < 8; l++)
            p->lane.wide[l] = (wide)((int64_t)c->v.word[d->x[l]] * c->v.word[d->z[l]]);
    } else if (d->is_plain) {
        const int16_t *first = half + d->x[0], *second = half + d->x[16], z[2] = { half[d->z[0]], half[d->z[16]] };

        for (unsigned l = 0; l < 16; l++)
            p->lane.narrow[l] = (int64_t)(first[l] * z[0]) + second[l] * z[1];
    } else if (p->kind == AIE_MAC_16) {
        for (unsigned l = 0; l < 16; l++)
            p->lane.narrow[l] = (int64_t)(half[d->x[l]] * half[d->z[l]]) + half[d->x[16 + l]] * half[d->z[16 + l]];
    } else {
        for (unsigned l = 0; l < 16; l++)
            p->lane.narrow[l] = 0;
        for (unsigned i = 0; i < 32; i++)
            p->lane.narrow[i % 8] += half[d->x[i]] * half[d->z[i]];
    }
}

static int issue_mac(struct aie_core *c, const struct aie_mac *m)
{
    struct arriving_product *p = &c->product[(c->now + c->params.mac_latency) % RING];
    const struct decoded *d = &c->decoded[c->pc];
    struct accumulator *a = &c->acc[m->acc];
    int err = check_operands(c, d);

    if (err)
        return err;
    if (!m->is_mul && a->last_issue && c->now - (a->last_issue - 1) < c->params.recurrence)
        return fail(c, -EPROTO, 0, "a MAC on bm%u follows the one before by less than %u cycles", m->acc,
                    c->params.recurrence);
    a->last_issue = c->now + 1;
    p->is_there = true;
    p->is_mul = m->is_mul;
    p->kind = m->kind;
    p->acc = m->acc;
    p->tag = m->tag;
    p->acc_tag = m->acc_tag;
    p->bundle = c->pc;
    multiply(c, d, p);
    c->counts.macs++;
    return 0;
}

/* A move's result arrives in the next cycle: the result is written after all reads of this cycle. */
static int move(struct aie_core *c, const struct aie_move *m)
{
    const struct aie_register *to = &aie_registers[m->to], *from = &aie_registers[m->from];
    uint8_t data[4][AIE_V_BYTES];

    for (unsigned i = 0; i < from->n_v && i < 4; i++) {
        if (c->v_tag[from->v[i]] == UNDEFINED)
            return fail(c, -EPROTO, 0, "%s is moved and was never written", aie_registers[from->v[i]].name);
        memcpy(data[i], c->v.byte + from->v[i] * AIE_V_BYTES, AIE_V_BYTES);
    }
    for (unsigned i = 0; i < to->n_v && i < 4; i++) {
        memcpy(c->v.byte + to->v[i] * AIE_V_BYTES, data[i], AIE_V_BYTES);
        c->v_tag[to->v[i]] = m->tag;
    }
    return 0;
}

static void branch(struct aie_core *c, size_t to)
{
    c->branch_in = c->params.branch_delay + 1;
    c->branch_to = to;
}

static void do_scalar(struct aie_core *c, const struct aie_scalar *s)
{
    switch (s->kind) {
    case AIE_MOVP:
        c->pointer[s->reg] = (uint32_t)s->value;
        break;
    case AIE_PADD:
        c->pointer[s->reg] += (uint32_t)s->value;
        break;
    case AIE_MOVI:
        c->scalar[s->reg] = (uint32_t)s->value;
        break;
    case AIE_LOOP:
        c->loop_start = s->target;
        c->loop_end = s->end;
        c->loop_count = (uint32_t)s->value;
        break;
    case AIE_JMP:
        branch(c, s->target);
        break;
    case AIE_JNZD:
    case AIE_JZD:
        c->scalar[s->reg]--;
        if (!c->scalar[s->reg] == (s->kind == AIE_JZD))
            branch(c, s->target);
        break;
    case AIE_HALT:
        c->is_halted = true;
        break;
    default:
        break;
    }
}

static void add_posts(struct aie_core *c, const struct aie_bundle *b)
{
    for (unsigned i = 0; i < 2; i++) {
        if (b->load[i].bytes)
            c->pointer[b->load[i].at.pointer] += (uint32_t)b->load[i].at.post;
    }
    if (b->store.bits)
        c->pointer[b->store.at.pointer] += (uint32_t)b->store.at.post;
}

static void go_on(struct aie_core *c)
{
    if (c->branch_in && !--c->branch_in) {
        c->pc = c->branch_to;
    } else if (c->pc == c->loop_end && c->loop_count > 1) {
        c->loop_count--;
        c->pc = c->loop_start;
    } else {
        c->pc++;
    }
}

static int issue(struct aie_core *c, const struct aie_bundle *b, uint32_t *touched)
{
    int err = 0;

    if (b->mac.kind)
        err = issue_mac(c, &b->mac);
    for (unsigned i = 0; i < 2 && !err; i++) {
        if (b->load[i].bytes)
            err = issue_load(c, &b->load[i], i, touched);
    }
    if (b->store.bits && !err)
        err = issue_store(c, &b->store);
    if (b->move.bytes && !err)
        err = move(c, &b->move);
    if (b->scalar.kind && !err)
        do_scalar(c, &b->scalar);
    add_posts(c, b);
    return err;
}

static void reset(struct aie_core *c)
{
    memset(c->load, 0, sizeof c->load);
    memset(c->product, 0, sizeof c->product);
    memset(c->store, 0, sizeof c->store);
    memset(c->acc, 0, sizeof c->acc);
    memset(c->v_tag, 0xff, sizeof c->v_tag);
    memset(c->pointer, 0, sizeof c->pointer);
    memset(c->scalar, 0, sizeof c->scalar);
    for (unsigned i = 0; i < AIE_N_ACC; i++)
        c->acc[i].tag = UNDEFINED;
    c->pc = c->loop_start = c->branch_to = 0;
    c->loop_end = SIZE_MAX;
    c->loop_count = c->branch_in = 0;
    c->is_halted = false;
    c->now = 0;
    c->counts = (struct aie_counts){ 0 };
}

/* Completes the instructions in flight after the last bundle. */
static int drain(struct aie_core *c)
{
    int err = 0;

    for (unsigned i = 0; i < RING && !err; i++, c->now++) {
        uint32_t touched = 0;

        err = arrive(c, &touched);
    }
    return err;
}

int aie_core_run(struct aie_core *core, uint64_t most_cycles, struct aie_counts *counts, struct aie_stop *stop)
{
    struct aie_core *c = core;
    int err = 0;

    c->stop = stop;
    *stop = (struct aie_stop){ 0 };
    reset(c);
    while (!c->is_halted && !err) {
        uint32_t touched = 0;

        if (c->now >= most_cycles)
            err = fail(c, -ELOOP, 0, "it does not end");
        else if (c->pc >= c->program->n)
            err = fail(c, -EFAULT, 0, "it runs over its end");
        err = err ? err : arrive(c, &touched);
        err = err ? err : issue(c, &c->program->bundle[c->pc], &touched);
        if (err)
            break;
        go_on(c);
        c->now++;
    }
    c->counts.bundles = c->now;
    err = err ? err : drain(c);
    c->counts.cycles = c->counts.bundles + c->counts.stalls;
    *counts = c->counts;
    return err;
}
