#include "experiments/polydl/exp_haystack.h"

#include <errno.h>
#include <string.h>

#include "experiments/polydl/exp_call_lines.h"
#include "sim/analysis/stackdist.h"

/* An array that calls touch. */
struct operand {
    struct exp_call_lines lines;
    uint64_t first_line; /* of the tensor, so that no two share one */
    uint64_t offset;     /* of the call, in elements after the first one's */
};

struct count {
    const struct exp_variant *variant;
    struct operand operand[EXP_N_OPERANDS];
    size_t n_operands;
    struct sim_stackdist *distances;
};

static bool is_first_access(const struct exp_affine_nest *n, size_t access)
{
    size_t first = 0;

    while (strcmp(n->access[first].array, n->access[access].array) != 0)
        first++;
    return first == access;
}

static const struct exp_tensor *tensor_of(const struct exp_variant *v, const char *array)
{
    const struct exp_tensor *t = v->tensor;

    while (strcmp(t->name, array) != 0)
        t++;
    return t;
}

/* Finds the operands in the order in which calls touch them first. */
static int find_operands(struct count *c, uint64_t line_bytes)
{
    const struct exp_affine_nest *n = &c->variant->nest;
    uint64_t first_line = 0;
    int err = 0;

    for (size_t i = 0; i < n->n_accesses && !err; i++) {
        struct operand *o = &c->operand[c->n_operands];

        if (!is_first_access(n, i))
            continue;
        err = exp_call_lines_find(&o->lines, c->variant, &n->access[i], tensor_of(c->variant, n->access[i].array),
                                  line_bytes / sizeof(float));
        o->first_line = first_line;
        first_line += o->lines.n_lines;
        c->n_operands++;
    }
    return err;
}

static int use_lines(struct count *c, const struct operand *o)
{
    const size_t place = (size_t)(o->offset / o->lines.unit);
    uint64_t distance;
    int err = 0;

    for (size_t r = o->lines.begin[place]; r < o->lines.begin[place + 1] && !err; r++)
        err = sim_stackdist_use_run(c->distances, o->first_line + o->lines.run[r].first, o->lines.run[r].n_lines,
                                    &distance);
    return err;
}

static int use_call(struct count *c)
{
    int err = 0;

    for (size_t i = 0; i < c->n_operands && !err; i++)
        err = use_lines(c, &c->operand[i]);
    return err;
}

/* Steps to the next iteration of the outer loops; from the last one to the first. */
static void step(struct count *c, uint64_t at[EXP_AFFINE_MAX_LOOPS])
{
    for (size_t l = c->variant->n_outer; l-- > 0;) {
        const bool is_last = ++at[l] == c->variant->nest.loop[l].extent;

        for (size_t i = 0; i < c->n_operands; i++) {
            struct operand *o = &c->operand[i];

            o->offset = is_last ? o->offset - o->lines.step[l] * (at[l] - 1) : o->offset + o->lines.step[l];
        }
        if (!is_last)
            return;
        at[l] = 0;
    }
}

static uint64_t calls_of(const struct exp_variant *v)
{
    uint64_t n = 1;

    for (size_t l = 0; l < v->n_outer; l++)
        n *= v->nest.loop[l].extent;
    return n;
}

/* Returns what all calls would have of what so many have. */
static uint64_t scaled(uint64_t count, double share)
{
    return (uint64_t)((double)count / share + 0.5);
}

int exp_haystack_count(struct exp_haystack *h, const struct exp_variant *v, const struct exp_sources *s)
{
    struct count c = { .variant = v };
    uint64_t at[EXP_AFFINE_MAX_LOOPS] = { 0 };
    const uint64_t n_calls = calls_of(v), most = n_calls < EXP_HAYSTACK_CALLS ? n_calls : EXP_HAYSTACK_CALLS;
    int err = sim_stackdist_new(&c.distances);

    if (!err)
        err = find_operands(&c, s->line_bytes);
    for (uint64_t call = 0; call < most && !err; call++) {
        err = use_call(&c);
        step(&c, at);
    }
    h->share = (double)most / (double)n_calls;
    if (!err) {
        h->uses = scaled(sim_stackdist_uses(c.distances), h->share);
        for (size_t i = 0; i < s->n_caches; i++)
            h->misses[i] = scaled(sim_stackdist_misses(c.distances, s->source[i].bytes / s->line_bytes), h->share);
    }
    for (size_t i = 0; i < c.n_operands; i++)
        exp_call_lines_release(&c.operand[i].lines);
    sim_stackdist_free(c.distances);
    return err;
}

double exp_haystack_cycles(const struct exp_haystack *h, const struct exp_sources *s)
{
    double cycles = 0;

    for (size_t i = 0; i < s->n_caches; i++)
        cycles += (double)h->misses[i] * s->source[i + 1].latency;
    return cycles;
}
