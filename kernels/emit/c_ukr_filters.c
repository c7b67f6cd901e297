/* Micro-kernels with filters side by side: each window is broadcast, in place or packed. */
#include <inttypes.h>

#include "kernels/emit/c_ukr_print.h"
#include "kernels/shape/sizes.h"

static size_t filter_vectors(const struct conv_routine_ukr *u)
{
    return ceil_div(u->n_f, u->lanes);
}

/* ---- products ---- */

static void print_filter_vectors(const struct conv_c_ukr *p)
{
    const struct conv_routine_ukr *u = p->u;
    size_t n_v = filter_vectors(u), last = (u->n_f - 1) % u->lanes + 1;

    for (size_t v = 0; v < n_v; v++)
        fprintf(p->out,
                v + 1 < n_v || last == u->lanes ? "            const vec f%zu = load(filter + %zu);\n"
                                                : "            const vec f%zu = load_first(filter + %zu, %zu);\n",
                v, v * u->lanes, last);
}

/* A window's products, with accumulator number i. */
static void print_window(const struct conv_c_ukr *p, size_t w, size_t i)
{
    fprintf(p->out, "            vec w%zu = broadcast(at + %" PRId64 ");\n            KEEP(w%zu);\n", w,
            p->u->window[p->first + w], w);
    for (size_t v = 0; v < filter_vectors(p->u); v++)
        fprintf(p->out, "            c%zu_%zu = multiply_add(f%zu, w%zu, c%zu_%zu);\n", i, v, v, w, i, v);
}

/* A tap's products, for the windows whose bits are set; accumulators from number `first` on. */
static void print_products(const struct conv_c_ukr *p, uint32_t live, size_t first)
{
    print_filter_vectors(p);
    for (size_t w = 0; w < p->n_win; w++) {
        if (live >> w & 1)
            print_window(p, w, first + w);
    }
}

/* A tap's products, for any windows. */
static void print_any_products(const struct conv_c_ukr *p)
{
    print_filter_vectors(p);
    for (size_t w = 0; w < p->n_win; w++) {
        fprintf(p->out, "            if (live >> %zu & 1) {\n", w);
        print_window(p, w, w);
        fprintf(p->out, "            }\n");
    }
}

/* ---- tap by tap ---- */

/* Sets of live windows, neither all nor none, with code of their own. */
enum { MOST_LIVES = 3 };

struct lives {
    size_t n;
    uint32_t live[MOST_LIVES];
    bool are_all; /* there are no more */
};

static void add_live(struct lives *l, uint32_t live)
{
    for (size_t i = 0; i < l->n; i++) {
        if (l->live[i] == live)
            return;
    }
    if (l->n < MOST_LIVES)
        l->live[l->n++] = live;
    else
        l->are_all = false;
}

static struct lives lives_of(const struct conv_c_ukr *p)
{
    struct lives l = { .are_all = true };

    for (size_t i = 0; i < p->program->n_routines; i++) {
        const struct conv_routine *r = &p->program->routine[i];

        for (size_t t = 0; conv_c_has_code_of(r, p->r) && t < conv_c_taps(r); t++) {
            uint32_t live = conv_c_live(r, t) >> p->first & conv_c_all_windows(p);

            if (live && live != conv_c_all_windows(p))
                add_live(&l, live);
        }
    }
    return l;
}

static void print_whole(const struct conv_c_ukr *p, size_t g)
{
    (void)g;
    print_products(p, conv_c_all_windows(p), 0);
}

/* The taps of a group one by one: taps that read no padding, sets of windows with code of their own, and other sets. */
static void print_any(const struct conv_c_ukr *p)
{
    const struct lives l = lives_of(p);

    fprintf(p->out,
            "        for (size_t g = 0; g < %zu; g++, filter += %zu) {\n"
            "        const uint32_t live = tap[g].live >> %zu & 0x%" PRIx32 ";\n"
            "        const float *at = in + tap[g].in;\n\n        if (live == 0x%" PRIx32 ") {\n",
            p->u->group, p->u->n_f, p->first, conv_c_all_windows(p), conv_c_all_windows(p));
    print_products(p, conv_c_all_windows(p), 0);
    for (size_t i = 0; i < l.n; i++) {
        fprintf(p->out, "        } else if (live == 0x%" PRIx32 ") {\n", l.live[i]);
        print_products(p, l.live[i], 0);
    }
    if (!l.are_all) {
        fprintf(p->out, "        } else if (live) {\n");
        print_any_products(p);
    }
    fprintf(p->out, "        }\n        }\n");
}

