#include "experiments/polydl/exp_call_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { N_INNER = 3 };

static const uint32_t NONE = UINT32_MAX;

/* ---- one call ---- */

/* The elements of a call: rows of neighbours, at sums of multiples of two steps. */
struct rows {
    struct {
        uint64_t step, times;
    } by[N_INNER];     /* the greatest step first */
    uint64_t elements; /* of a row */
};

/* Returns how far apart in memory are the elements of neighbouring iterations of a loop. */
static uint64_t step_of(const struct exp_affine_access *a, const struct exp_tensor *t, size_t loop)
{
    uint64_t step = 0;

    for (size_t d = 0; d < a->n_dims; d++)
        step = step * t->extent[d] + a->dim[d].step[loop];
    return step;
}

static int by_falling_step(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x > *y ? -1 : *x < *y;
}

static struct rows rows_of(const struct exp_variant *v, const struct exp_affine_access *a, const struct exp_tensor *t)
{
    struct rows r = { .elements = 1 };

    for (size_t i = 0; i < N_INNER; i++) {
        r.by[i].step = step_of(a, t, v->n_outer + i);
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

/* Visits the lines of calls, one by one; `before` is the line before it in its call, or NONE. */
typedef void (*visit_fn)(void *ctx, uint32_t line, uint32_t before);

/* Visits the lines of a call that begins at an element, in ascending order. */
static void visit_lines(const struct rows *r, uint64_t begin, uint64_t per_line, visit_fn visit, void *ctx)
{
    uint32_t before = NONE;

    for (uint64_t i = 0; i < r->by[0].times * r->by[1].times * r->by[2].times; i++) {
        const uint64_t inner = r->by[1].times * r->by[2].times;
        const uint64_t row = begin + i / inner * r->by[0].step + i % inner / r->by[2].times * r->by[1].step +
                             i % r->by[2].times * r->by[2].step;
        uint64_t line = row / per_line;

        if (before != NONE && line <= before)
            line = before + (uint64_t)1;
        for (; line <= (row + r->elements - 1) / per_line; line++) {
            visit(ctx, (uint32_t)line, before);
            before = (uint32_t)line;
        }
    }
}

/* ---- all calls ---- */

/* Holds what is known of a line: the calls that touch it, and the line that it follows in some of them. */
struct link {
    uint32_t calls, before, follows;
};

struct search {
    struct exp_call_lines *found;
    struct rows rows;
    uint64_t per_line;
    size_t n_places;   /* where calls may begin */
    bool *is_call;     /* [n_places] and where some do */
    struct link *link; /* [n_lines] */
    size_t n_runs;
    size_t max_runs;
    int err;
};

static uint64_t divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

/* Marks the places at which calls begin, as the loops from one on walk them. */
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

static void visit_calls(struct search *s, visit_fn visit, void (*begin)(struct search *s, size_t place))
{
    for (size_t p = 0; p < s->n_places && !s->err; p++) {
        if (begin)
            begin(s, p);
        if (s->is_call[p])
            visit_lines(&s->rows, s->found->first_element + p * s->found->unit, s->per_line, visit, s);
    }
}

static void add_link(void *search, uint32_t line, uint32_t before)
{
    struct search *s = search;
    struct link *l = &s->link[line];

    if (!l->calls++)
        l->before = before;
    l->follows += before != NONE && l->before == before;
}

/* Tells whether all calls that touch a line, or the one that it follows, touch both. */
static bool is_joined(const struct search *s, uint32_t line)
{
    const struct link *l = &s->link[line];

    return l->before != NONE && l->follows == l->calls && s->link[l->before].calls == l->calls;
}

static void begin_call(struct search *s, size_t place)
{
    s->found->begin[place] = s->n_runs;
}

static void add_to_runs(void *search, uint32_t line, uint32_t before)
{
    struct search *s = search;

    (void)before;
    if (s->err)
        return;
    if (is_joined(s, line)) {
        s->found->run[s->n_runs - 1].n_lines++;
        return;
    }
    if (s->n_runs == s->max_runs) {
        const size_t most = 2 * s->max_runs + 64;
        struct exp_line_run *more = realloc(s->found->run, most * sizeof *more);

        if (!more) {
            s->err = -ENOMEM;
            return;
        }
        s->found->run = more;
        s->max_runs = most;
    }
    s->found->run[s->n_runs++] = (struct exp_line_run){ line, 1 };
}

/* Says where calls begin: in the first iteration, and how far apart. */
static void place_calls(struct search *s, const struct exp_variant *v, const struct exp_affine_access *a,
                        const struct exp_tensor *t)
{
    struct exp_call_lines *c = s->found;
    uint64_t elements = 1, last = 0;

    for (size_t d = 0; d < a->n_dims; d++) {
        c->first_element = c->first_element * t->extent[d] + a->dim[d].first;
        elements *= t->extent[d];
    }
    for (size_t l = 0; l < v->n_outer; l++) {
        c->step[l] = v->nest.loop[l].extent > 1 ? step_of(a, t, l) : 0;
        c->unit = divisor(c->unit, c->step[l]);
        last += c->step[l] * (v->nest.loop[l].extent - 1);
    }
    if (!c->unit)
        c->unit = 1;
    c->n_lines = (elements + s->per_line - 1) / s->per_line;
    s->n_places = (size_t)(last / c->unit + 1);
}

int exp_call_lines_find(struct exp_call_lines *c, const struct exp_variant *v, const struct exp_affine_access *a,
                        const struct exp_tensor *t, uint64_t elements_per_line)
{
    struct search s = { .found = c, .rows = rows_of(v, a, t), .per_line = elements_per_line };

    *c = (struct exp_call_lines){ 0 };
    place_calls(&s, v, a, t);
    s.is_call = calloc(s.n_places, sizeof *s.is_call);
    s.link = calloc(c->n_lines, sizeof *s.link);
    c->begin = calloc(s.n_places + 1, sizeof *c->begin);
    if (!s.is_call || !s.link || !c->begin)
        s.err = -ENOMEM;
    if (!s.err) {
        mark_calls(&s, v, 0, 0);
        visit_calls(&s, add_link, NULL);
        visit_calls(&s, add_to_runs, begin_call);
        c->begin[s.n_places] = s.n_runs;
    }
    free(s.is_call);
    free(s.link);
    if (s.err)
        exp_call_lines_release(c);
    return s.err;
}

void exp_call_lines_release(struct exp_call_lines *c)
{
    free(c->begin);
    free(c->run);
    *c = (struct exp_call_lines){ 0 };
}
