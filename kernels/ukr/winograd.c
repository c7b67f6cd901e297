#include "kernels/ukr/winograd.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernels/shape/sizes.h"
#include "kernels/ukr/element.h"
#include "kernels/ukr/winograd_tile.h"

enum { MAX_E = CONV_WINOGRAD_MAX_E, MAX_M = CONV_WINOGRAD_MAX_M, TAPS = CONV_WINOGRAD_TAPS };

#define TRANSFORMS(m_, isa_, lanes_)                                                                                   \
    { .name = "f32_winograd_" #m_ "x" #m_ "__" #isa_,                                                                  \
      .isa = CONV_ISA_##isa_,                                                                                          \
      .m = m_,                                                                                                         \
      .lanes = lanes_,                                                                                                 \
      .in = CONV_FN_##isa_(conv_winograd_in_##m_##__##isa_),                                                           \
      .out = CONV_FN_##isa_(conv_winograd_out_##m_##__##isa_) },
#define BOTH(isa, lanes) TRANSFORMS(2, isa, lanes) TRANSFORMS(4, isa, lanes)

static const struct conv_winograd table[] = { CONV_WINOGRADS(BOTH) };

size_t conv_winograd_count(void)
{
    return sizeof table / sizeof table[0];
}

const struct conv_winograd *conv_winograd_at(size_t i)
{
    assert(i < conv_winograd_count());
    return &table[i];
}

bool conv_winograd_runs(const struct conv_winograd *w)
{
    return w->in && sim_cpu_has(w->isa);
}

const struct conv_winograd *conv_winograd_for(size_t m, const struct conv_ukr *u)
{
    const struct conv_winograd *best = NULL;

    assert(m == 2 || m == 4);
    for (size_t i = 0; i < conv_winograd_count(); i++) {
        const struct conv_winograd *w = &table[i];

        if (w->m == m && sim_cpu_isa_includes(u->isa, w->isa) && u->win_granule % w->lanes == 0)
            best = w;
    }
    return best; /* the portable transforms have one lane */
}

const char *conv_winograd_why_not(const struct conv_problem *p)
{
    if (p->r != TAPS || p->s != TAPS)
        return "Winograd computes filters of 3x3 only";
    if (p->stride_h != 1 || p->stride_w != 1)
        return "Winograd computes convolutions of stride 1 only";
    if (p->dilation_h != 1 || p->dilation_w != 1)
        return "Winograd computes convolutions without dilation only";
    return p->groups == 1 ? NULL : "Winograd computes convolutions of one group only";
}

bool conv_winograd_takes_ukr(const struct conv_ukr *u)
{
    return u->f_panel >= u->n_f && !u->splits_edges && !u->takes_columns;
}

/* ---- accesses ---- */

static struct sim_run pack_run(enum sim_kind kind, enum conv_tensor tag, uint64_t addr, size_t n)
{
    struct sim_run run = element_run(kind, tag, CONV_PHASE_PACK, addr, 0, 1);

    run.access_bytes = (uint32_t)(n * sizeof(float));
    return run;
}

static void emit_first_pass(const struct conv_winograd *w, const struct conv_problem *p, uint64_t plane,
                            const struct conv_winograd_segment *s, struct sim_sink *sink)
{
    const size_t n = w->m * s->n + 2;

    for (size_t c = 0; c < n; c += w->lanes) {
        const ptrdiff_t column = s->iw + (ptrdiff_t)c;
        const struct conv_winograd_part part = conv_winograd_part_of(column, min_size(n - c, w->lanes), p->w);

        for (size_t i = 0; i < w->m + 2 && part.end; i++) {
            const ptrdiff_t at = (s->ih + (ptrdiff_t)i) * (ptrdiff_t)p->w + column + (ptrdiff_t)part.first;
            struct sim_run run =
                pack_run(SIM_LOAD, CONV_INPUT, plane + (uint64_t)at * sizeof(float), part.end - part.first);

            if (conv_winograd_is_live(s, i, p))
                sim_emit(sink, &run, 1, 1);
        }
    }
}

void conv_winograd_in_emit(const struct conv_winograd *w, const struct conv_winograd_args *a, struct sim_sink *sink)
{
    const size_t e = w->m + 2;
    struct conv_winograd_segment s[CONV_MAX_WIN];
    const size_t n = conv_winograd_cut(a, w->m, s);

    for (size_t c = 0; c < a->n_planes; c++) {
        for (size_t i = 0; i < n; i++)
            emit_first_pass(w, a->p, a->planes + c * a->p->h * a->p->w * sizeof(float), &s[i], sink);
        for (size_t i = 0; i < e; i++) {
            struct sim_run store =
                pack_run(SIM_STORE, CONV_PACKED_INPUT,
                         a->panel + (i * e * a->product_step + c * a->width) * sizeof(float), w->lanes);

            store.count = (uint32_t)e;
            store.stride_bytes = (int64_t)(a->product_step * sizeof(float));
            store.step_bytes = (int64_t)(w->lanes * sizeof(float));
            sim_emit(sink, &store, 1, a->width / w->lanes);
        }
    }
}

static void emit_segment(const struct conv_winograd *w, const struct conv_winograd_segment *s, size_t q, uint64_t plane,
                         struct sim_sink *sink)
{
    const size_t whole = s->n_columns / w->lanes, rest = s->n_columns % w->lanes;

    for (size_t i = 0; i < s->n_rows; i++) {
        const uint64_t out = plane + ((s->row + i) * q + s->column) * sizeof(float);
        struct sim_run run = pack_run(SIM_STORE, CONV_OUTPUT, out, w->lanes);

        run.step_bytes = (int64_t)(w->lanes * sizeof(float));
        if (whole)
            sim_emit(sink, &run, 1, whole);
        run = pack_run(SIM_STORE, CONV_OUTPUT, out + whole * w->lanes * sizeof(float), rest);
        if (rest)
            sim_emit(sink, &run, 1, 1);
    }
}

void conv_winograd_out_emit(const struct conv_winograd *w, const struct conv_winograd_args *a, struct sim_sink *sink)
{
    const size_t e = w->m + 2;
    struct conv_winograd_segment s[CONV_MAX_WIN];
    const size_t n = conv_winograd_cut(a, w->m, s);

    for (size_t f = 0; f < a->n_planes; f++) {
        for (size_t t = 0; t < a->n_tiles; t += w->lanes) {
            struct sim_run load =
                pack_run(SIM_LOAD, CONV_IM2COL, a->panel + (f * a->width + t) * sizeof(float), w->lanes);

            load.count = (uint32_t)e;
            load.stride_bytes = (int64_t)(e * a->product_step * sizeof(float));
            load.step_bytes = (int64_t)(a->product_step * sizeof(float));
            sim_emit(sink, &load, 1, e);
        }
        for (size_t i = 0; i < n; i++)
            emit_segment(w, &s[i], a->p->q, a->planes + f * a->p->p * a->p->q * sizeof(float), sink);
    }
}

/* ---- the matrices ---- */

struct matrices {
    double b[MAX_E][MAX_E], g[MAX_E][TAPS], a[MAX_M][MAX_E];
};

static const struct matrices *matrices_of(size_t m)
{
    static const struct matrices two = {
        .b = { { 1, 0, -1, 0 }, { 0, 1, 1, 0 }, { 0, -1, 1, 0 }, { 0, 1, 0, -1 } },
        .g = { { 1, 0, 0 }, { 0.5, 0.5, 0.5 }, { 0.5, -0.5, 0.5 }, { 0, 0, 1 } },
        .a = { { 1, 1, 1, 0 }, { 0, 1, -1, -1 } },
    };
    static const struct matrices four = {
        .b = { { 4, 0, -5, 0, 1, 0 },
               { 0, -4, -4, 1, 1, 0 },
               { 0, 4, -4, -1, 1, 0 },
               { 0, -2, -1, 2, 1, 0 },
               { 0, 2, -1, -2, 1, 0 },
               { 0, 4, 0, -5, 0, 1 } },
        .g = { { 1. / 4, 0, 0 },
               { -1. / 6, -1. / 6, -1. / 6 },
               { -1. / 6, 1. / 6, -1. / 6 },
               { 1. / 24, 1. / 12, 1. / 6 },
               { 1. / 24, -1. / 12, 1. / 6 },
               { 0, 0, 1 } },
        .a = { { 1, 1, 1, 1, 1, 0 }, { 0, 1, -1, 2, -2, 0 }, { 0, 1, 1, 4, 4, 0 }, { 0, 1, -1, 8, -8, 1 } },
    };

    assert(m == 2 || m == 4);
    return m == 2 ? &two : &four;
}

/* ---- filters ---- */

void conv_winograd_filters(size_t m, const struct conv_winograd_filter_args *a)
{
    const struct matrices *x = matrices_of(m);
    const size_t e = m + 2;

    for (size_t f = 0; f < a->n_f; f++) {
        for (size_t c = 0; c < a->n_c; c++) {
            const volatile float *g = conv_in_ptr(a->filter) + (f * a->n_c + c) * TAPS * TAPS;
            volatile float *panel = conv_out_ptr(a->panel) + c * a->n_f + f;
            double half[MAX_E][TAPS] = { { 0 } };

            for (size_t k = 0; k < TAPS * TAPS; k++) {
                const double tap = (double)g[k];

                for (size_t i = 0; i < e; i++)
                    half[i][k % TAPS] += x->g[i][k / TAPS] * tap;
            }
            for (size_t i = 0; i < e * e; i++) {
                const double *row = half[i / e], *column = x->g[i % e];

                panel[i * a->product_step] = (float)(row[0] * column[0] + row[1] * column[1] + row[2] * column[2]);
            }
        }
    }
}

void conv_winograd_filters_emit(size_t m, const struct conv_winograd_filter_args *a, struct sim_sink *sink)
{
    const size_t e = m + 2;

    for (size_t f = 0; f < a->n_f; f++) {
        const struct sim_run taps = element_run(SIM_LOAD, CONV_FILTER, CONV_PHASE_PACK,
                                                a->filter + f * a->n_c * TAPS * TAPS * sizeof(float), 1, TAPS * TAPS);
        const struct sim_run products = element_run(SIM_STORE, CONV_PACKED_FILTER, CONV_PHASE_PACK,
                                                    a->panel + f * sizeof(float), (int64_t)a->product_step, e * e);
        struct sim_run run[2] = { taps, products };

        run[0].step_bytes = TAPS * TAPS * sizeof(float);
        run[1].step_bytes = (int64_t)(a->n_f * sizeof(float));
        sim_emit(sink, run, 2, a->n_c);
    }
}

/* ---- errors ---- */

/* Two passes of the input (four operations each, of m = 2 one), a filter's rounding, the sum, two passes out. */
size_t conv_winograd_roundings(size_t m, size_t n_c)
{
    const size_t passes = m == 2 ? 2 * 1 + 2 * 2 : 2 * 4 + 2 * 4;

    return passes + 1 + n_c + 1;
}

static double row_norm(const double *row, size_t n, bool squares)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += squares ? row[i] * row[i] : fabs(row[i]);
    return sum;
}

