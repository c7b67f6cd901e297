#include "experiments/papers/polydl/analysis/analysis.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/tasks.h"
#include "experiments/base/program.h"
#include "experiments/base/stats.h"

/* ---- sources ---- */

enum { FIRST_SHARED_LEVELS = 3, ELEMENT_BYTES = sizeof(float) };

/* Returns the stated bandwidth, or a line in every latency. */
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

    assert(n_cores > 0);
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
    MAX_SETS = (EXP_AFFINE_MAX_ACCESSES * MAX_BOXES + 63) / 64 * 64, /* products of a single array */
};

/* ---- iterations ---- */

/* Iterations with independent iterators: from low to high, both included. */
struct box {
    uint64_t low[EXP_AFFINE_MAX_LOOPS], high[EXP_AFFINE_MAX_LOOPS];
};

struct boxes {
    struct box box[MAX_BOXES];
    size_t n;
};

/* Adds a box: the iterations that agree with `at` before loop `free`, have low..high in `free`, and anything inside. */
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

/* Lists the loops that move a subscript within a box, the smallest step first. */
static size_t list_terms(const struct exp_affine_subscript *s, const struct box *b, size_t n_loops,
                         struct term terms[EXP_AFFINE_MAX_LOOPS])
{
    size_t n = 0;

    for (size_t l = 0; l < n_loops; l++) {
        if (s->step[l] && b->high[l] > b->low[l])
            terms[n++] = (struct term){ s->step[l], b->high[l] - b->low[l] + 1 };
    }
    qsort(terms, n, sizeof *terms, exp_by_first_member);
    return n;
}

/* Repeats all progressions, shifted by each multiple of a step. */
static void repeat(struct numbers *v, const struct term *t)
{
    v->low = exp_resize(v->low, v->n * t->times, sizeof *v->low);
    for (uint64_t i = 1; i < t->times; i++) {
        for (size_t k = 0; k < v->n; k++)
            v->low[i * v->n + k] = v->low[k] + i * t->step;
    }
    v->n *= t->times;
}

/* Finds the values of a subscript in a box. */
static struct numbers values_of(const struct exp_affine_subscript *s, const struct box *b, size_t n_loops)
{
    struct term terms[EXP_AFFINE_MAX_LOOPS];
    const size_t n = list_terms(s, b, n_loops, terms);
    struct numbers v = { .low = exp_new(1, sizeof *v.low), .n = 1, .count = 1, .stride = 1 };

    *v.low = s->first;
    for (size_t l = 0; l < n_loops; l++)
        *v.low += s->step[l] * b->low[l];
    for (size_t i = 0; i < n; i++) {
        if (v.n == 1 && v.count == 1) {
            v.count = terms[i].times;
            v.stride = terms[i].step;
        } else if (v.n == 1 && terms[i].step % v.stride == 0 && terms[i].step / v.stride <= v.count) {
            v.count += (terms[i].times - 1) * (terms[i].step / v.stride);
        } else {
            repeat(&v, &terms[i]);
        }
    }
    return v;
}

/* ---- overlapping products ---- */

enum { WORDS = MAX_SETS / 64 };

/* The products that have a value. */
struct signature {
    uint64_t word[WORDS];
};

/* A number at which a product's set of values begins or has ended. */
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
    size_t n_borders;
    struct class *class;
    size_t n_classes;
};

static void add_interval(struct axis *a, uint64_t low, uint64_t count, size_t product)
{
    const struct border begin = { low, product, true }, end = { low + count, product, false };

    *(struct border *)exp_append(&a->border, &a->n_borders, sizeof begin) = begin;
    *(struct border *)exp_append(&a->border, &a->n_borders, sizeof end) = end;
}

/* Adds a product's values to the product's axis, as intervals: neighbours where the stride is 1, else single values. */
static void add_values(struct axis *a, const struct numbers *v, size_t product)
{
    const bool is_dense = v->stride == 1;

    for (size_t i = 0; i < v->n; i++) {
        if (is_dense)
            add_interval(a, v->low[i], v->count, product);
        for (uint64_t k = 0; !is_dense && k < v->count; k++)
            add_interval(a, v->low[i] + k * v->stride, 1, product);
    }
}

/* Counts n values in the class of their products. */
static void add_to_class(struct axis *a, const struct signature *products, uint64_t n)
{
    size_t c = 0;

    while (c < a->n_classes && memcmp(&a->class[c].products, products, sizeof *products) != 0)
        c++;
    if (c == a->n_classes)
        ((struct class *)exp_append(&a->class, &a->n_classes, sizeof *a->class))->products = *products;
    a->class[c].n_values += n;
}

