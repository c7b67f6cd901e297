#include "kernels/csa/csa.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "kernels/shape/sizes.h"

const double csa_default_share = 0.9;

const char *csa_schedule_name(enum csa_schedule s)
{
    static const char *const names[CSA_N_SCHEDULES] = { "is", "ws" };

    assert(s < CSA_N_SCHEDULES);
    return names[s];
}

struct csa_caches csa_caches_of(const struct sim_machine *m, double share)
{
    size_t last = m->n_levels - 1;
    const struct sim_level *l1 = &m->level[0];
    const struct sim_level *l2 = &m->level[last < 1 ? last : 1];
    const struct sim_level *l3 = &m->level[last];

    assert(m->n_levels >= 1 && share > 0 && share <= 1);
    return (struct csa_caches){
        .l1_bytes = (double)sim_level_bytes(l1) * share,
        .l2_bytes = (double)sim_level_bytes(l2) * share,
        .l3_bytes = (double)sim_level_bytes(l3) * share,
        .line_bytes = l1->line_bytes,
        .l2_cycles = l2->latency_cycles,
        .l3_cycles = l3->latency_cycles,
        .dram_cycles = m->memory_latency_cycles,
        .macs_per_cycle = m->issue.mac_instructions_per_cycle,
        .loads_per_cycle = m->issue.loads_per_cycle,
        .l1_pages = m->n_tlbs ? (double)m->tlb[0].n_entries : 0,
    };
}

/* The tiles of a schedule: `stationary` and `streaming` are |INt| and |FSt| for IS, the reverse for WS. */
struct tiles {
    double stationary_bytes, streaming_bytes, out_bytes;
    double stationary_volume, streaming_volume; /* bytes of all channel sets */
    size_t n_stationary, n_streaming;
};

/* Returns the largest of start, start / 2, start / 4, ... for which fits() holds; 1 if fits() never holds. */
static size_t halve(size_t start, bool (*fits)(const void *ctx, size_t n), const void *ctx)
{
    while (start > 1 && !fits(ctx, start))
        start /= 2;
    return start;
}

struct l1_question {
    double limit, bytes_per_lane, out_bytes;
};

static bool fits_l1(const void *ctx, size_t lanes) /* Eq. 2 */
{
    const struct l1_question *q = ctx;

    return (double)lanes * q->bytes_per_lane + q->out_bytes <= q->limit;
}

struct l23_question {
    const struct tiles *t;
    double l2_limit, l3_limit;
    size_t k2;
};

static bool fits_l2(const void *ctx, size_t k2) /* Eq. 4 */
{
    const struct l23_question *q = ctx;

    return q->t->stationary_bytes + (double)k2 * (q->t->streaming_bytes + q->t->out_bytes) <= q->l2_limit;
}

static bool fits_l3(const void *ctx, size_t k3) /* Eq. 5 */
{
    const struct l23_question *q = ctx;
    double k2 = (double)q->k2;

    return (double)k3 * q->t->stationary_bytes + k2 * q->t->streaming_bytes + k2 * (double)k3 * q->t->out_bytes <=
           q->l3_limit;
}

/* Returns the bytes of a tile pair when channels are taken deep: the rest of L2 holds the streaming tiles. */
static double deep_bytes(const struct csa_caches *caches)
{
    return fmax(caches->l1_bytes, caches->l2_bytes / 8);
}

static size_t choose_n_c(const struct conv_problem *p, const struct csa_caches *caches, double limit, double elements,
                         struct csa_tiling *c)
{
    double taps = (double)(p->r * p->s);
    struct l1_question q = {
        .limit = limit,
        .bytes_per_lane = ((double)c->n_win * elements + (double)c->n_f * taps) * CONV_LANE_BYTES,
        .out_bytes = (double)(c->n_win * c->n_f * conv_types[p->type].bytes[CONV_OUTPUT]),
    };
    size_t lanes;

    lanes = halve(conv_group_lanes(p), fits_l1, &q);
    q.limit = caches->l1_bytes;
    c->fits |= fits_l1(&q, lanes) ? CSA_FITS_L1 : 0;
    return min_size(lanes * conv_types[p->type].lane_channels, conv_group_channels(p));
}

