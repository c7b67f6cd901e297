/*
 * From a schedule to bundles. A row is a run of the pipelined loop:
 *
 *     prologue    passes that begin iterations
 *     kernel      a single pass in a loop of the hardware
 *     epilogue    passes that end iterations
 *
 * Without seams, the epilogue of a row and the prologue of the next row are the same passes ("transition"), reached
 * by a jump that decides in the passes before ("decision") whether there is another row.
 *
 * Pointers stand at the first iteration of a row; the rest of an access's place is its offset: at[]
 * follows the place of each pointer, in bytes, as seen from the row. The kernel moves them on, a scalar instruction
 * moves them to the next row.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/papers/vyasa/compile/code.h"

enum { POINTER_Z = 4, POINTER_OUT, N_POINTERS, FLAT_COUNTER = 8 };

enum what { LOAD, STORE, MAC };

struct op {
    enum what what;
    size_t index;
    unsigned stage, cycle;
};

struct emitter {
    struct vyasa_code *c;
    struct op *op;
    size_t n_ops;
    long at[N_POINTERS];        /* where pointers stand */
    long move[N_POINTERS];      /* sum of the scalar instructions of this section */
    size_t move_at[N_POINTERS]; /* bundle of the scalar instruction */
    bool is_used[N_POINTERS];
    unsigned n_iterations;    /* of a row */
    enum vyasa_loop level[2]; /* outer loops, the outermost first */
    unsigned n_levels;
    bool is_flat; /* rows of the loop `flat` follow each other without seams */
    enum vyasa_loop flat;
};

/* ---- bundles and scalar instructions ---- */

static size_t here(const struct emitter *e)
{
    return e->c->program.n;
}

static struct aie_bundle *bundle(struct emitter *e, size_t i)
{
    struct aie_program *p = &e->c->program;

    while (p->n <= i)
        *(struct aie_bundle *)exp_append(&p->bundle, &p->n, sizeof *p->bundle) = (struct aie_bundle){ 0 };
    return &p->bundle[i];
}

/* Puts a scalar instruction into the first bundle from `from` on without a scalar instruction. Returns the bundle. */
static size_t put_scalar(struct emitter *e, size_t from, struct aie_scalar s)
{
    while (bundle(e, from)->scalar.kind)
        from++;
    e->c->program.bundle[from].scalar = s;
    return from;
}

static struct vyasa_section *begin(struct emitter *e, const char *name, unsigned passes)
{
    struct vyasa_section *s = &e->c->section[e->c->n_sections++];

    *s = (struct vyasa_section){ .name = name, .first = here(e), .passes = passes };
    return s;
}

static void end(struct emitter *e, struct vyasa_section *s)
{
    s->n = here(e) - s->first;
}

/* ---- tensors and pointers ---- */

static unsigned pointer_of(enum vyasa_tensor tensor, unsigned part)
{
    return tensor == VYASA_OF_X ? part : tensor == VYASA_OF_Z ? POINTER_Z : POINTER_OUT;
}

static enum vyasa_tensor tensor_of(unsigned pointer)
{
    return pointer < POINTER_Z ? VYASA_OF_X : pointer == POINTER_Z ? VYASA_OF_Z : VYASA_OUT;
}

static long step(const struct emitter *e, unsigned pointer, enum vyasa_loop loop)
{
    return vyasa_step(&e->c->shape, tensor_of(pointer), loop);
}

static unsigned pointer_of_op(const struct emitter *e, const struct op *op)
{
    const struct vyasa_body *b = &e->c->body;
    const struct vyasa_value *v;

    if (op->what == STORE)
        return POINTER_OUT;
    v = &b->value[b->instance[b->load[op->index].instance].value];
    return pointer_of(v->tensor, v->part);
}

/* Returns where an access goes in the first iteration, in bytes. */
static long place_of_op(const struct emitter *e, const struct op *op)
{
    const struct vyasa_body *b = &e->c->body;
    const struct vyasa_load *l;
    const struct vyasa_value *v;

    if (op->what == STORE)
        return vyasa_output_at(&e->c->shape, b->store[op->index].output) * (long)e->c->shape.bytes;
    l = &b->load[op->index];
    v = &b->value[b->instance[l->instance].value];
    return v->first * (long)e->c->shape.bytes + (long)l->at * AIE_V_BYTES;
}

/* ---- operations into bundles ---- */