/* Sorts the values of an axis into classes. A product may hold a value in several intervals. */
static void classify(struct axis *a)
{
    uint32_t depth[MAX_SETS] = { 0 };
    struct signature now = { 0 };
    size_t n_open = 0;

    qsort(a->border, a->n_borders, sizeof *a->border, exp_by_first_member);
    for (size_t i = 0; i < a->n_borders; i++) {
        const struct border *b = &a->border[i];
        const uint64_t bit = UINT64_C(1) << b->product % 64;

        if (n_open && b->at > b[-1].at)
            add_to_class(a, &now, b->at - b[-1].at);
        if (b->begins ? !depth[b->product]++ : !--depth[b->product]) {
            now.word[b->product / 64] ^= bit;
            n_open += b->begins ? 1 : (size_t)-1;
        }
    }
}

/* Counts the elements of all products: combinations of classes, axis by axis, with a common product. */
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

static void add_product(struct axis axis[EXP_AFFINE_MAX_DIMS], const struct exp_affine_nest *n,
                        const struct exp_affine_access *a, const struct box *b, size_t product)
{
    for (size_t d = 0; d < a->n_dims; d++) {
        struct numbers v = values_of(&a->dim[d], b, n->n_loops);

        add_values(&axis[d], &v, product);
        free(v.low);
    }
}

/* Counts the elements of an array that all accesses touch in some boxes. */
static uint64_t count_array(const struct exp_affine_nest *n, const struct boxes *b, const char *array)
{
    struct axis axis[EXP_AFFINE_MAX_DIMS] = { 0 };
    struct signature all;
    size_t n_products = 0, n_dims = 0;
    uint64_t elements;

    for (size_t i = 0; i < n->n_accesses; i++) {
        const struct exp_affine_access *a = &n->access[i];

        if (strcmp(a->array, array) != 0)
            continue;
        n_dims = a->n_dims;
        for (size_t k = 0; k < b->n; k++)
            add_product(axis, n, a, &b->box[k], n_products++);
    }
    for (size_t d = 0; d < n_dims; d++)
        classify(&axis[d]);
    memset(&all, 0xff, sizeof all);
    elements = count_products(axis, n_dims, &all);
    for (size_t d = 0; d < n_dims; d++) {
        free(axis[d].border);
        free(axis[d].class);
    }
    return elements;
}

/* Counts each array once, at the array's first access. */
static uint64_t count_all(const struct exp_affine_nest *n, const struct boxes *b)
{
    uint64_t elements = 0;

    for (size_t i = 0; i < n->n_accesses; i++) {
        if (exp_affine_first_access(n, i) == i)
            elements += count_array(n, b, n->access[i].array);
    }
    return elements;
}

int exp_footprint_between(const struct exp_affine_nest *n, const struct exp_affine_point *first,
                          const struct exp_affine_point *last, uint64_t *elements)
{
    struct boxes b;

    if (!split(&b, n, first, last))
        return -EINVAL;
    *elements = count_all(n, &b);
    return 0;
}

uint64_t exp_footprint_within(const struct exp_affine_nest *n, size_t n_fixed, const struct exp_affine_point *at)
{
    struct boxes b = { .n = 0 };

    if (n_fixed < n->n_loops)
        add(&b, n, at, n_fixed, 0, n->loop[n_fixed].extent - 1);
    else
        add(&b, n, at, n->n_loops - 1, at->at[n->n_loops - 1], at->at[n->n_loops - 1]);
    return count_all(n, &b);
}

/* ---- working sets ---- */

/* Adds the working sets of a dependence. */
static void add_sets(struct exp_working_sets *w, const struct exp_affine_nest *n, const struct exp_dependence *d)
{
    size_t parallel = 0;

    while (d->spans_parallel && !n->loop[parallel].is_parallel)
        parallel++;
    if (d->spans_parallel) {
        w->elements[w->n++] = exp_footprint_within(n, parallel, &d->source);
        return;
    }
    exp_footprint_between(n, &d->source, &d->first_target, &w->elements[w->n++]);
    if (memcmp(d->first_target.at, d->last_target.at, n->n_loops * sizeof *d->last_target.at) != 0)
        exp_footprint_between(n, &d->source, &d->last_target, &w->elements[w->n++]);
}