static void print_walk(const struct conv_c_ukr *p)
{
    static const struct conv_c_walk walk = { print_whole, print_any };

    conv_c_print_walk(p, &walk);
}

/* ---- a single tap ---- */

/* Steps with accumulators of their own, as in c_ukr_few.c, if there are registers. */
static size_t n_sets(const struct conv_c_ukr *p)
{
    static const size_t sets[] = { 1, 4, 3, 2, 2 };
    const size_t registers = p->u->lanes > 8 ? 28 : 12, n = p->n_win * filter_vectors(p->u);

    return !conv_c_walks(p->r) && p->n_win < sizeof sets / sizeof sets[0] ? min_size(sets[p->n_win], registers / n) : 1;
}

static void print_single(const struct conv_c_ukr *p, size_t set)
{
    const struct conv_routine_ukr *u = p->u;

    fprintf(p->out, "        {\n            const float *at = in;\n\n");
    print_products(p, conv_c_all_windows(p), set * p->n_win);
    fprintf(p->out, "        }\n");
    conv_c_print_asking(p);
    fprintf(p->out, "        t++;\n        in += %zu;\n        filter += %zu;\n", u->ld_in, u->n_f);
}

static void print_singles(const struct conv_c_ukr *p)
{
    const struct conv_routine_ukr *u = p->u;
    size_t sets = n_sets(p), whole = u->k / sets * sets, n_win = p->n_win;

    fprintf(p->out, "    size_t t = 0;\n\n");
    if (whole) {
        fprintf(p->out, "    while (t < %zu) {\n", whole);
        for (size_t s = 0; s < sets; s++)
            print_single(p, s);
        fprintf(p->out, "    }\n");
    }
    if (whole < u->k) {
        fprintf(p->out, "    while (t < %zu) {\n", u->k);
        print_single(p, 0);
        fprintf(p->out, "    }\n");
    }
    for (size_t i = n_win; i < sets * n_win; i++)
        for (size_t v = 0; v < filter_vectors(u); v++)
            fprintf(p->out, "    c%zu_%zu = add(c%zu_%zu, c%zu_%zu);\n", i % n_win, v, i % n_win, v, i, v);
}

static void print_sums(const struct conv_c_ukr *p)
{
    conv_c_print_zeros(p, n_sets(p) * p->n_win, filter_vectors(p->u));
    (conv_c_walks(p->r) ? print_walk : print_singles)(p);
}

/* ---- register tiles of a call ---- */

/* The register tile number i of a routine; the first tile prefetches. */
static struct conv_c_ukr part_of(const struct conv_c_ukr *p, size_t i)
{
    struct conv_c_ukr part = *p;

    part.asks = p->asks && !i;
    part.n_win = p->u->part[i];
    for (size_t before = 0; before < i; before++)
        part.first += p->u->part[before];
    return part;
}

static void print_part(const struct conv_c_ukr *p, size_t i)
{
    size_t n_v = filter_vectors(p->u);

    fprintf(p->out, "INLINE void part%zu_%s_%zu(const float *in, const float *filter, vec *sum", i, p->prefix,
            p->number);
    conv_c_print_table_parameters(p);
    fprintf(p->out, ")\n{\n");
    print_sums(p);
    for (size_t w = 0; w < p->n_win; w++)
        for (size_t v = 0; v < n_v; v++)
            fprintf(p->out, "    sum[%zu] = c%zu_%zu;\n", (p->first + w) * n_v + v, w, v);
    fprintf(p->out, "}\n\n");
}

