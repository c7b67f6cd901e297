#include "experiments/polydl/analysis/exp_working_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- sources ---- */

enum { FIRST_SHARED_LEVELS = 3, ELEMENT_BYTES = sizeof(float) };

/* Returns the bandwidth that is stated, or one line in every latency. */
static double bandwidth(double stated, double line_bytes, double latency)
{
    if (stated > 0)
        return stated;
    return latency > 0 ? line_bytes / latency : line_bytes;
}

static double loads(const struct sim_issue *core)
{
    return core->loads_per_cycle * core->mac_rows * core->mac_columns * ELEMENT_BYTES;
}

struct exp_sources exp_sources_of(const struct sim_machine *m, unsigned n_cores)
{
    struct exp_sources s = { .n_caches = m->n_levels, .line_bytes = m->level[0].line_bytes };

    for (size_t i = 0; i < m->n_levels; i++) {
        const struct sim_level *l = &m->level[i];
        const bool is_shared = i + 1 == m->n_levels && m->n_levels >= FIRST_SHARED_LEVELS;
        const double stated = l->bandwidth_bytes_per_cycle;

        s.source[i] = (struct exp_source){
            .bytes = sim_level_bytes(l) / (is_shared ? n_cores : 1),
            .latency = l->latency_cycles,
            .bandwidth = bandwidth(i || stated > 0 ? stated : loads(&m->issue), l->line_bytes, l->latency_cycles),
        };
    }
    s.source[m->n_levels] = (struct exp_source){
        .latency = m->memory_latency_cycles,
        .bandwidth = bandwidth(m->memory_bandwidth_bytes_per_cycle, (double)s.line_bytes, m->memory_latency_cycles),
    };
    return s;
}

/* ---- footprints ---- */

enum {
    MAX_BOXES = 2 * EXP_AFFINE_MAX_LOOPS + 2,
    MAX_SETS = (EXP_AFFINE_MAX_ACCESSES * MAX_BOXES + 63) / 64 * 64, /* products of one array */
};

/* ---- iterations ---- */

/* Iterations whose iterators are independent of each other: from low to high, both included. */
struct box {
    uint64_t low[EXP_AFFINE_MAX_LOOPS], high[EXP_AFFINE_MAX_LOOPS];
};

struct boxes {
    struct box box[MAX_BOXES];
    size_t n;
};

/* Adds a box: the iterations that agree with `at` before loop `free`, have low..high in it, and anything inside it. */
static void add(struct boxes *b, const struct exp_affine_nest *n, const struct exp_affine_point *at, size_t loop,
                uint64_t low, uint64_t high)
{
    struct box *box = &b->box[b->n];

    if (low > high)
        return;
    for (size_t l = 0; l < n->n_loops; l++) {
        box->low[l] = l < loop ? at->at[l] : l == loop ? low : 0;
        box->high[l] = l < loop ? at->at[l] : l == loop ? high : n->loop[l].extent - 1;
    }
    b->n++;
}

/* Splits the iterations from first to last into boxes. Returns whether last does not come before first. */
static bool split(struct boxes *b, const struct exp_affine_nest *n, const struct exp_affine_point *first,
                  const struct exp_affine_point *last)
{
    const size_t inner = n->n_loops - 1;
    size_t common = 0;

    b->n = 0;
    while (common < inner && first->at[common] == last->at[common])
        common++;
    if (first->at[common] > last->at[common])
        return false;
    if (common == inner) {
        add(b, n, first, inner, first->at[inner], last->at[inner]);
        return true;
    }
    if (last->at[common])
        add(b, n, first, common, first->at[common] + 1, last->at[common] - 1);
    for (size_t l = common + 1; l < n->n_loops; l++) {
        add(b, n, first, l, first->at[l] + (l < inner), n->loop[l].extent - 1);
        if (l == inner)
            add(b, n, last, l, 0, last->at[l]);
        else if (last->at[l])
            add(b, n, last, l, 0, last->at[l] - 1);
    }
    return true;
}