void exp_working_sets_find(struct exp_working_sets *w, const struct exp_affine_nest *n)
{
    struct exp_dependence *d = exp_new(EXP_MAX_DEPENDENCES, sizeof *d);
    const size_t count = exp_affine_dependences(n, d);

    w->n = 0;
    for (size_t i = 0; i < count; i++)
        add_sets(w, n, &d[i]);
    free(d);
    qsort(w->elements, w->n, sizeof *w->elements, exp_by_first_member);
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

/* ---- costs of a variant ---- */

/* Makes the variant for this many threads. A single thread runs every loop in sequence; two have an image each. */
static int variant_of_threads(struct exp_variant *v, const struct exp_polydl_layer *l, size_t variant,
                              enum exp_polydl_threads threads, struct exp_why *why)
{
    struct exp_variant_source source = l->source;
    char text[sizeof v->name + 8];

    *v = l->variants.variant[variant];
    for (size_t i = 0; i < v->nest.n_loops && threads == EXP_POLYDL_ONE; i++)
        v->nest.loop[i].is_parallel = false;
    if (threads == EXP_POLYDL_ONE)
        return 0;
    source.n_images = exp_polydl_n_threads(threads);
    exp_say(text, sizeof text, "%s%s", source.problem ? "img* " : "", l->variants.variant[variant].name);
    return exp_variant_read(v, &source, text, why);
}

static int analyse_polydl(struct exp_analysis *a, const struct exp_sources *s, const struct exp_polydl_layer *l,
                          size_t variant, enum exp_polydl_threads threads, struct exp_why *why)
{
    struct exp_working_sets *w = exp_new(1, sizeof *w);
    struct exp_variant *v = exp_new(1, sizeof *v);
    const int err = variant_of_threads(v, l, variant, threads, why);
    const uint64_t begin = ctr_thread_ns();

    if (!err) {
        exp_working_sets_find(w, &v->nest);
        a->polydl[threads].resident = exp_working_sets_place(w, sizeof(float), s);
        a->polydl[threads].cost = exp_working_sets_cost(&a->polydl[threads].resident, s);
        a->polydl[threads].seconds = 1e-9 * (double)(ctr_thread_ns() - begin);
    }
    free(v);
    free(w);
    return err;
}

static int analyse_haystack(struct exp_analysis *a, const struct exp_sources *s, const struct exp_variant *v)
{
    const uint64_t begin = ctr_thread_ns();
    const int err = exp_haystack_count(&a->haystack, v, s);

    a->haystack_cycles = exp_haystack_cycles(&a->haystack, s);
    a->haystack_seconds = 1e-9 * (double)(ctr_thread_ns() - begin);
    return err;
}

/* ---- all variants ---- */

static const double variant_seconds = 0.03; /* of a usual computer, both numbers of threads */

struct job {
    size_t layer, variant;
};

struct work {
    struct exp_analyses *analyses;
    const struct exp_polydl *polydl;
    struct job *job;
    struct exp_progress *progress;
    double job_seconds;
    struct exp_why *why;
};

static int analyse(void *ctx, size_t index, size_t thread, const struct exp_pool *pool)
{
    const struct work *w = ctx;
    const struct job *j = &w->job[index];
    const struct exp_polydl_layer *l = &w->polydl->layer[j->layer];
    struct exp_analysis *a = &w->analyses->of[j->layer][j->variant];
    struct exp_why why = { "" };
    int err = 0;

    (void)thread;
    if (w->progress)
        exp_progress_begin(w->progress, EXP_WORK_ANALYSE, l->name, "analysing");
    for (enum exp_polydl_threads t = 0; t < EXP_N_POLYDL_THREADS && !err; t++)
        err = analyse_polydl(a, &w->analyses->sources[t], l, j->variant, t, &why);
    if (!err) {
        err = analyse_haystack(a, &w->analyses->sources[EXP_POLYDL_ONE], &l->variants.variant[j->variant]);
        if (err)
            exp_say(why.text, sizeof why.text, "%s: misses cannot be counted: %s", l->name, strerror(-err));
    }
    if (w->progress)
        exp_progress_step(w->progress, EXP_WORK_ANALYSE, w->job_seconds);
    if (err && !exp_pool_stopped(pool))
        exp_fail(w->why, err, "%s", why.text);
    return err;
}

double exp_analyses_seconds(const struct exp_polydl *p, size_t n_jobs)
{
    return variant_seconds * (double)exp_polydl_n_variants(p) / (double)n_jobs;
}

int exp_analyses_make(struct exp_analyses *a, const struct exp_polydl *p, size_t n_jobs, struct exp_progress *progress,
                      struct exp_why *why)
{
    struct work w = {
        .analyses = a,
        .polydl = p,
        .job = exp_new(exp_polydl_n_variants(p) + 1, sizeof *w.job),
        .progress = progress,
        .job_seconds = variant_seconds / (double)n_jobs,
        .why = why,
    };
    size_t n = 0;
    int err;

    *a = (struct exp_analyses){ .n_layers = p->n_layers, .of = exp_new(p->n_layers + 1, sizeof *a->of) };
    for (enum exp_polydl_threads t = 0; t < EXP_N_POLYDL_THREADS; t++)
        a->sources[t] = exp_sources_of(p->machine, exp_polydl_n_threads(t));
    for (size_t i = 0; i < p->n_layers; i++) {
        a->of[i] = exp_new(p->layer[i].variants.n + 1, sizeof *a->of[i]);
        for (size_t v = 0; v < p->layer[i].variants.n; v++)
            w.job[n++] = (struct job){ i, v };
    }
    err = exp_pool_run(n, n_jobs, analyse, &w, exp_interrupted, NULL);
    free(w.job);
    if (err)
        exp_analyses_release(a);
    return err;
}

void exp_analyses_release(struct exp_analyses *a)
{
    for (size_t i = 0; i < a->n_layers; i++)
        free(a->of[i]);
    free(a->of);
    *a = (struct exp_analyses){ 0 };
}