static void put_mac(const struct emitter *e, struct aie_bundle *to, size_t index)
{
    const struct vyasa_body *b = &e->c->body;
    const struct vyasa_mac *m = &b->mac[index];
    struct aie_mac *mac = &to->mac;
    size_t before = index;

    *mac = (struct aie_mac){ .kind = (uint8_t)e->c->shape.mac, .is_mul = m->is_first, .acc = (uint8_t)m->acc };
    mac->x = m->x_register;
    mac->z = m->z_register;
    mac->px = m->permute.x;
    mac->pz = m->permute.z;
    for (unsigned i = 0; i < VYASA_MOST_V; i++) {
        const uint8_t v = aie_registers[m->x_register].v[i];

        for (unsigned j = 0; j < 2 * VYASA_MOST_V; j++) {
            const struct vyasa_instance *x = &b->instance[m->x_instance[j % 2]];

            if (j / 2 < b->value[x->value].n_v && x->v[j / 2] == v && vyasa_mac_reads(b, m, x->value, j / 2))
                mac->x_tag[i] = (uint32_t)m->x_instance[j % 2] + 1;
        }
    }
    mac->z_tag[0] = mac->z_tag[1] = (uint32_t)m->z_instance + 1;
    while (!m->is_first && b->mac[--before].output != m->output)
        ;
    mac->acc_tag = m->is_first ? 0 : (uint32_t)before + 1;
    mac->tag = (uint32_t)index + 1;
}

static void put_load(const struct emitter *e, struct aie_bundle *to, size_t index, struct aie_address at)
{
    const struct vyasa_load *l = &e->c->body.load[index];
    const uint8_t v = e->c->body.instance[l->instance].v[l->at];
    struct aie_load *load = &to->load[to->load[0].bytes != 0];

    load->bytes = (uint8_t)(l->n_v * AIE_V_BYTES);
    load->reg = l->n_v == 2 ? (uint8_t)(AIE_W + v / 2) : v;
    load->at = at;
    load->tag = (uint32_t)l->instance + 1;
}

static void put_store(const struct emitter *e, struct aie_bundle *to, size_t index, struct aie_address at)
{
    const struct vyasa_store *s = &e->c->body.store[index];

    to->store = (struct aie_store){ .bits = (uint8_t)e->c->problem.bits,
                                    .acc = (uint8_t)e->c->body.mac[s->last].acc,
                                    .shift = (uint8_t)e->c->problem.shift,
                                    .at = at,
                                    .tag = (uint32_t)s->last + 1 };
}

/* Puts an operation of an iteration into a bundle; delta: of the operation's row, as seen from the pointers' row. */
static void put(struct emitter *e, const struct op *op, size_t where, long iteration, bool is_next_row, long post)
{
    struct aie_bundle *to = bundle(e, where);
    unsigned p;
    long place;

    if (op->what == MAC) {
        put_mac(e, to, op->index);
        return;
    }
    p = pointer_of_op(e, op);
    place = place_of_op(e, op) + iteration * step(e, p, e->c->schedule.inner) - e->at[p];
    if (is_next_row)
        place += step(e, p, e->flat);
    if (e->move[p] && where > e->move_at[p])
        place -= e->move[p];
    if (op->what == LOAD)
        put_load(e, to, op->index, (struct aie_address){ (uint8_t)p, (int32_t)place, (int32_t)post });
    else
        put_store(e, to, op->index, (struct aie_address){ (uint8_t)p, (int32_t)place, (int32_t)post });
}

/* Puts pass j of a row from bundle `from` on: operations of stage s are of iteration j - s, or of the next row. */
static void put_pass(struct emitter *e, size_t from, long j, bool has_next)
{
    const long n = e->n_iterations;

    for (size_t i = 0; i < e->n_ops; i++) {
        const struct op *op = &e->op[i];
        const long iteration = j - (long)op->stage;

        if (iteration >= 0 && iteration < n)
            put(e, op, from + op->cycle, iteration, false, 0);
        else if (iteration >= n && has_next)
            put(e, op, from + op->cycle, iteration - n, true, 0);
    }
}

/* Begins a section in which pointers do not move; put_move says the bundles where pointers move. */
static void stand_still(struct emitter *e)
{
    memset(e->move, 0, sizeof e->move);
}

/* Plans that pointers go on by some bytes, in scalar instructions from bundle `from` on. */
static void put_moves(struct emitter *e, size_t from, const long move[N_POINTERS])
{
    stand_still(e);
    for (unsigned p = 0; p < N_POINTERS; p++) {
        if (!e->is_used[p] || !move[p])
            continue;
        e->move[p] = move[p];
        e->move_at[p] = put_scalar(e, from, (struct aie_scalar){ AIE_PADD, (uint8_t)p, (int32_t)move[p], 0, 0 });
    }
}