static double norm(size_t m, bool squares)
{
    const struct matrices *x = matrices_of(m);
    const size_t e = m + 2;
    double most = 0;

    for (size_t i = 0; i < m; i++) {
        double sum = 0;

        for (size_t k = 0; k < e; k++)
            sum += row_norm(&x->a[i][k], 1, squares) * row_norm(x->g[k], TAPS, squares) * row_norm(x->b[k], e, squares);
        most = fmax(most, sum);
    }
    return most;
}

double conv_winograd_norm(size_t m)
{
    return norm(m, false);
}

#define ROUNDOFF 0x1p-24

/* Higham's gamma for the roundings of n_c channels. */
static double growth(size_t m, size_t n_c)
{
    const double n = (double)conv_winograd_roundings(m, n_c);

    return n * ROUNDOFF / (1 - n * ROUNDOFF);
}

double conv_winograd_worst_error(size_t m, size_t n_c)
{
    const double k = conv_winograd_norm(m);

    return growth(m, n_c) * (double)n_c * k * k;
}

double conv_winograd_likely_error(size_t m, size_t n_c, double in, double filter)
{
    const double lambda = 8, n = (double)conv_winograd_roundings(m, n_c);

    return lambda * sqrt(n) * ROUNDOFF * sqrt((double)n_c) * in * filter * norm(m, true);
}