/* ---- elements ---- */

/* Numbers: n progressions of `count` numbers each, a stride apart. */
struct numbers {
    uint64_t *low; /* [n] the first of each progression */
    size_t n;
    uint64_t count, stride;
};

struct term {
    uint64_t step, times;
};

static int by_step(const void *a, const void *b)
{
    const struct term *x = a, *y = b;

    return x->step < y->step ? -1 : x->step > y->step;
}

/* Lists the loops that move a subscript within a box, the smallest step first. */
static size_t list_terms(const struct exp_affine_subscript *s, const struct box *b, size_t n_loops,
                         struct term terms[EXP_AFFINE_MAX_LOOPS])
{
    size_t n = 0;

    for (size_t l = 0; l < n_loops; l++) {
        if (s->step[l] && b->high[l] > b->low[l])
            terms[n++] = (struct term){ s->step[l], b->high[l] - b->low[l] + 1 };
    }
    qsort(terms, n, sizeof *terms, by_step);
    return n;
}

/* Repeats all progressions, shifted by each multiple of a step. */
static int repeat(struct numbers *v, const struct term *t)
{
    uint64_t *more = realloc(v->low, v->n * t->times * sizeof *more);

    if (!more)
        return -ENOMEM;
    v->low = more;
    for (uint64_t i = 1; i < t->times; i++) {
        for (size_t k = 0; k < v->n; k++)
            more[i * v->n + k] = more[k] + i * t->step;
    }
    v->n *= t->times;
    return 0;
}

/* Finds the values that a subscript takes in a box. */
static int find_values(const struct exp_affine_subscript *s, const struct box *b, size_t n_loops, struct numbers *v)
{
    struct term terms[EXP_AFFINE_MAX_LOOPS];
    size_t n = list_terms(s, b, n_loops, terms);
    int err = 0;

    *v = (struct numbers){ .low = malloc(sizeof *v->low), .n = 1, .count = 1, .stride = 1 };
    if (!v->low)
        return -ENOMEM;
    *v->low = s->first;
    for (size_t l = 0; l < n_loops; l++)
        *v->low += s->step[l] * b->low[l];
    for (size_t i = 0; i < n && !err; i++) {
        if (v->n == 1 && v->count == 1) {
            v->count = terms[i].times;
            v->stride = terms[i].step;
        } else if (v->n == 1 && terms[i].step % v->stride == 0 && terms[i].step / v->stride <= v->count) {
            v->count += (terms[i].times - 1) * (terms[i].step / v->stride);
        } else {
            err = repeat(v, &terms[i]);
        }
    }
    return err;
}

/* ---- products that overlap ---- */

enum { WORDS = MAX_SETS / 64 };

/* Says which of the products have something. */
struct signature {
    uint64_t word[WORDS];
};

/* A number from which on a product's set of values goes on, or has ended. */
struct border {
    uint64_t at;
    size_t product;
    bool begins;
};

/* All values of an axis that belong to the same products. */
struct class
{
    struct signature products;
    uint64_t n_values;
};

struct axis {
    struct border *border;
    size_t n_borders, max_borders;
    struct class *class;
    size_t n_classes;
};

static int add_interval(struct axis *a, uint64_t low, uint64_t count, size_t product)
{
    if (a->n_borders + 2 > a->max_borders) {
        size_t most = a->max_borders ? 2 * a->max_borders : 64;
        struct border *more = realloc(a->border, most * sizeof *more);

        if (!more)
            return -ENOMEM;
        a->border = more;
        a->max_borders = most;
    }
    a->border[a->n_borders++] = (struct border){ low, product, true };
    a->border[a->n_borders++] = (struct border){ low + count, product, false };
    return 0;
}

