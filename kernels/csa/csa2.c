#include "kernels/csa/csa2.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "kernels/shape/sizes.h"
#include "kernels/ukr/pack.h"
#include "kernels/ukr/slots.h"

/* No machine file has these constants. They were equal on all machines that were measured. */
static const double page_bytes = 4096, tlb_pages = 64;
/* Data hit a level up to this share of the capacity, and miss from the larger share on. */
static const double fits_share = 0.5, overflows_share = 1.5;
/* Planes closer than this, counted from the last element that is read, follow one another like a run. */
static const double gap_bytes = 128;

static const struct csa2_term_record terms[CSA2_N_TERMS] = {
#define CSA2_TERM(upper, ...) [CSA2_##upper] = { __VA_ARGS__ },
#include "kernels/csa/csa2_terms.def"
#undef CSA2_TERM
};

const struct csa2_term_record *csa2_term_at(size_t term)
{
    assert(term < CSA2_N_TERMS);
    return &terms[term];
}

/* ---- machines ---- */

static const struct costs {
    const char *machine;
    uint32_t lanes; /* floats of a vector */
    double lead_lines;
    double tie_share[CSA2_N_STATES];
    double cycles_of[CSA2_N_TERMS];
} costs[] = {
#define CSA2_COSTS(machine, lanes, lead, tie_cold, tie_warm, ...)                                                      \
    { machine, lanes, lead, { [CSA2_COLD] = tie_cold, [CSA2_WARM] = tie_warm }, { __VA_ARGS__ } },
#include "kernels/csa/csa2_costs.def"
#undef CSA2_COSTS
};

enum { N_COSTS = sizeof costs / sizeof costs[0] };

static const struct costs *costs_of(const struct sim_machine *m)
{
    for (size_t i = 0; i < N_COSTS; i++) {
        if (!strcmp(costs[i].machine, m->name))
            return &costs[i];
    }
    for (size_t i = 0; i < N_COSTS; i++) {
        if (costs[i].lanes == m->issue.mac_columns)
            return &costs[i];
    }
    return &costs[0];
}

struct csa2_machine csa2_machine_of(const struct sim_machine *m)
{
    const struct csa_caches caches = csa_caches_of(m, 1);
    const struct costs *c = costs_of(m);
    struct csa2_machine r = {
        .l1_bytes = caches.l1_bytes,
        .l2_bytes = caches.l2_bytes,
        .l3_bytes = caches.l3_bytes,
        .line_bytes = caches.line_bytes,
        .slots_per_cycle = m->issue.mac_instructions_per_cycle > 0 ? m->issue.mac_instructions_per_cycle : 1,
        .lead_lines = c->lead_lines,
        .fitted_on = c->machine,
        .is_fitted = !strcmp(c->machine, m->name),
    };

    assert(m->n_levels >= 1);
    memcpy(r.cycles_of, c->cycles_of, sizeof r.cycles_of);
    memcpy(r.tie_share, c->tie_share, sizeof r.tie_share);
    return r;
}

/* ---- counting ---- */

enum { L1, L2, L3, MEMORY, N_PLACES };

/* Shares of data by the place that the data come from. The shares sum to 1. */
struct places {
    double share[N_PLACES];
};

/* The quantities of the terms: an image, a group. */
struct layer {
    const struct csa2_machine *m;
    bool is_input_stationary, is_pointwise;
    double windows, filters, channels, taps, row; /* row: windows of an output row */
    double in_height, in_width, stride_h, stride_w, kernel_h, kernel_w;
    double n_win, n_f, n_c, k2, k3;
    double panel_win; /* windows of a packed panel: a tile may have several */
    double in_tiles, f_tiles, channel_sets, stationary_tiles, streaming_tiles;
    double streaming_sets; /* of K2 tiles */
    double packings;       /* how often the whole input is packed */
    double set_bytes;      /* bytes between two uses of a stationary tile: the tiles of a set and their outputs */
    double plane_bytes, out_plane_bytes;
    struct places first; /* places of tensors that have not been touched */
    struct csa2_work work;
};

static double parts(double whole, double part)
{
    return ceil(whole / part);
}

double csa2_share_beyond(double bytes, double capacity_bytes)
{
    return fmin(1, fmax(0, (bytes / capacity_bytes - fits_share) / (overflows_share - fits_share)));
}

/* Returns the places of data that are used again after `bytes` bytes of other data. */
static struct places after(const struct csa2_machine *m, double bytes)
{
    const double capacity[MEMORY] = { m->l1_bytes, m->l2_bytes, m->l3_bytes };
    struct places p = { { 0 } };
    double left = 1;

    for (int i = 0; i < MEMORY; i++) {
        double beyond = csa2_share_beyond(bytes, capacity[i]);

        p.share[i] = left * (1 - beyond);
        left *= beyond;
    }
    p.share[MEMORY] = left;
    return p;
}

