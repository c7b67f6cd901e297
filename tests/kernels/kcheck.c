#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tests/kernels/kcheck.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "kernels/backend/backend.h"
#include "tests/rng.h"

enum { PAGE = 4096 };

int kbuffer_init(struct kbuffer *b, size_t n_floats)
{
    size_t data_bytes = (n_floats * sizeof(float) + PAGE - 1) / PAGE * PAGE;

    b->map_bytes = data_bytes + PAGE;
    b->map = mmap(NULL, b->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (b->map == MAP_FAILED) {
        b->map = NULL;
        return -ENOMEM;
    }
    if (mprotect((char *)b->map + data_bytes, PAGE, PROT_NONE))
        return -errno;
    b->data = (float *)(void *)((char *)b->map + data_bytes) - n_floats;
    return 0;
}

void kbuffer_release(struct kbuffer *b)
{
    if (b->map)
        munmap(b->map, b->map_bytes);
    *b = (struct kbuffer){ 0 };
}

static size_t pick(const size_t *values, size_t n)
{
    return values[rng_below(n)];
}

#define PICK(...) pick((const size_t[]){ __VA_ARGS__ }, sizeof((const size_t[]){ __VA_ARGS__ }) / sizeof(size_t))

struct conv_problem kcheck_random_problem(void)
{
    char why[128];

    for (;;) {
        size_t groups = PICK(1, 1, 1, 1, 2, 3);
        bool depthwise = !rng_below(12);
        struct conv_problem p = {
            .n = PICK(1, 1, 1, 2, 3),
            .c = groups * PICK(1, 2, 3, 5, 8, 17),
            .h = PICK(1, 2, 3, 4, 5, 7, 8, 13, 16, 17),
            .w = PICK(1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 31, 33),
            .k = groups * PICK(1, 2, 5, 6, 7, 8, 23, 24, 25, 49),
            .r = PICK(1, 1, 2, 3, 3, 5, 7),
            .s = PICK(1, 1, 2, 3, 3, 5, 7, 19),
            .stride_h = PICK(1, 1, 1, 2, 3),
            .stride_w = PICK(1, 1, 1, 2, 3),
            .pad_top = PICK(0, 0, 1, 2, 3, 9),
            .pad_left = PICK(0, 0, 1, 2, 3, 20),
            .pad_bottom = PICK(0, 0, 1, 2, 3),
            .pad_right = PICK(0, 0, 1, 2, 3, 18),
            .dilation_h = PICK(1, 1, 1, 2, 3),
            .dilation_w = PICK(1, 1, 1, 2, 3),
            .groups = groups,
        };

        if (!rng_below(4)) /* pointwise */
            p.r = p.s = p.stride_h = p.stride_w = 1, p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 0;
        if (depthwise)
            p.groups = p.c, p.k = p.c * PICK(1, 2);
        if (!conv_problem_finish(&p, SIM_WHY(why)))
            return p;
    }
}

/* A shape with filters as large as the image: a matrix by a vector, or by as many vectors as there are images. */
static struct conv_problem random_matrix(struct conv_problem p)
{
    p.n = (size_t)rng_range(1, 9);
    p.c = p.groups * PICK(1, 7, 16, 17, 33, 64, 130);
    p.k = p.groups * PICK(1, 2, 3, 5, 8, 15, 16, 17, 33, 70);
    p.r = p.h = PICK(1, 1, 2, 3);
    p.s = p.w = PICK(1, 1, 2, 3);
    return p;
}

struct conv_problem kcheck_random_patches(void)
{
    for (;;) {
        struct conv_problem p = kcheck_random_problem();
        char why[128];

        p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 0;
        p.dilation_w = 1;
        p.stride_w = (size_t)rng_range(3, 9);
        p.s = (size_t)rng_range(2, 9);
        p.w = (size_t)rng_range((int64_t)p.s, 90);
        if (!conv_problem_finish(&p, SIM_WHY(why)))
            return p;
    }
}

struct conv_problem kcheck_random_direct(const struct conv_direct *d)
{
    for (;;) {
        struct conv_problem p = kcheck_random_problem();
        uint64_t form = rng_below(3);
        char why[128];

        if (form) {
            p.stride_h = p.stride_w = p.dilation_h = p.dilation_w = p.r = p.s = 1;
            p.pad_top = p.pad_left = p.pad_bottom = p.pad_right = 0;
        }
        if (form == 2)
            p = random_matrix(p);
        if (!conv_problem_finish(&p, SIM_WHY(why)) && conv_direct_suits(d, &p))
            return p;
    }
}

struct conv_sconv_options kcheck_random_options(void)
{
    if (!rng_below(5))
        return (struct conv_sconv_options){ .packs_filters = rng_below(3) == 0, .pads_first = true };
    return (struct conv_sconv_options){
        .packs_filters = rng_below(3) == 0,
        .reads_in_place = rng_below(2),
        .prefetches = rng_below(2),
        .skips_padding = rng_below(2),
    };
}

/* Tells whether row fh of the taps lies above (or else below) the image for all windows. */
static bool lies_outside(const struct conv_problem *p, size_t win0, size_t n_win, size_t fh, bool above)
{
    size_t n = 0;

    for (size_t window = win0; window < win0 + n_win; window++) {
        size_t ih = window / p->q * p->stride_h + fh * p->dilation_h; /* in the padded image */

        n += above ? ih < p->pad_top : ih >= p->pad_top + p->h;
    }
    return n == n_win;
}

struct conv_dead_rows kcheck_dead_rows(const struct conv_problem *p, size_t win0, size_t n_win)
{
    struct conv_dead_rows d = { 0 };

    while (d.above + 1 < p->r && lies_outside(p, win0, n_win, d.above, true))
        d.above++;
    while (d.above + d.below + 1 < p->r && lies_outside(p, win0, n_win, p->r - 1 - d.below, false))
        d.below++;
    return d;
}

const char *kcheck_describe(const struct conv_problem *p)
{
    static char text[256]; /* test program only, one thread */

    snprintf(text, sizeof text,
             "n%zu c%zu h%zu w%zu k%zu r%zu s%zu stride %zux%zu pad %zu,%zu,%zu,%zu dilation %zux%zu groups %zu", p->n,
             p->c, p->h, p->w, p->k, p->r, p->s, p->stride_h, p->stride_w, p->pad_top, p->pad_left, p->pad_bottom,
             p->pad_right, p->dilation_h, p->dilation_w, p->groups);
    return text;
}

static void add_openblas(struct kcheck_ukrs *all)
{
    struct conv_blas blas;
    char why[256];
    bool is_loaded = !conv_blas_load(&blas, SIM_WHY(why));

    assert(conv_gemm_core_count() <= sizeof all->openblas / sizeof all->openblas[0]);
    assert(all->n + conv_gemm_core_count() <= sizeof all->ukr / sizeof all->ukr[0]);
    for (size_t i = 0; i < conv_gemm_core_count(); i++) {
        const struct conv_gemm_core *core = conv_gemm_core_at(i);
        struct conv_blas_parts parts;
        bool is_there = is_loaded && !conv_blas_parts_find(&parts, &blas, core->name, SIM_WHY(why));

        conv_blas_ukr_init(&all->openblas[i], &core->ukr, is_there ? parts.kernel : NULL);
        all->ukr[all->n++] = &all->openblas[i].ukr;
    }
}

const struct kcheck_ukrs *kcheck_ukrs(void)
{
    static struct kcheck_ukrs all; /* test program only, one thread */

    if (!all.n) {
        for (size_t i = 0; i < conv_ukr_count(); i++)
            all.ukr[all.n++] = conv_ukr_at(i);
        add_openblas(&all);
    }
    return &all;
}

const struct conv_ukr *kcheck_random_ukr(void)
{
    const struct kcheck_ukrs *all = kcheck_ukrs();

    return all->ukr[rng_below(all->n)];
}

static void fill(float *x, size_t n, bool integers)
{
    if (integers)
        rng_small_ints(x, n, 4);
    else
        rng_floats(x, n);
}

int kcheck_init(struct kcheck *k, const struct conv_problem *p, bool exact)
{
    size_t n_in = p->n * p->c * p->h * p->w;
    size_t n_filter = p->k * conv_reduction(p);
    int err;

    *k = (struct kcheck){ .p = *p, .exact = exact };
    err = kbuffer_init(&k->buffer[0], n_in);
    if (!err)
        err = kbuffer_init(&k->buffer[1], n_filter);
    if (err) {
        kcheck_release(k);
        return err;
    }
    k->in = k->buffer[0].data;
    k->filter = k->buffer[1].data;
    fill(k->in, n_in, exact);
    fill(k->filter, n_filter, exact);
    return 0;
}

void kcheck_release(struct kcheck *k)
{
    kbuffer_release(&k->buffer[0]);
    kbuffer_release(&k->buffer[1]);
}

/* The tensors a plan writes, each in a guarded buffer full of NaN. */
struct workspace {
    struct kbuffer buffer[CONV_N_TENSORS];
    struct conv_binding bind;
};

static void workspace_release(struct workspace *w)
{
    for (int t = 0; t < CONV_N_TENSORS; t++)
        kbuffer_release(&w->buffer[t]);
}

static int workspace_init(struct workspace *w, const struct kcheck *k, const struct conv_plan *plan)
{
    *w = (struct workspace){ 0 };
    for (int t = 0; t < CONV_N_TENSORS; t++) {
        size_t n = plan->layout.bytes[t] / sizeof(float);
        int err = t == CONV_INPUT || t == CONV_FILTER ? 0 : kbuffer_init(&w->buffer[t], n);

        if (err) {
            workspace_release(w);
            return err;
        }
        for (size_t i = 0; i < n && w->buffer[t].data; i++)
            w->buffer[t].data[i] = NAN;
        w->bind.addr[t] = (uintptr_t)w->buffer[t].data;
    }
    w->bind.addr[CONV_INPUT] = (uintptr_t)k->in;
    w->bind.addr[CONV_FILTER] = (uintptr_t)k->filter;
    return 0;
}

/* Compares a plane of Winograd's output. F(2x2) of small integers is exact: halves and quarters of integers. */
static bool is_wrong(const struct kcheck *k, const struct conv_plan *plan, const double *bound, size_t first,
                     const double *want, const float *out, struct conv_mismatch *where)
{
    const bool exact = k->exact && plan->winograd.kernel->m == 2;

    for (size_t i = 0; i < conv_windows(&k->p); i++) {
        const double got = (double)out[first + i];

        *where = (struct conv_mismatch){ first + i, got, want[i], exact ? 0 : bound[i] };
        if (!(fabs(got - want[i]) <= where->bound))
            return true;
    }
    return false;
}

static int compare_winograd(const struct kcheck *k, const struct conv_plan *plan, const struct workspace *w,
                            struct conv_mismatch *where)
{
    const struct conv_problem *p = &k->p;
    const size_t n = conv_windows(p);
    double *want = calloc(2 * n, sizeof *want), *bound = want + n;
    int err = want ? 0 : -ENOMEM;

    for (size_t i = 0; i < p->n * p->k && !err; i++) {
        const size_t image = i / p->k, f = i % p->k;

        conv_naive_plane(p, k->in, k->filter, image, f, want, NULL);
        conv_winograd_error_bounds(plan->winograd.kernel->m, p, k->in + image * p->c * p->h * p->w,
                                   k->filter + f * conv_reduction(p), bound);
        if (is_wrong(k, plan, bound, i * n, want, w->buffer[CONV_OUTPUT].data, where))
            err = -EILSEQ;
    }
    free(want);
    return err;
}

static int compare(const struct kcheck *k, const struct conv_plan *plan, const struct workspace *w,
                   struct conv_mismatch *where)
{
    if (plan->algorithm == CONV_WINOGRAD)
        return compare_winograd(k, plan, w, where);
    return conv_naive_compare(&k->p, k->in, k->filter, w->buffer[CONV_OUTPUT].data, k->exact, where);
}

int kcheck_run_with(struct kcheck *k, const struct conv_plan *plan,
                    int (*run)(const struct conv_plan *plan, const struct conv_binding *bind),
                    struct conv_mismatch *where)
{
    struct workspace w;
    int err = workspace_init(&w, k, plan);

    *where = (struct conv_mismatch){ 0 };
    if (err)
        return err;
    err = run(plan, &w.bind);
    if (!err)
        err = compare(k, plan, &w, where);
    workspace_release(&w);
    return err;
}

static int execute(const struct conv_plan *plan, const struct conv_binding *bind)
{
    struct conv_exec exec;
    int err;

    conv_exec_init(&exec, plan, bind);
    err = conv_nest_pack_filters(plan, &exec.base);
    return err ? err : conv_nest_run(plan, &exec.base);
}

int kcheck_run(struct kcheck *k, const struct conv_plan *plan, struct conv_mismatch *where)
{
    return kcheck_run_with(k, plan, execute, where);
}

int kcheck_run_base(struct kcheck *k, const struct conv_plan *plan, const struct conv_blas *blas,
                    struct conv_mismatch *where)
{
    struct workspace w;
    int err = workspace_init(&w, k, plan);

    *where = (struct conv_mismatch){ 0 };
    if (err)
        return err;
    err = conv_base_run(plan, &w.bind, blas);
    if (!err)
        err = compare(k, plan, &w, where);
    workspace_release(&w);
    return err;
}

static bool is_left_out(const struct conv_pack_windows_args *a, size_t i, size_t fh)
{
    size_t first = a->live_win ? i / a->live_win * a->live_win : 0, left = a->n_win - first;
    struct conv_dead_rows d;

    if (!a->live_win)
        return false;
    d = kcheck_dead_rows(a->p, a->win0 + first, left < a->live_win ? left : a->live_win);
    return fh < d.above || fh >= a->p->r - d.below;
}

/* Returns the right element at an index of the panels [tile][n_c][r][s][width], or [tile][r][n_c][s][width]. */
static float panel_element(const struct conv_pack_windows_args *a, size_t index, float left_out)
{
    const struct conv_problem *p = a->p;
    size_t tile = index / a->panel_step, i = tile * a->width + index % a->width;
    size_t step = index % a->panel_step / a->width, row = step / p->s;
    size_t channel = a->live_win ? row % a->n_c : row / p->r, fh = a->live_win ? row / a->n_c : row % p->r;
    size_t tap = fh * p->s + step % p->s;
    size_t window = a->win0 + i;
    size_t ih = window / p->q * p->stride_h + tap / p->s * p->dilation_h;
    size_t iw = window % p->q * p->stride_w + tap % p->s * p->dilation_w;

    if (is_left_out(a, tile * a->width, fh))
        return left_out;
    if (i >= a->n_win || ih < p->pad_top || ih - p->pad_top >= p->h || iw < p->pad_left || iw - p->pad_left >= p->w)
        return 0;
    return conv_in_ptr(a->in)[(channel * p->h + ih - p->pad_top) * p->w + iw - p->pad_left];
}

size_t kcheck_random_width(const struct conv_pack_windows *pack)
{
    return pack->granule * (size_t)rng_range(1, (int64_t)(pack->max_width / pack->granule));
}

size_t kcheck_random_live(size_t width)
{
    return width * rng_below(4);
}

int kcheck_pack_windows(const struct conv_pack_windows *pack, const struct conv_problem *p, size_t width, size_t *index)
{
    struct conv_pack_windows_args a = { .p = p, .width = width, .live_win = kcheck_random_live(width) };
    struct kbuffer in = { 0 }, panel = { 0 };
    const float untouched = 1e9f; /* no input */
    size_t n;
    int err;

    a.win0 = rng_below(conv_windows(p));
    a.n_win = (size_t)rng_range(1, (int64_t)(conv_windows(p) - a.win0));
    a.n_c = p->c;
    a.panel_step = a.n_c * p->r * p->s * a.width;
    n = (a.n_win + a.width - 1) / a.width * a.panel_step;
    err = kbuffer_init(&in, p->c * p->h * p->w);
    if (!err)
        err = kbuffer_init(&panel, n);
    if (!err) {
        rng_floats(in.data, p->c * p->h * p->w);
        for (size_t i = 0; i < n; i++)
            panel.data[i] = untouched;
        a.in = (uintptr_t)in.data;
        a.panel = (uintptr_t)panel.data;
        pack->fn(pack, &a);
        for (*index = 0; *index < n && panel.data[*index] == panel_element(&a, *index, untouched);)
            ++*index;
        err = *index < n ? -EILSEQ : 0;
    }
    kbuffer_release(&in);
    kbuffer_release(&panel);
    return err;
}

/* Returns where element i of a step is, of n side by side: in panels of at most `full`, each with all k steps. */
static size_t in_panels(size_t i, size_t n, size_t full, bool splits, size_t k, size_t step)
{
    size_t first = 0, width = conv_tile_extent(n, full, full, splits);

    for (; i >= first + width; width = conv_tile_extent(n - first, full, full, splits))
        first += width;
    return first * k + step * width + i - first;
}

/* Returns the input element of a step's multiplication. */
static float window_element(const struct conv_ukr_args *a, const struct conv_ukr *u, const float *in, size_t i,
                            size_t step)
{
    size_t wide = conv_ukr_win_panel(u);

    if (u->splits_edges)
        return in[in_panels(i, a->n_win, u->n_win, true, a->k, step)];
    return in[i / wide * conv_ukr_in_step(a, wide) + i % wide + step * conv_ukr_ld_in(u, a)];
}

static float filter_element(const struct conv_ukr_args *a, const struct conv_ukr *u, const float *filter, size_t f,
                            size_t step)
{
    return filter[in_panels(f, a->n_f, u->f_panel, u->splits_edges, a->k, step)];
}

/* Returns the expected output element, from integers: exact. */
static float tile_element(const struct conv_ukr_args *a, const struct conv_ukr *u, const struct kbuffer *in,
                          const struct kbuffer *filter, size_t f, size_t i)
{
    float sum = 0;

    for (size_t t = 0; t < a->k; t++)
        sum += window_element(a, u, in->data, i, t) * filter_element(a, u, filter->data, f, t);
    return sum;
}

static bool tile_is_right(const struct conv_ukr_args *a, const struct conv_ukr *u, const struct kbuffer *in,
                          const struct kbuffer *filter, const float *before, const float *out, size_t n_out)
{
    for (size_t e = 0; e < n_out; e++) {
        size_t f = e / a->ld_out, i = e % a->ld_out;
        bool inside = f < a->n_f && i < a->n_win;
        float want = before[e];

        if (inside) {
            want = tile_element(a, u, in, filter, f, i);
            want += a->accumulate ? before[e] : 0;
        }
        if (out[e] != want)
            return false;
    }
    return true;
}

int kcheck_ukr(const struct conv_ukr *u, size_t n_win, size_t n_f, size_t k)
{
    struct conv_ukr_args a = { .k = k, .n_win = n_win, .n_f = n_f, .ld_out = n_win + rng_below(5) + 1 };
    size_t n_in = k * conv_ukr_in_width(u, n_win), n_out = n_f * a.ld_out;
    struct kbuffer in = { 0 }, filter = { 0 }, out = { 0 };
    float *before = calloc(n_out, sizeof *before);
    int err = before ? 0 : -ENOMEM;

    if (u->reads_in_place && rng_below(2)) {
        a.ld_in = n_win + rng_below(9);
        n_in = (k - 1) * a.ld_in + n_win;
    } else if (u->win_panel && rng_below(2)) {
        a.in_step = (k + rng_below(4)) * u->win_panel;
        n_in = (conv_ukr_in_width(u, n_win) / u->win_panel - 1) * a.in_step + k * u->win_panel;
    }

    err = err ? err : kbuffer_init(&in, n_in);
    err = err ? err : kbuffer_init(&filter, k * n_f);
    err = err ? err : kbuffer_init(&out, n_out);
    for (int accumulate = 0; accumulate < 2 && !err; accumulate++) {
        rng_small_ints(in.data, n_in, 4);
        rng_small_ints(filter.data, k * n_f, 4);
        rng_small_ints(before, n_out, 100);
        memcpy(out.data, before, n_out * sizeof *before);
        a.in = (uintptr_t)in.data;
        a.filter = (uintptr_t)filter.data;
        a.out = (uintptr_t)out.data;
        a.accumulate = accumulate;
        u->fn(u, &a);
        err = tile_is_right(&a, u, &in, &filter, before, out.data, n_out) ? 0 : -EILSEQ;
    }
    free(before);
    kbuffer_release(&in);
    kbuffer_release(&filter);
    kbuffer_release(&out);
    return err;
}