/* Adds a product's values to its axis, as intervals: neighbours where the stride is 1, else one by one. */
static int add_values(struct axis *a, const struct numbers *v, size_t product)
{
    const bool is_dense = v->stride == 1;
    int err = 0;

    for (size_t i = 0; i < v->n && !err; i++) {
        if (is_dense)
            err = add_interval(a, v->low[i], v->count, product);
        for (uint64_t k = 0; !is_dense && k < v->count && !err; k++)
            err = add_interval(a, v->low[i] + k * v->stride, 1, product);
    }
    return err;
}

static int by_place(const void *x, const void *y)
{
    const struct border *a = x, *b = y;

    return a->at < b->at ? -1 : a->at > b->at;
}

/* Counts n values in the class of their products. */
static int add_to_class(struct axis *a, const struct signature *products, uint64_t n)
{
    struct class *c = a->class;

    while (c < a->class + a->n_classes && memcmp(&c->products, products, sizeof *products) != 0)
        c++;
    if (c == a->class + a->n_classes) {
        struct class *more = realloc(a->class, (a->n_classes + 1) * sizeof *more);

        if (!more)
            return -ENOMEM;
        a->class = more;
        c = &more[a->n_classes++];
        *c = (struct class){ .products = *products };
    }
    c->n_values += n;
    return 0;
}

/* Sorts the values of an axis into classes. A product may hold a value in several of its intervals. */
static int classify(struct axis *a)
{
    uint32_t depth[MAX_SETS] = { 0 };
    struct signature now = { 0 };
    size_t n_open = 0;
    int err = 0;

    qsort(a->border, a->n_borders, sizeof *a->border, by_place);
    for (size_t i = 0; i < a->n_borders && !err; i++) {
        const struct border *b = &a->border[i];
        const uint64_t bit = UINT64_C(1) << b->product % 64;

        if (n_open && b->at > b[-1].at)
            err = add_to_class(a, &now, b->at - b[-1].at);
        if (b->begins ? !depth[b->product]++ : !--depth[b->product]) {
            now.word[b->product / 64] ^= bit;
            n_open += b->begins ? 1 : (size_t)-1;
        }
    }
    return err;
}

/* Counts what lies in one of the products: combinations of classes, axis by axis, that some product has in common. */
static uint64_t count_products(const struct axis *axis, size_t n_axes, const struct signature *common)
{
    uint64_t total = 0;

    if (!n_axes)
        return 1;
    for (const struct class *c = axis->class; c < axis->class + axis->n_classes; c++) {
        struct signature both;
        uint64_t any = 0;

        for (size_t w = 0; w < WORDS; w++)
            any |= both.word[w] = common->word[w] & c->products.word[w];
        if (any)
            total += c->n_values * count_products(axis + 1, n_axes - 1, &both);
    }
    return total;
}

/* ---- arrays ---- */

static int add_product(struct axis axis[EXP_AFFINE_MAX_DIMS], const struct exp_affine_nest *n,
                       const struct exp_affine_access *a, const struct box *b, size_t product)
{
    int err = 0;

    for (size_t d = 0; d < a->n_dims && !err; d++) {
        struct numbers v;

        err = find_values(&a->dim[d], b, n->n_loops, &v);
        if (!err)
            err = add_values(&axis[d], &v, product);
        free(v.low);
    }
    return err;
}

/* Counts the elements of an array that all its accesses touch in some boxes. */
static int count_array(const struct exp_affine_nest *n, const struct boxes *b, const char *array, uint64_t *elements)
{
    struct axis axis[EXP_AFFINE_MAX_DIMS] = { 0 };
    struct signature all;
    size_t n_products = 0, n_dims = 0;
    int err = 0;

    for (size_t i = 0; i < n->n_accesses; i++) {
        const struct exp_affine_access *a = &n->access[i];

        if (strcmp(a->array, array) != 0)
            continue;
        n_dims = a->n_dims;
        for (size_t k = 0; k < b->n && !err; k++)
            err = add_product(axis, n, a, &b->box[k], n_products++);
    }
    for (size_t d = 0; d < n_dims && !err; d++)
        err = classify(&axis[d]);
    memset(&all, 0xff, sizeof all);
    if (!err)
        *elements += count_products(axis, n_dims, &all);
    for (size_t d = 0; d < EXP_AFFINE_MAX_DIMS; d++) {
        free(axis[d].border);
        free(axis[d].class);
    }
    return err;
}