static void add(struct layer *l, enum csa2_term term, double amount)
{
    l->work.amount[term] += amount;
}

/* Adds lines from the places, and the runs that the lines are in: 0 runs, if prefetchers follow from the start. */
static void fetch(struct layer *l, struct places from, double lines, double runs)
{
    double leading = fmin(lines, runs * l->m->lead_lines);

    add(l, CSA2_L2_LINES, from.share[L2] * lines);
    add(l, CSA2_L3_LINES, from.share[L3] * lines);
    add(l, CSA2_L3_LEADS, from.share[L3] * leading);
    add(l, CSA2_MEMORY_LINES, from.share[MEMORY] * lines);
    add(l, CSA2_MEMORY_LEADS, from.share[MEMORY] * leading);
}

static double lines_of(const struct layer *l, double bytes)
{
    return bytes / l->m->line_bytes;
}

static double panel_bytes(const struct layer *l, double width)
{
    return width * l->n_c * l->taps * (double)sizeof(float);
}

/* A row of row_bytes that starts anywhere in a line touches, on average, this share of a line more. */
static double straddle(const struct layer *l, double row_bytes)
{
    double line = l->m->line_bytes;

    return fmod(row_bytes, line) > 0 ? 1 - (double)sizeof(float) / line : 0;
}

static double page_share(double plane_bytes)
{
    return fmin(1, plane_bytes / page_bytes);
}

/* Returns the share of pages used in turn that misses the TLB. */
static double tlb_misses(double pages)
{
    return fmin(1, fmax(0, (pages - tlb_pages / 2) / tlb_pages));
}

/*
 * Returns the share of a stationary tile that L1 loses while a streaming tile and the outputs pass by. The core uses
 * the two panels alone, and each panel is contiguous: panels hit up to the whole capacity.
 */
static double lost_share(const struct layer *l, double stationary_bytes)
{
    double passing = (l->set_bytes - stationary_bytes) / l->k2;

    return fmin(1, fmax(0, (stationary_bytes + passing) / l->m->l1_bytes - 1) / (overflows_share - 1));
}

static void count_filters(struct layer *l)
{
    double filter_lines = lines_of(l, l->filters * l->channels * l->taps * (double)sizeof(float));
    double in_lines = lines_of(l, l->windows * l->channels * l->taps * (double)sizeof(float));
    double stationary_bytes = panel_bytes(l, l->is_input_stationary ? l->n_win : l->n_f);
    double calls = l->in_tiles * l->f_tiles * l->channel_sets;
    double buffer_lines =
        lines_of(l, panel_bytes(l, l->n_win) * (l->is_input_stationary ? 1 : l->k2)); /* for packing */

    fetch(l, l->first, filter_lines, 0);
    add(l, CSA2_BUFFER_LINES, buffer_lines * (l->first.share[L3] + l->first.share[MEMORY]));
    add(l, CSA2_LOST_LINES, calls * lines_of(l, stationary_bytes) * lost_share(l, stationary_bytes));
    if (l->is_input_stationary) {
        fetch(l, after(l->m, l->set_bytes), filter_lines * (l->in_tiles - 1), 0);
    } else {
        struct places written = after(l->m, l->k2 * panel_bytes(l, l->n_win) + stationary_bytes);

        fetch(l, after(l->m, l->set_bytes), in_lines * l->f_tiles, 0);
        fetch(l, after(l->m, l->set_bytes + l->k3 * stationary_bytes), filter_lines * (l->streaming_sets - 1), 0);
        add(l, CSA2_PANEL_LINES, in_lines * l->packings * (1 - written.share[L1]));
    }
}

/* The part of a channel's plane that packing reads at a time. */
struct region {
    double bytes, runs; /* runs: pieces that do not follow one another */
    double extra_lines; /* of a run that starts anywhere */
};

static struct region region_of(const struct layer *l, double n_win)
{
    double element = sizeof(float);
    struct region r = { .bytes = n_win * element, .runs = 1, .extra_lines = straddle(l, l->plane_bytes) };

    if (l->is_pointwise)
        return r;
    r.extra_lines = 1 - element / l->m->line_bytes;
    if (n_win < l->row) {
        r.runs = l->kernel_h;
        r.bytes = r.runs * (n_win * l->stride_w + l->kernel_w - 1) * element;
    } else {
        double rows = (parts(n_win, l->row) - 1) * l->stride_h + l->kernel_h;

        r.bytes = fmin(l->in_height, rows) * l->in_width * element;
    }
    r.bytes = fmin(r.bytes, l->plane_bytes);
    return r;
}

