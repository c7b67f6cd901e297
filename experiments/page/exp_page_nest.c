#include "experiments/page/exp_page_nest.h"

#include <stdarg.h>
#include <stdlib.h>

#include "experiments/base/exp_memory.h"
#include "kernels/sizes.h"

/* Lines of pseudo-code: each loop is one step further in, remarks stand in a column. */
struct code {
    FILE *out;
    int depth;
};

enum { REMARK_COLUMN = 64, INDENT = 2 };

static void line(struct code *c, const char *remark, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void line(struct code *c, const char *remark, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (*remark)
        fprintf(c->out, "%*s%-*s # %s\n", INDENT * c->depth, "", REMARK_COLUMN - INDENT * c->depth, text, remark);
    else
        fprintf(c->out, "%*s%s\n", INDENT * c->depth, "", text);
}

#define LOOP(c, ...) (line(c, __VA_ARGS__), (c)->depth++)

static void around(struct code *c, const struct exp_page_plan *plan)
{
    const struct conv_problem *p = &plan->problem;

    if (p->n > 1)
        LOOP(c, "", "for each of %zu images", p->n);
    if (p->groups > 1)
        LOOP(c, "", "for each of %zu groups", p->groups);
}

/* Who is who in a schedule: A are stationary tiles, B stream. */
struct roles {
    const char *a, *b, *a_unit, *b_unit;
    size_t n_a, n_b, a_size, b_size;
};

static struct roles roles_of(const struct csa_tiling *t)
{
    if (t->schedule == CSA_IS)
        return (struct roles){ "input", "filter", "windows", "filters", t->in_tiles, t->f_tiles, t->n_win, t->n_f };
    return (struct roles){ "filter", "input", "filters", "windows", t->f_tiles, t->in_tiles, t->n_f, t->n_win };
}

/* SConv's five layers, as nest_sconv.c has them. */
static void put_sconv(struct code *c, const struct exp_page_plan *plan)
{
    const struct csa_tiling *t = &plan->tiling;
    const struct roles r = roles_of(t);
    const size_t taps = plan->problem.r * plan->problem.s;

    around(c, plan);
    LOOP(c, "layer 5", "for %zu x Nc = %zu of %zu channels", t->channel_sets, t->n_c,
         conv_group_channels(&plan->problem));
    LOOP(c, "layer 4: they stay in L3", "for %zu x K3 = %zu of %zu %s tiles", ceil_div(r.n_a, t->k3), t->k3, r.n_a,
         r.a);
    LOOP(c, "layer 3: they stay in L2", "for %zu x K2 = %zu of %zu %s tiles", ceil_div(r.n_b, t->k2), t->k2, r.n_b,
         r.b);
    if (t->schedule == CSA_WS)
        line(c, "", "pack the set's input tiles: %zu windows x %zu taps each", t->n_win, t->n_c * taps);
    LOOP(c, "layer 2: it stays in L1", "for each %s tile of the set: %zu %s", r.a, r.a_size, r.a_unit);
    if (t->schedule == CSA_IS)
        line(c, "", "pack it: %zu windows x %zu taps", t->n_win, t->n_c * taps);
    LOOP(c, "layer 1: it streams", "for each %s tile of the set: %zu %s", r.b, r.b_size, r.b_unit);
    line(c, "", "micro-kernel %s: %zu x %zu outputs += %zu products each", plan->ukr, t->n_win, t->n_f, t->n_c * taps);
}

/* Base: GotoBLAS's order, as nest_gemm.c has it. */
static void put_gemm(struct code *c, const struct exp_page_plan *plan)
{
    const struct conv_problem *p = &plan->problem;
    const size_t windows = conv_windows(p), reduction = conv_reduction(p), filters = conv_group_filters(p);

    around(c, plan);
    if (conv_is_pointwise(p))
        line(c, "pointwise: the input is the matrix", "no im2col");
    else
        line(c, "", "im2col: a matrix of %zu rows x %zu windows", reduction, windows);
    LOOP(c, "", "for %zu x R = %zu of %zu filters", ceil_div(filters, plan->r), plan->r, filters);
    LOOP(c, "", "for %zu x Q = %zu of %zu rows", ceil_div(reduction, plan->q), plan->q, reduction);
    LOOP(c, "the first also packs the filters", "for %zu x P = %zu of %zu windows", ceil_div(windows, plan->p), plan->p,
         windows);
    line(c, "", "pack the block's windows");
    line(c, "", "OpenBLAS's micro-kernel on every tile of the two blocks");
}

static void put(struct exp_page_writer *w, const char *caption, const struct exp_page_plan *plan,
                void (*nest)(struct code *c, const struct exp_page_plan *plan))
{
    char *text = NULL;
    size_t bytes = 0;
    struct code c = { .out = exp_memory_open(&text, &bytes) };

    if (!c.out) {
        exp_page_lacks(w);
        return;
    }
    nest(&c, plan);
    if (fclose(c.out)) {
        exp_page_lacks(w);
    } else {
        exp_page_text(w, EXP_PAGE_NOTE, caption);
        exp_page_text(w, EXP_PAGE_CODE, text);
    }
    free(text);
}

void exp_page_nest_write(struct exp_page_writer *w, const struct exp_page_plan *plan)
{
    char caption[128];

    if (plan->has_tiling) {
        snprintf(caption, sizeof caption, "The nest of %s", plan->algo);
        put(w, caption, plan, put_sconv);
    }
    if (plan->has_gemm && plan->p && plan->q && plan->r)
        put(w, "The nest of Base", plan, put_gemm);
}