static void have_moved(struct emitter *e)
{
    for (unsigned p = 0; p < N_POINTERS; p++)
        e->at[p] += e->move[p];
    stand_still(e);
}

/* ---- sections ---- */

static unsigned stages(const struct emitter *e)
{
    return e->c->body.n_stages;
}

static unsigned interval(const struct emitter *e)
{
    return e->c->body.interval;
}

/* Returns the number of full passes that are unrolled behind the kernel, for the jump that decides. */
static unsigned n_decision(const struct emitter *e)
{
    return e->is_flat ? (e->c->params.branch_delay + interval(e)) / interval(e) : 0;
}

static unsigned n_kernel(const struct emitter *e)
{
    return e->n_iterations - (stages(e) - 1) - n_decision(e);
}

static void emit_setup(struct emitter *e)
{
    struct vyasa_section *s = begin(e, "setup", 0);
    const struct vyasa_shape *t = &e->c->shape;

    for (unsigned p = 0; p < N_POINTERS; p++) {
        const unsigned base = t->base[tensor_of(p)][p < POINTER_Z ? p : 0];

        if (e->is_used[p])
            put_scalar(e, s->first, (struct aie_scalar){ AIE_MOVP, (uint8_t)p, (int32_t)base, 0, 0 });
    }
    end(e, s);
}

static struct aie_scalar loop_of(const struct emitter *e, size_t kernel)
{
    return (struct aie_scalar){ AIE_LOOP, 0, (int32_t)n_kernel(e), (uint32_t)kernel,
                                (uint32_t)(kernel + interval(e) - 1) };
}

/*
 * The first row's beginning; a bundle for the loop's instruction if no other bundle can have the instruction. Returns
 * the begin of the kernel.
 */
static size_t emit_prologue(struct emitter *e)
{
    const unsigned passes = stages(e) - 1, idle = e->c->schedule.entry_cycles;
    struct vyasa_section *s = begin(e, "prologue", passes);
    const size_t first = s->first + (idle ? idle : !passes);
    const size_t kernel = first + (size_t)passes * interval(e);

    if (kernel > s->first)
        bundle(e, kernel - 1);
    for (unsigned j = 0; j < passes; j++)
        put_pass(e, first + (size_t)j * interval(e), j, false);
    put_scalar(e, s->first, loop_of(e, kernel));
    end(e, s);
    return kernel;
}

/* Puts the kernel: the last access by each pointer moves the pointer to the next iteration. */
static void emit_kernel(struct emitter *e)
{
    struct vyasa_section *s = begin(e, "kernel", 1);
    const struct op *last[N_POINTERS] = { NULL };

    for (size_t i = 0; i < e->n_ops; i++) {
        if (e->op[i].what != MAC &&
            (!last[pointer_of_op(e, &e->op[i])] || e->op[i].cycle > last[pointer_of_op(e, &e->op[i])]->cycle))
            last[pointer_of_op(e, &e->op[i])] = &e->op[i];
    }
    bundle(e, s->first + interval(e) - 1);
    for (size_t i = 0; i < e->n_ops; i++) {
        const struct op *op = &e->op[i];
        const unsigned p = op->what == MAC ? 0 : pointer_of_op(e, op);
        const bool moves = op->what != MAC && last[p] == op;

        put(e, op, s->first + op->cycle, (long)(stages(e) - 1) - (long)op->stage, false,
            moves ? step(e, p, e->c->schedule.inner) : 0);
    }
    for (unsigned p = 0; p < N_POINTERS; p++) {
        if (last[p])
            e->at[p] += step(e, p, e->c->schedule.inner) * (long)n_kernel(e);
    }
    end(e, s);
}