/* Chooses K2 by Eq. 4, then K3 by Eq. 5. K2 shrinks if no stationary tile fits beside K2 streaming tiles. */
static void choose_k2_k3(const struct csa_caches *caches, const struct tiles *t, struct csa_tiling *c)
{
    struct l23_question q = { .t = t, .l2_limit = caches->l2_bytes, .l3_limit = caches->l3_bytes };

    q.k2 = halve(t->n_streaming, fits_l2, &q);
    c->k3 = halve(t->n_stationary, fits_l3, &q);
    while (q.k2 > 1 && !fits_l3(&q, c->k3))
        q.k2 /= 2;
    c->k2 = q.k2;
    c->fits |= (fits_l2(&q, c->k2) ? CSA_FITS_L2 : 0) | (fits_l3(&q, c->k3) ? CSA_FITS_L3 : 0);
}

static struct csa_lines count_lines(const struct csa_caches *caches, const struct tiles *t, const struct csa_tiling *c)
{
    double stationary_lines = t->stationary_volume / caches->line_bytes;
    double streaming_lines = t->streaming_volume / caches->line_bytes;
    double streaming_fit = (double)ceil_div(t->n_streaming, c->k2) - 1;   /* Eq. 12 */
    double stationary_fit = (double)ceil_div(t->n_stationary, c->k3) - 1; /* Eq. 10 */

    return (struct csa_lines){
        .cold = stationary_lines + streaming_lines,                           /* Eq. 8 */
        .reloads = fmin(streaming_fit, 1) * stationary_fit * streaming_lines, /* Eq. 11, with Eq. 9 as printed */
        .most_reloads = fmax(streaming_fit, 1) * stationary_fit * streaming_lines,
        .l3 = streaming_fit * stationary_lines,                /* Eq. 13 */
        .l2 = ((double)t->n_stationary - 1) * streaming_lines, /* Eq. 14 */
    };
}

static void scale(struct csa_lines *l, double times)
{
    l->cold *= times;
    l->reloads *= times;
    l->most_reloads *= times;
    l->l3 *= times;
    l->l2 *= times;
}

/* Returns the tiles of a tiling whose schedule, n_c and counts are set. elements: of a window, per channel. */
static struct tiles tiles_of(const struct conv_problem *p, const struct csa_tiling *c, double elements)
{
    double taps = (double)(p->r * p->s), in_share = elements / taps;
    double reduction = (double)conv_group_lanes(p) * taps * CONV_LANE_BYTES;
    double tile_depth = (double)conv_lanes(p, c->n_c) * taps * CONV_LANE_BYTES;
    double in_volume = (double)conv_windows(p) * reduction * in_share;
    double f_volume = (double)conv_group_filters(p) * reduction;
    double in_bytes = (double)c->n_win * tile_depth * in_share; /* Eq. 1 */
    double f_bytes = (double)c->n_f * tile_depth;
    bool is_input_stationary = c->schedule == CSA_IS;

    return (struct tiles){
        .stationary_bytes = is_input_stationary ? in_bytes : f_bytes,
        .streaming_bytes = is_input_stationary ? f_bytes : in_bytes,
        .out_bytes = (double)(c->n_win * c->n_f * conv_types[p->type].bytes[CONV_OUTPUT]),
        .stationary_volume = is_input_stationary ? in_volume : f_volume,
        .streaming_volume = is_input_stationary ? f_volume : in_volume,
        .n_stationary = is_input_stationary ? c->in_tiles : c->f_tiles,
        .n_streaming = is_input_stationary ? c->f_tiles : c->in_tiles,
    };
}

static struct csa_lines lines_of(const struct conv_problem *p, const struct csa_caches *caches,
                                 const struct csa_tiling *c, double elements)
{
    struct tiles t = tiles_of(p, c, elements);
    struct csa_lines l = count_lines(caches, &t, c);

    scale(&l, (double)p->n * (double)p->groups);
    return l;
}

struct csa_lines csa_lines_of(const struct conv_problem *p, const struct csa_caches *caches,
                              const struct csa_tiling *tiling)
{
    assert(tiling->n_c >= 1 && tiling->k2 >= 1 && tiling->k3 >= 1 && caches->line_bytes > 0);
    return lines_of(p, caches, tiling, (double)(p->r * p->s));
}