/* Counts each array once, at the first access to it. */
static int count_all(const struct exp_affine_nest *n, const struct boxes *b, uint64_t *elements)
{
    int err = 0;

    *elements = 0;
    for (size_t i = 0; i < n->n_accesses && !err; i++) {
        size_t first = 0;

        while (strcmp(n->access[first].array, n->access[i].array) != 0)
            first++;
        if (first == i)
            err = count_array(n, b, n->access[i].array, elements);
    }
    return err;
}

int exp_footprint_between(const struct exp_affine_nest *n, const struct exp_affine_point *first,
                          const struct exp_affine_point *last, uint64_t *elements)
{
    struct boxes b;

    return split(&b, n, first, last) ? count_all(n, &b, elements) : -EINVAL;
}

int exp_footprint_within(const struct exp_affine_nest *n, size_t n_fixed, const struct exp_affine_point *at,
                         uint64_t *elements)
{
    struct boxes b = { .n = 0 };

    if (n_fixed < n->n_loops)
        add(&b, n, at, n_fixed, 0, n->loop[n_fixed].extent - 1);
    else
        add(&b, n, at, n->n_loops - 1, at->at[n->n_loops - 1], at->at[n->n_loops - 1]);
    return count_all(n, &b, elements);
}

/* ---- working sets ---- */

static int by_size(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static size_t outermost_parallel(const struct exp_affine_nest *n)
{
    size_t l = 0;

    while (!n->loop[l].is_parallel)
        l++;
    return l;
}

static bool is_one_target(const struct exp_affine_nest *n, const struct exp_dependence *d)
{
    return !memcmp(d->first_target.at, d->last_target.at, n->n_loops * sizeof *d->last_target.at);
}

/* Adds the working sets of one dependence. */
static int add_sets(struct exp_working_sets *w, const struct exp_affine_nest *n, const struct exp_dependence *d)
{
    uint64_t *to = &w->elements[w->n];
    int err;

    if (d->spans_parallel) {
        w->n++;
        return exp_footprint_within(n, outermost_parallel(n), &d->source, to);
    }
    w->n++;
    err = exp_footprint_between(n, &d->source, &d->first_target, to);
    if (err || is_one_target(n, d))
        return err;
    w->n++;
    return exp_footprint_between(n, &d->source, &d->last_target, to + 1);
}

int exp_working_sets_find(struct exp_working_sets *w, const struct exp_affine_nest *n)
{
    struct exp_dependence *d = malloc(EXP_MAX_DEPENDENCES * sizeof *d);
    int err = -ENOMEM;

    w->n = 0;
    if (d) {
        const size_t count = exp_affine_dependences(n, d, &err);

        for (size_t i = 0; i < count && !err; i++)
            err = add_sets(w, n, &d[i]);
    }
    free(d);
    qsort(w->elements, w->n, sizeof *w->elements, by_size);
    return err;
}

struct exp_resident exp_working_sets_place(const struct exp_working_sets *w, size_t element_bytes,
                                           const struct exp_sources *s)
{
    struct exp_resident r = { { 0 } };

    for (size_t i = 0; i < w->n; i++) {
        const uint64_t bytes = w->elements[i] * element_bytes;
        size_t at = 0;

        while (at < s->n_caches && r.bytes[at] + bytes > s->source[at].bytes)
            at++;
        r.bytes[at] += bytes;
    }
    return r;
}

double exp_working_sets_cost(const struct exp_resident *r, const struct exp_sources *s)
{
    double cost = 0;

    for (size_t i = 0; i <= s->n_caches; i++)
        cost += (double)r->bytes[i] * s->source[i].latency / s->source[i].bandwidth;
    return cost;
}
