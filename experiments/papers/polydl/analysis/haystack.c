#include "experiments/papers/polydl/analysis/analysis.h"

#include <stdlib.h>
#include <string.h>

#include "sim/analysis/stackdist.h"

/*
 * ---- lines of calls ----
 *
 * The lines that the calls of a variant's micro-kernel touch in an operand, as runs: neighbours in the order of
 * addresses in every call that touches a line of the run. An operand's calls differ by the begin of the call in the
 * tensor, which is a sum of multiples of the outer iterators.
 */

/* Lines from first on; of runs that are not dense, the first is only a name. */
struct line_run {
    uint64_t first, n_lines;
};

struct call_lines {
    uint64_t step[EXP_AFFINE_MAX_LOOPS]; /* elements from a single iteration of each loop to the next */
    uint64_t first_element;              /* of the iteration 0, 0, ... */
    uint64_t unit;                       /* calls begin at multiples of `unit` after the first element */
    uint64_t n_lines;                    /* of the whole tensor */
    size_t *begin;                       /* [calls + 1], by (beginning - first) / unit: the call's runs in run[] */
    struct line_run *run;
};

enum { N_INNER = 3 };

static const uint32_t NONE = UINT32_MAX;

/* ---- a single call ---- */

/* The elements of a call: rows of neighbours, at sums of multiples of two steps. */
struct rows {
    struct {
        uint64_t step, times;
    } by[N_INNER];     /* the greatest step first */
    uint64_t elements; /* of a row */
};

static int by_falling_step(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x > *y ? -1 : *x < *y;
}

static struct rows rows_of(const struct exp_variant *v, const struct exp_affine_access *a, const struct exp_tensor *t)
{
    struct rows r = { .elements = 1 };

    for (size_t i = 0; i < N_INNER; i++) {
        r.by[i].step = exp_tensor_step(t, a, v->n_outer + i);
        r.by[i].times = r.by[i].step ? v->nest.loop[v->n_outer + i].extent : 1;
    }
    qsort(r.by, N_INNER, sizeof r.by[0], by_falling_step);
    for (size_t i = 0; i < N_INNER; i++) {
        if (r.by[i].step != 1)
            continue;
        r.elements = r.by[i].times;
        r.by[i].times = 1;
    }
    return r;
}

/* A line: the calls that touch the line, and the line before in some of these calls. */
struct link {
    uint32_t calls, before, follows;
};

struct search {
    struct call_lines *found;
    struct rows rows;
    uint64_t per_line;
    size_t n_places;   /* where calls may begin */
    bool *is_call;     /* [n_places] and where some do */
    struct link *link; /* [n_lines] */
    size_t n_runs;
};

/* Looks at a line of a call; `before` is the call's line before, or NONE. */
typedef void visit_fn(struct search *s, uint32_t line, uint32_t before);

/* Visits the lines of a call that begins at an element, in ascending order. */
static void visit_lines(struct search *s, uint64_t begin, visit_fn *visit)
{
    const struct rows *r = &s->rows;
    uint32_t before = NONE;

    for (uint64_t i = 0; i < r->by[0].times * r->by[1].times * r->by[2].times; i++) {
        const uint64_t inner = r->by[1].times * r->by[2].times;
        const uint64_t row = begin + i / inner * r->by[0].step + i % inner / r->by[2].times * r->by[1].step +
                             i % r->by[2].times * r->by[2].step;
        uint64_t line = row / s->per_line;

        if (before != NONE && line <= before)
            line = before + (uint64_t)1;
        for (; line <= (row + r->elements - 1) / s->per_line; line++) {
            visit(s, (uint32_t)line, before);
            before = (uint32_t)line;
        }
    }
}

/* ---- all calls ---- */

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Marks the begins of calls, as the loops from `loop` on walk them. */
static void mark_calls(struct search *s, const struct exp_variant *v, size_t loop, uint64_t offset)
{
    const uint64_t step = loop < v->n_outer ? s->found->step[loop] : 0;

    if (loop == v->n_outer) {
        s->is_call[offset / s->found->unit] = true;
        return;
    }
    for (uint64_t i = 0; i < (step ? v->nest.loop[loop].extent : 1); i++)
        mark_calls(s, v, loop + 1, offset + i * step);
}

/* Visits the lines of all calls, and notes where the runs of each begin. */
static void visit_calls(struct search *s, visit_fn *visit)
{
    for (size_t p = 0; p < s->n_places; p++) {
        s->found->begin[p] = s->n_runs;
        if (s->is_call[p])
            visit_lines(s, s->found->first_element + p * s->found->unit, visit);
    }
    s->found->begin[s->n_places] = s->n_runs;
}