static void count_pages(struct layer *l, double groups)
{
    double in_pages = l->n_c * page_share(l->plane_bytes), out_share = page_share(l->out_plane_bytes);

    add(l, CSA2_PAGES, groups * l->channels * l->packings * page_share(l->plane_bytes) * tlb_misses(in_pages));
    if (l->is_input_stationary)
        add(l, CSA2_PAGES,
            l->in_tiles * l->channel_sets * l->filters * out_share * tlb_misses(l->filters * out_share + in_pages));
}

static void count_input(struct layer *l)
{
    double tiles = l->is_input_stationary ? 1 : fmin(CONV_PACK_TILES, l->k2); /* packed together */
    double groups = parts(l->in_tiles, tiles);
    struct region r = region_of(l, tiles * l->n_win);
    double lines = lines_of(l, r.bytes) + (r.bytes < l->plane_bytes ? r.extra_lines * r.runs : 0);
    double touched = lines * l->channels * groups;
    double fresh = fmin(touched, lines_of(l, l->plane_bytes) * l->channels);
    double runs = l->plane_bytes - r.bytes < gap_bytes ? 0 : r.runs * l->channels * groups;
    double fresh_runs = fmin(runs, fresh);
    double read_bytes = lines * l->m->line_bytes * l->n_c;
    double again = l->is_input_stationary ? l->set_bytes : panel_bytes(l, tiles * l->n_win);
    double out_bytes = l->out_plane_bytes * (l->is_input_stationary ? l->k2 : l->k3) * l->n_f;

    fetch(l, l->first, fresh, fresh_runs);
    fetch(l, after(l->m, read_bytes + again), touched - fresh, runs - fresh_runs);
    fetch(l, after(l->m, l->plane_bytes * l->n_c + l->set_bytes + out_bytes), touched * (l->packings - 1),
          runs * (l->packings - 1));
    count_pages(l, groups);
}

static void count_output(struct layer *l)
{
    double lines = lines_of(l, l->out_plane_bytes) * l->filters;
    double row_bytes = l->n_win * (double)sizeof(float);
    double run_bytes = l->is_input_stationary ? row_bytes : l->k2 * row_bytes;
    bool is_far = l->out_plane_bytes - run_bytes >= gap_bytes;
    double runs = is_far ? l->filters * (l->is_input_stationary ? l->in_tiles : l->streaming_sets) : 0;
    double rows = straddle(l, l->out_plane_bytes) * l->in_tiles * l->filters;
    double set_bytes = l->out_plane_bytes * l->filters + l->plane_bytes * l->n_c + panel_bytes(l, l->filters) +
                       (l->is_input_stationary ? 0 : panel_bytes(l, l->windows));
    struct places again = after(l->m, set_bytes);
    double more_sets = l->channel_sets - 1;

    fetch(l, l->first, lines, runs);
    fetch(l, again, lines * more_sets, runs * more_sets);
    add(l, CSA2_SPLIT_ROWS, rows * l->channel_sets * fmax(1, lines_of(l, row_bytes)));
    if (!l->is_input_stationary)
        return;
    fetch(l, after(l->m, l->set_bytes), rows * l->channel_sets, 0);
    if (is_far)
        add(l, CSA2_MEMORY_LEADS,
            rows * (l->first.share[MEMORY] + l->first.share[L3] + more_sets * (again.share[MEMORY] + again.share[L3])));
}

static double gcd(double a, double b)
{
    return b > 0 ? gcd(b, fmod(a, b)) : a;
}

/* Pieces of output rows in the packed panels. */
static double row_pieces(const struct layer *l)
{
    double rows = l->windows / l->row, aligned = l->panel_win / gcd(l->panel_win, l->row);
    double panels = parts(l->windows, l->panel_win);

    return l->is_pointwise ? panels : panels + (rows - 1) - floor((rows - 1) / aligned);
}

static void count_instructions(struct layer *l, double fmas, double loads)
{
    double pieces = row_pieces(l) * l->channels * l->taps * l->packings;

    add(l, CSA2_ISSUE, fmas / l->m->slots_per_cycle);
    add(l, CSA2_LOADS, loads / l->m->slots_per_cycle);
    add(l, CSA2_CALLS, l->in_tiles * l->f_tiles * l->channel_sets);
    add(l, CSA2_PIECES, pieces);
    add(l, CSA2_STRIDED, pieces * (l->stride_w - 1));
}

static void set_sizes(struct layer *l)
{
    bool is = l->is_input_stationary;
    double a = panel_bytes(l, is ? l->n_win : l->n_f), b = panel_bytes(l, is ? l->n_f : l->n_win);

    l->stationary_tiles = is ? l->in_tiles : l->f_tiles;
    l->streaming_tiles = is ? l->f_tiles : l->in_tiles;
    l->k2 = fmin(l->k2, l->streaming_tiles);
    l->k3 = fmin(l->k3, l->stationary_tiles);
    l->streaming_sets = parts(l->streaming_tiles, l->k2);
    l->packings = is ? l->streaming_sets : parts(l->stationary_tiles, l->k3);
    l->set_bytes = l->k2 * (b + l->n_win * l->n_f * (double)sizeof(float)) + a;
}