/* The passes between two rows: the decision, then the transition, which goes back to the kernel. Returns the jump. */
static size_t emit_transition(struct emitter *e, size_t kernel)
{
    const unsigned delay = e->c->params.branch_delay, decision = n_decision(e), passes = stages(e) - 1;
    struct vyasa_section *s = begin(e, "decision", decision);
    const long first = (long)(stages(e) - 1 + n_kernel(e));
    long move[N_POINTERS], before[N_POINTERS];
    size_t jump;

    for (unsigned j = 0; j < decision; j++)
        put_pass(e, s->first + (size_t)j * interval(e), first + j, false);
    jump = s->first + (size_t)decision * interval(e) - 1 - delay;
    bundle(e, s->first + (size_t)decision * interval(e) - 1);
    bundle(e, jump)->scalar = (struct aie_scalar){ AIE_JZD, FLAT_COUNTER, 0, 0, 0 };
    end(e, s);

    s = begin(e, "transition", passes);
    memcpy(before, e->at, sizeof before);
    for (unsigned p = 0; p < N_POINTERS; p++)
        move[p] = step(e, p, e->flat) - e->at[p];
    bundle(e, s->first + (size_t)passes * interval(e) - 1);
    bundle(e, here(e) - 1 - delay)->scalar = (struct aie_scalar){ AIE_JMP, 0, 0, (uint32_t)kernel, 0 };
    put_scalar(e, s->first, loop_of(e, kernel));
    put_moves(e, s->first, move);
    for (unsigned j = 0; j < passes; j++)
        put_pass(e, s->first + (size_t)j * interval(e), (long)e->n_iterations + j, true);
    end(e, s);
    memcpy(e->at, before, sizeof before);
    stand_still(e);
    return jump;
}

/* How far pointers go at the end of all rows, to the next iteration of an outer loop. */
static void next_of_level(const struct emitter *e, unsigned level, long move[N_POINTERS])
{
    for (unsigned p = 0; p < N_POINTERS; p++) {
        move[p] = step(e, p, e->level[level]) - e->at[p];
        if (e->is_flat)
            move[p] -= (long)(e->c->shape.count[e->flat] - 1) * step(e, p, e->flat);
    }
}

/* Puts the branch of an outer loop so that its delay slots end with the section. */
static void put_branch(struct emitter *e, struct vyasa_section *s, unsigned level, size_t top)
{
    const unsigned delay = e->c->params.branch_delay;
    size_t n = here(e) - s->first, at;

    n = n > delay + 1 ? n : delay + 1;
    for (at = s->first + n - 1 - delay; at < here(e) && e->c->program.bundle[at].scalar.kind;)
        at++;
    bundle(e, at + delay);
    bundle(e, at)->scalar = (struct aie_scalar){ AIE_JNZD, (uint8_t)level, 0, (uint32_t)top, 0 };
}

static void emit_epilogue(struct emitter *e, const size_t top[2])
{
    struct vyasa_section *s = begin(e, "epilogue", stages(e) - 1);
    long move[N_POINTERS];

    if (e->n_levels) {
        next_of_level(e, e->n_levels - 1, move);
        put_moves(e, s->first, move);
    }
    for (unsigned j = 0; j + 1 < stages(e); j++)
        put_pass(e, s->first + (size_t)j * interval(e), (long)e->n_iterations + j, false);
    if (e->n_levels)
        put_branch(e, s, e->n_levels - 1, top[e->n_levels - 1]);
    have_moved(e);
    end(e, s);
}

/* The end of an outer loop around another loop. */
static void emit_outer_end(struct emitter *e, unsigned level, size_t top)
{
    struct vyasa_section *s = begin(e, "outer loop", 0);
    long move[N_POINTERS];

    for (unsigned p = 0; p < N_POINTERS; p++)
        move[p] = step(e, p, e->level[level]) -
                  (long)e->c->shape.count[e->level[level + 1]] * step(e, p, e->level[level + 1]);
    put_moves(e, s->first, move);
    put_branch(e, s, level, top);
    stand_still(e);
    end(e, s);
}

static void emit_end(struct emitter *e)
{
    struct vyasa_section *s = begin(e, "end", 0);

    bundle(e, s->first + e->c->params.srs_latency);
    bundle(e, here(e) - 1)->scalar = (struct aie_scalar){ AIE_HALT, 0, 0, 0, 0 };
    end(e, s);
}

static void emit_all(struct emitter *e)
{
    size_t top[2] = { 0 }, kernel, jump = 0;

    emit_setup(e);
    for (unsigned l = 0; l < e->n_levels; l++) {
        put_scalar(e, here(e),
                   (struct aie_scalar){ AIE_MOVI, (uint8_t)l, (int32_t)e->c->shape.count[e->level[l]], 0, 0 });
        top[l] = here(e);
    }
    if (e->is_flat)
        put_scalar(e, here(e),
                   (struct aie_scalar){ AIE_MOVI, FLAT_COUNTER, (int32_t)e->c->shape.count[e->flat], 0, 0 });
    kernel = emit_prologue(e);
    emit_kernel(e);
    if (e->is_flat)
        jump = emit_transition(e, kernel);
    if (e->is_flat)
        e->c->program.bundle[jump].scalar.target = (uint32_t)here(e);
    emit_epilogue(e, top);
    for (unsigned l = e->n_levels; l-- > 1;)
        emit_outer_end(e, l - 1, top[l - 1]);
    emit_end(e);
}

