#include "kernels/emit/c_ukr_print.h"

#include "kernels/shape/sizes.h"

enum { GROUP = 4, BLOCK = 4, PANEL = 6, BLOCK_VECTORS = 3 };

struct printer {
    FILE *out;
    const struct conv_routine_ukr *u;
    bool asks;
};

/* Steps with accumulators of their own: products of few windows, added to one set, would wait for each other. */
static size_t n_sets(const struct conv_routine_ukr *u)
{
    static const size_t sets[] = { 1, 8, 4, 3, 4 };

    return u->n_win < sizeof sets / sizeof sets[0] ? sets[u->n_win] : 1;
}

/* Tells whether a single window takes several steps at a time: then six filters are whole vectors. */
static bool has_blocks(const struct conv_routine_ukr *u)
{
    return u->n_win == 1 && u->n_f == PANEL;
}

/* Tells whether filters come in pairs, each filter in half a vector, times four windows. */
static bool has_pairs(const struct conv_routine_ukr *u)
{
    return u->n_win == GROUP;
}

/* Accumulators of a step. */
static size_t n_sums(const struct conv_routine_ukr *u)
{
    return has_pairs(u) ? u->n_f / 2 : u->n_win;
}

static void print_pairs_step(const struct printer *p, size_t set)
{
    const size_t n = n_sums(p->u);

    fprintf(p->out, "        {\n            vec w = load_four(in);\n\n            KEEP(w);\n");
    for (size_t i = 0; i < n; i++)
        fprintf(p->out, "            c%zu = multiply_add(w, load_pair(filter + %zu), c%zu);\n", set * n + i, 2 * i,
                set * n + i);
    fprintf(p->out, "        }\n");
}

static void print_few_step(const struct printer *p, size_t set)
{
    const struct conv_routine_ukr *u = p->u;

    fprintf(p->out, "        {\n            vec f = load_panel(filter, %zu);\n\n            KEEP(f);\n", u->n_f);
    for (size_t w = 0; w < u->n_win; w++)
        fprintf(p->out, "            c%zu = multiply_add(f, broadcast(in + %zu), c%zu);\n", set * u->n_win + w, w,
                set * u->n_win + w);
    fprintf(p->out, "        }\n");
}

static void print_step(const struct printer *p, size_t set)
{
    const struct conv_routine_ukr *u = p->u;

    (has_pairs(u) ? print_pairs_step : print_few_step)(p, set);
    if (p->asks)
        fprintf(p->out, "        if (t < n_steps)\n            ask(ahead, n_ahead, t);\n");
    fprintf(p->out, "        t++;\n        in += %zu;\n        filter += %zu;\n", u->ld_in, u->n_f);
}

/* Prints nothing where no step is: t is unsigned, and `t < 0` makes compilers doubt. */
static void print_steps(const struct printer *p, size_t sets, size_t end)
{
    if (!end)
        return;
    fprintf(p->out, "    while (t < %zu) {\n", end);
    for (size_t s = 0; s < sets; s++)
        print_step(p, s);
    fprintf(p->out, "    }\n");
}

/* ---- a single window ---- */

static void print_block(const struct printer *p, size_t set)
{
    const struct conv_routine_ukr *u = p->u;

    fprintf(p->out, "        block(in, %zu, filter, sum + %zu);\n", u->ld_in, set * BLOCK_VECTORS);
    if (p->asks)
        fprintf(p->out,
                "        for (size_t s = t; s < t + %d && s < n_steps; s++)\n            ask(ahead, n_ahead, s);\n",
                BLOCK);
    fprintf(p->out, "        t += %d;\n        in += %zu;\n        filter += %d;\n", BLOCK, BLOCK * u->ld_in,
            BLOCK * PANEL);
}

/* Blocks in two sets of accumulators, then the steps behind the last whole block. */
static void print_blocks(const struct printer *p)
{
    const size_t k = p->u->k, pairs = k / (2 * BLOCK) * (2 * BLOCK), blocks = k / BLOCK * BLOCK;

    fprintf(p->out, "    vec sum[%d] = { zero(), zero(), zero(), zero(), zero(), zero() };\n    vec c0;\n",
            2 * BLOCK_VECTORS);
    fprintf(p->out, "    size_t t = 0;\n\n");
    if (pairs) {
        fprintf(p->out, "    while (t < %zu) {\n", pairs);
        print_block(p, 0);
        print_block(p, 1);
        fprintf(p->out, "    }\n");
    }
    if (pairs < blocks) {
        fprintf(p->out, "    {\n");
        print_block(p, 0);
        fprintf(p->out, "    }\n");
    }
    fprintf(p->out, "    c0 = add_steps(sum);\n");
    if (blocks < k)
        print_steps(p, 1, k);
}

/* ---- several windows ---- */

static void print_singles(const struct printer *p)
{
    const struct conv_routine_ukr *u = p->u;
    const size_t sets = n_sets(u), n = n_sums(u), whole = u->k / sets * sets;

    for (size_t i = 0; i < sets * n; i++)
        fprintf(p->out, "    vec c%zu = zero();\n", i);
    fprintf(p->out, "    size_t t = 0;\n\n");
    print_steps(p, sets, whole);
    if (whole < u->k)
        print_steps(p, 1, u->k);
    for (size_t i = n; i < sets * n; i++)
        fprintf(p->out, "    c%zu = add(c%zu, c%zu);\n", i % n, i % n, i);
}

static void print_group(const struct conv_routine_ukr *u, size_t first, const char *suffix, FILE *out)
{
    const size_t n = min_size(GROUP, u->n_win - first);

    fprintf(out, "    update_panel(out + %zu, %zu, %zu, %zu, %zu", first, u->ld_out, n, u->n_f, u->accumulate);
    for (size_t i = 0; i < GROUP; i++) {
        if (i < n)
            fprintf(out, ", c%zu%s", first + i, suffix);
        else
            fprintf(out, ", zero()");
    }
    fprintf(out, ");\n");
}

void conv_c_print_few_outputs(const struct conv_routine_ukr *u, const char *suffix, FILE *out)
{
    for (size_t first = 0; first < u->n_win; first += GROUP)
        print_group(u, first, suffix, out);
}

static void print_pairs_outputs(const struct conv_routine_ukr *u, FILE *out)
{
    for (size_t f = 0; f < u->n_f; f++)
        fprintf(out, "    update_four(out + %zu, half_of(c%zu, %zu), %d, %zu);\n", f * u->ld_out, f / 2, f % 2, GROUP,
                u->accumulate);
}

void conv_c_print_few(const struct conv_routine_ukr *u, bool asks, FILE *out)
{
    const struct printer p = { out, u, asks };

    (has_blocks(u) ? print_blocks : print_singles)(&p);
    if (has_pairs(u))
        print_pairs_outputs(u, out);
    else
        conv_c_print_few_outputs(u, "", out);
}