unsigned csa_fits_of(const struct conv_problem *p, const struct csa_caches *caches, const struct csa_tiling *tiling)
{
    struct tiles t = tiles_of(p, tiling, (double)(p->r * p->s));
    struct l23_question q = { &t, caches->l2_bytes, caches->l3_bytes, tiling->k2 };
    double pair = t.stationary_bytes + t.streaming_bytes + t.out_bytes;

    assert(tiling->n_c >= 1 && tiling->k2 >= 1 && tiling->k3 >= 1);
    return (pair <= caches->l1_bytes ? CSA_FITS_L1 : 0) | (fits_l2(&q, tiling->k2) ? CSA_FITS_L2 : 0) |
           (fits_l3(&q, tiling->k3) ? CSA_FITS_L3 : 0);
}

double csa_cycles_of(const struct csa_lines *l, const struct csa_caches *caches)
{
    return caches->dram_cycles * (l->cold + l->reloads) + caches->l3_cycles * l->l3 + caches->l2_cycles * l->l2;
}

/* Analyses a schedule. tile_bytes limits a tile pair and the pair's outputs (Eq. 2); elements is as in tiles_of. */
static struct csa_tiling analyse(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win,
                                 size_t n_f, enum csa_schedule schedule, double tile_bytes, double elements)
{
    struct csa_tiling c = { .schedule = schedule, .n_win = n_win, .n_f = n_f };
    struct csa_lines l;
    struct tiles t;

    c.n_c = choose_n_c(p, caches, tile_bytes, elements, &c);
    c.channel_sets = ceil_div(conv_group_channels(p), c.n_c);
    c.in_tiles = ceil_div(conv_windows(p), n_win);
    c.f_tiles = ceil_div(conv_group_filters(p), n_f);
    t = tiles_of(p, &c, elements);
    choose_k2_k3(caches, &t, &c);
    l = lines_of(p, caches, &c, elements);
    c.dram_lines = l.cold + l.reloads; /* Eq. 7 */
    c.l3_lines = l.l3;
    c.l2_lines = l.l2;
    c.total_cycles = csa_cycles_of(&l, caches); /* Eq. 6 */
    return c;
}

struct csa_tiling csa_analyse(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win, size_t n_f,
                              enum csa_schedule schedule)
{
    assert(n_win >= 1 && n_f >= 1);
    return analyse(p, caches, n_win, n_f, schedule, caches->l1_bytes, (double)(p->r * p->s));
}

struct csa_tiling csa_analyse_deep(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win,
                                   size_t n_f, enum csa_schedule schedule)
{
    assert(n_win >= 1 && n_f >= 1);
    return analyse(p, caches, n_win, n_f, schedule, deep_bytes(caches), (double)(p->r * p->s));
}

struct csa_tiling csa_analyse_twice(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win,
                                    size_t n_f, enum csa_schedule schedule)
{
    assert(n_win >= 1 && n_f >= 1);
    return analyse(p, caches, n_win, n_f, schedule, 2 * caches->l1_bytes, (double)(p->r * p->s));
}

struct csa_tiling csa_analyse_panels(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win,
                                     size_t n_f, size_t f_panel, enum csa_schedule schedule)
{
    double share = (double)(n_win + n_f) / (double)(n_win + f_panel);

    assert(n_win >= 1 && n_f >= 1 && f_panel >= 1);
    return analyse(p, caches, n_win, n_f, schedule, caches->l1_bytes * share, (double)(p->r * p->s));
}

static struct csa_tiling analyse_in_place(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win,
                                          size_t n_f, enum csa_schedule schedule, double tile_bytes)
{
    double taps = (double)(p->r * p->s), new_elements = (double)(p->stride_h * p->stride_w);

    return analyse(p, caches, n_win, n_f, schedule, tile_bytes, fmin(new_elements, taps));
}

struct csa_tiling csa_analyse_in_place(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win,
                                       size_t n_f, enum csa_schedule schedule)
{
    assert(n_win >= 1 && n_f >= 1);
    return analyse_in_place(p, caches, n_win, n_f, schedule, fmax(caches->l1_bytes, caches->l2_bytes / 4));
}

struct csa_tiling csa_analyse_in_l1(const struct conv_problem *p, const struct csa_caches *caches, size_t n_win,
                                    size_t n_f, enum csa_schedule schedule)
{
    assert(n_win >= 1 && n_f >= 1);
    return analyse_in_place(p, caches, n_win, n_f, schedule, caches->l1_bytes);
}

enum csa_schedule csa_choose(const struct csa_tiling tiling[CSA_N_SCHEDULES])
{
    return tiling[CSA_WS].total_cycles < tiling[CSA_IS].total_cycles ? CSA_WS : CSA_IS;
}