/* ---- the whole program ---- */

static int by_cycle(const void *left, const void *right)
{
    const struct op *a = left, *b = right;

    return a->cycle != b->cycle ? (a->cycle < b->cycle ? -1 : 1) : (int)a->what - (int)b->what;
}

static void add_op(struct emitter *e, enum what what, size_t index, long time)
{
    const unsigned at = (unsigned)(time + e->c->body.shift_time);
    struct op *op = &e->op[e->n_ops++];

    *op = (struct op){ what, index, at / e->c->body.interval, at % e->c->body.interval };
    if (what != MAC)
        e->is_used[pointer_of_op(e, op)] = true;
}

static void list_ops(struct emitter *e)
{
    const struct vyasa_body *b = &e->c->body;

    e->op = exp_new(b->n_loads + b->n_stores + b->n_macs, sizeof *e->op);
    for (size_t i = 0; i < b->n_loads; i++)
        add_op(e, LOAD, i, b->load[i].time);
    for (size_t i = 0; i < b->n_stores; i++)
        add_op(e, STORE, i, b->store[i].time);
    for (size_t i = 0; i < b->n_macs; i++)
        add_op(e, MAC, i, b->mac[i].time);
    qsort(e->op, e->n_ops, sizeof *e->op, by_cycle);
}

/* Decides which outer loops there are, and whether the innermost outer loop goes without seams. */
static void find_loops(struct emitter *e)
{
    const struct vyasa_schedule *s = &e->c->schedule;
    const unsigned delay = e->c->params.branch_delay;

    e->n_iterations = e->c->shape.count[s->inner];
    for (unsigned l = 0; l < 2; l++) {
        if (e->c->shape.count[s->outer[l]] > 1)
            e->level[e->n_levels++] = s->outer[l];
    }
    if (!s->is_seamless || !e->n_levels || stages(e) < 2)
        return;
    e->is_flat = true;
    if ((stages(e) - 1) * interval(e) < delay + 1 + N_POINTERS + 2 || e->n_iterations < stages(e) + n_decision(e))
        e->is_flat = false;
    else
        e->flat = e->level[--e->n_levels];
}

/* ---- cycles by control flow ---- */

/* Returns the cycles of a program, by branches and loops alone. */
static uint64_t count_cycles(const struct aie_program *p, const struct aie_params *params)
{
    uint64_t cycles = 0, loop_count = 0;
    int32_t counter[AIE_N_SCALARS] = { 0 };
    size_t pc = 0, start = 0, finish = SIZE_MAX, target = 0;
    unsigned branch_in = 0;

    for (;; cycles++) {
        const struct aie_scalar *s = &p->bundle[pc].scalar;
        bool jumps = s->kind == AIE_JMP;

        if (s->kind == AIE_HALT)
            return cycles + 1;
        if (s->kind == AIE_MOVI)
            counter[s->reg] = s->value;
        if (s->kind == AIE_LOOP) {
            start = s->target;
            finish = s->end;
            loop_count = (uint64_t)s->value;
        }
        if (s->kind == AIE_JNZD || s->kind == AIE_JZD)
            jumps = (--counter[s->reg] == 0) == (s->kind == AIE_JZD);
        if (jumps) {
            branch_in = params->branch_delay + 1;
            target = s->target;
        }
        if (branch_in && !--branch_in) {
            pc = target;
        } else {
            /* A loop's passes are all alike. */
            if (pc == finish && loop_count > 1)
                cycles += (loop_count - 1) * (finish - start + 1);
            if (pc == finish)
                loop_count = 1;
            pc++;
        }
    }
}

/* ---- the entry ---- */

int vyasa_emit(struct vyasa_code *code, struct exp_why *why)
{
    struct emitter e = { .c = code };

    assert(code->body.interval > 0);
    free(code->program.bundle);
    code->program = (struct aie_program){ 0 };
    code->n_sections = 0;
    list_ops(&e);
    find_loops(&e);
    code->is_seamless = e.is_flat;
    if (e.n_iterations < stages(&e)) {
        free(e.op);
        return exp_fail(why, -ERANGE, "%u iterations are less than %u stages", e.n_iterations, stages(&e));
    }
    emit_all(&e);
    free(e.op);
    if (code->program.n > code->params.program_bundles)
        return exp_fail(why, -E2BIG, "%zu bundles do not fit the program memory of %u", code->program.n,
                        code->params.program_bundles);
    code->cycles = count_cycles(&code->program, &code->params);
    return 0;
}