void conv_c_print_parts(const struct conv_c_ukr *p)
{
    for (size_t i = 0; i < p->u->n_parts; i++) {
        const struct conv_c_ukr part = part_of(p, i);

        print_part(&part, i);
    }
}

/* Up to a vector of windows of a vector of filters v, turned to rows of windows. */
static void print_block(const struct conv_c_ukr *p, size_t first, size_t v)
{
    const struct conv_routine_ukr *u = p->u;
    size_t n_f = min_size(u->n_f - v * u->lanes, u->lanes), n_win = min_size(u->n_win - first, u->lanes);

    fprintf(p->out, "    vec row%zu_%zu[LANES] = {", v, first);
    for (size_t w = 0; w < u->lanes; w++) {
        if (w < n_win)
            fprintf(p->out, " sum[%zu],", (first + w) * filter_vectors(u) + v);
        else
            fprintf(p->out, " zero(),");
    }
    fprintf(p->out, " };\n    transpose(row%zu_%zu);\n", v, first);
    for (size_t f = 0; f < n_f; f++) {
        char name[96];

        snprintf(name, sizeof name, "row%zu_%zu[%zu]", v, first, f);
        conv_c_print_update(p, name, (v * u->lanes + f) * u->ld_out + first, n_win);
    }
}

/* Register tile by register tile, then all outputs. */
static void print_all_parts(const struct conv_c_ukr *p)
{
    const struct conv_routine_ukr *u = p->u;

    fprintf(p->out, "    vec sum[%zu];\n\n", u->n_win * filter_vectors(u));
    for (size_t i = 0; i < u->n_parts; i++) {
        fprintf(p->out, "    part%zu_%s_%zu(in, filter, sum", i, p->prefix, p->number);
        if (conv_c_walks(p->r))
            fprintf(p->out, ", taps, is_whole >> %zu", i);
        fprintf(p->out, "%s);\n", p->asks && !i ? ", ahead, n_ahead, n_steps" : "");
    }
    for (size_t v = 0; v < filter_vectors(u); v++)
        for (size_t first = 0; first < u->n_win; first += u->lanes)
            print_block(p, first, v);
}

/* ---- a register tile of all windows ---- */

/* Turns vectors of filters to vectors of windows. */
static void print_transpose(const struct conv_c_ukr *p, size_t v)
{
    fprintf(p->out, "    vec row%zu[LANES] = {", v);
    for (size_t w = 0; w < p->u->lanes; w++) {
        fprintf(p->out, "%s", w % 8 ? " " : "\n        ");
        if (w < p->u->n_win)
            fprintf(p->out, "c%zu_%zu,", w, v);
        else
            fprintf(p->out, "zero(),");
    }
    fprintf(p->out, "\n    };\n    transpose(row%zu);\n", v);
}

static void print_rows(const struct conv_c_ukr *p, size_t first, size_t v)
{
    const struct conv_routine_ukr *u = p->u;
    size_t n = min_size(u->n_win - first, u->out_windows), n_f = min_size(u->n_f - v * u->lanes, u->lanes);

    for (size_t f = 0; f < n_f; f++)
        fprintf(p->out, "    %s_part(out + %zu, row%zu[%zu], %zu, %zu);\n", u->accumulate ? "add" : "store",
                (v * u->lanes + f) * u->ld_out, v, f, first, n);
}

static void print_one_part(const struct conv_c_ukr *p)
{
    const struct conv_routine_ukr *u = p->u;
    size_t n_v = filter_vectors(u);
    bool at_once = u->n_win <= u->out_windows;

    print_sums(p);
    for (size_t v = 0; v < n_v; v++) {
        print_transpose(p, v);
        if (at_once)
            print_rows(p, 0, v);
    }
    for (size_t first = 0; first < u->n_win && !at_once; first += u->out_windows)
        for (size_t v = 0; v < n_v; v++)
            print_rows(p, first, v);
}

void conv_c_print_by_filters(const struct conv_c_ukr *p)
{
    (p->u->n_parts ? print_all_parts : print_one_part)(p);
}