static struct places first_places(const struct layer *l, enum csa2_state state)
{
    double elements = l->windows * l->filters + l->filters * l->channels * l->taps;
    double bytes = elements * (double)sizeof(float) + l->plane_bytes * l->channels;
    double packed = panel_bytes(l, l->n_win) * l->k2; /* the buffer of a set */

    if (state == CSA2_COLD)
        return (struct places){ { [MEMORY] = 1 } };
    return after(l->m, bytes + (l->is_input_stationary ? 0 : packed));
}

static struct layer layer_of(const struct conv_problem *p, const struct csa_tiling *t, const struct conv_ukr *ukr,
                             const struct csa2_machine *m, enum csa2_state state)
{
    struct layer l = {
        .m = m,
        .is_input_stationary = t->schedule == CSA_IS,
        .is_pointwise = conv_is_pointwise(p),
        .windows = (double)conv_windows(p),
        .row = (double)p->q,
        .filters = (double)conv_group_filters(p),
        .channels = (double)conv_group_channels(p),
        .taps = (double)(p->r * p->s),
        .in_height = (double)p->h,
        .in_width = (double)p->w,
        .stride_h = (double)p->stride_h,
        .stride_w = (double)p->stride_w,
        .kernel_h = (double)((p->r - 1) * p->dilation_h + 1),
        .kernel_w = (double)((p->s - 1) * p->dilation_w + 1),
        .n_win = (double)t->n_win,
        .panel_win = (double)conv_ukr_win_panel(ukr),
        .n_f = (double)t->n_f,
        .n_c = (double)t->n_c,
        .k2 = (double)t->k2,
        .k3 = (double)t->k3,
    };

    l.in_tiles = parts(l.windows, l.n_win);
    l.f_tiles = parts(l.filters, l.n_f);
    l.channel_sets = parts(l.channels, l.n_c);
    l.plane_bytes = l.in_height * l.in_width * (double)sizeof(float);
    l.out_plane_bytes = l.windows * (double)sizeof(float);
    set_sizes(&l);
    l.first = first_places(&l, state);
    return l;
}

struct csa2_work csa2_count(const struct conv_problem *p, const struct csa_tiling *tiling, const struct conv_ukr *ukr,
                            const struct csa2_machine *m, enum csa2_state state)
{
    struct layer l = layer_of(p, tiling, ukr, m, state);

    assert(state < CSA2_N_STATES);
    count_instructions(&l, conv_ukr_fmas(ukr, p), conv_ukr_loads(ukr, p));
    count_filters(&l);
    count_input(&l);
    count_output(&l);
    for (size_t i = 0; i < CSA2_N_TERMS; i++)
        l.work.amount[i] *= (double)(p->n * p->groups);
    return l.work;
}

double csa2_cycles(const struct csa2_work *work, const struct csa2_machine *m)
{
    double sum = 0;

    for (size_t i = 0; i < CSA2_N_TERMS; i++)
        sum += work->amount[i] * m->cycles_of[i];
    return sum;
}

double csa2_predict(const struct conv_problem *p, const struct csa_tiling *tiling, const struct conv_ukr *ukr,
                    const struct csa2_machine *m, enum csa2_state state)
{
    struct csa2_work work = csa2_count(p, tiling, ukr, m, state);

    return csa2_cycles(&work, m);
}

/* ---- choosing ---- */

enum csa_schedule csa2_choose_schedule(const double cycles[CSA_N_SCHEDULES], const struct csa2_machine *m,
                                       enum csa2_state state)
{
    assert(state < CSA2_N_STATES);
    return cycles[CSA_IS] < cycles[CSA_WS] * (1 - m->tie_share[state]) ? CSA_IS : CSA_WS;
}

struct csa_tiling csa2_tiling(const struct conv_problem *p, const struct conv_ukr *ukr, enum csa_schedule schedule,
                              size_t n_c, size_t k2, size_t k3)
{
    struct csa_tiling t = {
        .schedule = schedule,
        .n_win = ukr->n_win,
        .n_f = ukr->n_f,
        .n_c = min_size(n_c, conv_group_channels(p)),
        .in_tiles = ceil_div(conv_windows(p), ukr->n_win),
        .f_tiles = ceil_div(conv_group_filters(p), ukr->n_f),
    };
    bool is = schedule == CSA_IS;

    assert(n_c >= 1 && k2 >= 1 && k3 >= 1);
    t.channel_sets = ceil_div(conv_group_channels(p), t.n_c);
    t.k2 = min_size(k2, is ? t.f_tiles : t.in_tiles);
    t.k3 = min_size(k3, is ? t.in_tiles : t.f_tiles);
    return t;
}