static void add_link(struct search *s, uint32_t line, uint32_t before)
{
    struct link *l = &s->link[line];

    if (!l->calls++)
        l->before = before;
    l->follows += before != NONE && l->before == before;
}

/* Tells whether all calls that touch a line, or the line before, touch both lines. */
static bool is_joined(const struct search *s, uint32_t line)
{
    const struct link *l = &s->link[line];

    return l->before != NONE && l->follows == l->calls && s->link[l->before].calls == l->calls;
}

static void add_to_runs(struct search *s, uint32_t line, uint32_t before)
{
    (void)before;
    if (is_joined(s, line)) {
        s->found->run[s->n_runs - 1].n_lines++;
        return;
    }
    *(struct line_run *)exp_append(&s->found->run, &s->n_runs, sizeof *s->found->run) = (struct line_run){ line, 1 };
}

/* Says where calls begin: in the first iteration, and how far apart. */
static void place_calls(struct search *s, const struct exp_variant *v, const struct exp_affine_access *a,
                        const struct exp_tensor *t)
{
    struct call_lines *c = s->found;
    uint64_t elements = 1, last = 0;

    for (size_t d = 0; d < a->n_dims; d++) {
        c->first_element = c->first_element * t->extent[d] + a->dim[d].first;
        elements *= t->extent[d];
    }
    for (size_t l = 0; l < v->n_outer; l++) {
        c->step[l] = v->nest.loop[l].extent > 1 ? exp_tensor_step(t, a, l) : 0;
        c->unit = divisor(c->unit, c->step[l]);
        last += c->step[l] * (v->nest.loop[l].extent - 1);
    }
    if (!c->unit)
        c->unit = 1;
    c->n_lines = (elements + s->per_line - 1) / s->per_line;
    s->n_places = (size_t)(last / c->unit + 1);
}

/*
 * Finds the runs of an access to a tensor; n_outer loops are around the calls. The access's subscripts must use
 * different inner loops, as a GEMM's do.
 */
static void find_call_lines(struct call_lines *c, const struct exp_variant *v, const struct exp_affine_access *a,
                            const struct exp_tensor *t, uint64_t elements_per_line)
{
    struct search s = { .found = c, .rows = rows_of(v, a, t), .per_line = elements_per_line };

    place_calls(&s, v, a, t);
    s.is_call = exp_new(s.n_places, sizeof *s.is_call);
    s.link = exp_new(c->n_lines, sizeof *s.link);
    c->begin = exp_new(s.n_places + 1, sizeof *c->begin);
    mark_calls(&s, v, 0, 0);
    visit_calls(&s, add_link);
    visit_calls(&s, add_to_runs);
    free(s.is_call);
    free(s.link);
}

/* ---- misses ---- */

/* An array of the calls. */
struct operand {
    struct call_lines lines;
    uint64_t first_line; /* of the tensor; no two tensors share a line */
    uint64_t offset;     /* of the call, in elements after the first one's */
};

struct count {
    const struct exp_variant *variant;
    struct operand operand[EXP_N_OPERANDS];
    size_t n_operands;
    struct sim_stackdist *distances;
};

/* Finds the operands in the order of their first use. */
static void find_operands(struct count *c, uint64_t line_bytes)
{
    const struct exp_affine_nest *n = &c->variant->nest;
    uint64_t first_line = 0;

    for (size_t i = 0; i < n->n_accesses; i++) {
        struct operand *o = &c->operand[c->n_operands];
        const struct exp_tensor *t = c->variant->tensor;

        if (exp_affine_first_access(n, i) != i)
            continue;
        while (strcmp(t->name, n->access[i].array) != 0)
            t++;
        find_call_lines(&o->lines, c->variant, &n->access[i], t, line_bytes / sizeof(float));
        o->first_line = first_line;
        first_line += o->lines.n_lines;
        c->n_operands++;
    }
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

/* Steps to the next iteration of the outer loops; from the last iteration to the first. */
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

/* Scales a count from the sampled share of calls to all calls. */
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

    find_operands(&c, s->line_bytes);
    for (uint64_t call = 0; call < most && !err; call++) {
        for (size_t i = 0; i < c.n_operands && !err; i++)
            err = use_lines(&c, &c.operand[i]);
        step(&c, at);
    }
    h->share = (double)most / (double)n_calls;
    if (!err) {
        h->uses = scaled(sim_stackdist_uses(c.distances), h->share);
        for (size_t i = 0; i < s->n_caches; i++)
            h->misses[i] = scaled(sim_stackdist_misses(c.distances, s->source[i].bytes / s->line_bytes), h->share);
    }
    for (size_t i = 0; i < c.n_operands; i++) {
        free(c.operand[i].lines.begin);
        free(c.operand[i].lines.run);
    }
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