/* sum over k, l of |left[k]| * at[k][l] * |right[l]|, n elements each. */
static double enclose(const double *left, double at[MAX_E][MAX_E], const double *right, size_t n)
{
    double sum = 0;

    for (size_t k = 0; k < n; k++) {
        for (size_t l = 0; l < n; l++)
            sum += fabs(left[k]) * at[k][l] * fabs(right[l]);
    }
    return sum;
}

/* Adds the terms of a channel: |B'| |d| |B| times |G| |g| |G'|. */
static void add_channel(size_t m, double d[MAX_E][MAX_E], const float *g, double sum[MAX_E][MAX_E])
{
    const struct matrices *x = matrices_of(m);
    double taps[MAX_E][MAX_E] = { { 0 } };

    for (size_t i = 0; i < TAPS * TAPS; i++)
        taps[i / TAPS][i % TAPS] = fabs((double)g[i]);
    for (size_t i = 0; i < m + 2; i++) {
        for (size_t k = 0; k < m + 2; k++)
            sum[i][k] += enclose(x->b[i], d, x->b[k], m + 2) * enclose(x->g[i], taps, x->g[k], TAPS);
    }
}

static void read_tile(const struct conv_problem *p, const float *plane, size_t row, size_t column, size_t e,
                      double d[MAX_E][MAX_E])
{
    for (size_t i = 0; i < e; i++) {
        for (size_t k = 0; k < e; k++) {
            const size_t ih = row + i - p->pad_top, iw = column + k - p->pad_left; /* negative: huge */

            d[i][k] = ih < p->h && iw < p->w ? fabs((double)plane[ih * p->w + iw]) : 0;
        }
    }
}

void conv_winograd_error_bounds(size_t m, const struct conv_problem *p, const float *in, const float *filter,
                                double *bound)
{
    const struct matrices *x = matrices_of(m);
    const double gamma = growth(m, p->c);

    for (size_t row = 0; row < p->p; row += m) {
        for (size_t column = 0; column < p->q; column += m) {
            double sum[MAX_E][MAX_E] = { { 0 } }, d[MAX_E][MAX_E];

            for (size_t c = 0; c < p->c; c++) {
                read_tile(p, in + c * p->h * p->w, row, column, m + 2, d);
                add_channel(m, d, filter + c * TAPS * TAPS, sum);
            }
            for (size_t i = 0; i < m * m; i++) {
                if (row + i / m < p->p && column + i % m < p->q)
                    bound[(row + i / m) * p->q + column + i % m] =
                        gamma * enclose(x->a[i / m], sum, x->a[i % m], m + 2);
            }
        }
    }
}
