/*
 * SConv's five layers (Figure 5). Input stationary: tiles A are input tiles and B filter tiles; weight stationary: the
 * reverse. K3 bounds the set of A, K2 the set of B.
 *
 *     5  channel sets
 *     4    sets of K3 tiles A     WS, filters at run time: pack the set's filters
 *     3      sets of K2 tiles B   WS: pack the set's input tiles; IS, filters at run time: pack the set's filters
 *     2        tiles A          IS: pack the input tile (packing on demand)
 *     1          tiles B          micro-kernel
 *
 * Invariant: every (window, filter, channel) point is in exactly one micro-kernel step, except for taps on padding that
 * a plan leaves out; the first channel set overwrites the output, later channel sets accumulate.
 */
#include <assert.h>

#include "kernels/nest/nest.h"
#include "kernels/shape/sizes.h"
#include "kernels/ukr/ukr.h"

enum { PREFETCH_TILES = 2, FEW_CHANNELS = 4 };

struct range {
    size_t first, end; /* tile numbers */
};

struct sconv {
    const struct conv_plan *plan;
    struct conv_backend *backend;
    size_t n_windows, n_filters, n_channels, taps; /* of a group */
    size_t filter_lanes;                           /* of a filter in the panels of all channel sets */
    size_t image, group;
    size_t c0, n_c;              /* the current channel set, */
    size_t before, panel_filter; /* lanes of a filter in the panels of earlier channel sets, and of this one */
    struct conv_live_windows live;
};

size_t conv_plan_tile_start(const struct conv_plan *plan, size_t tile)
{
    const struct conv_cut *cut = &plan->sconv.cut;
    size_t q = plan->view.q, row, part, more;

    assert(plan->algorithm == CONV_SCONV);
    if (!cut->per_row)
        return tile * plan->ukr->n_win;
    row = tile / cut->per_row;
    part = tile % cut->per_row;
    more = q % cut->per_row; /* the longer parts, which have one window more */
    return row * cut->rows * q + part * (q / cut->per_row) + min_size(part, more);
}

static void set_channels(struct sconv *s, size_t c0, size_t n_c)
{
    s->c0 = c0;
    s->n_c = n_c;
    s->before = conv_plan_filter_lanes(s->plan, c0);
    s->panel_filter = conv_plan_filter_lanes(s->plan, n_c);
}

/* Packed filters: [group][channel set][filter tile][head, then steps by channels or by rows of taps][tile's filters]. */
static size_t filter_panel(const struct sconv *s, size_t f0)
{
    return s->n_filters * (s->group * s->filter_lanes + s->before) + f0 * s->panel_filter;
}

static size_t input_panel(const struct sconv *s, size_t slot)
{
    return slot * s->plan->sconv.depth * conv_ukr_in_width(s->plan->ukr, s->plan->ukr->n_win);
}

static struct conv_step box(const struct sconv *s, enum conv_step_kind kind)
{
    return (struct conv_step){
        .kind = kind,
        .image = s->image,
        .group = s->group,
        .k0 = s->c0 * s->taps,
        .n_k = s->n_c * s->taps,
        .accumulate = s->c0 > 0,
    };
}

/* Tells whether a tile's windows may all have a row of taps on padding. */
static bool reads_padding(const struct sconv *s, const struct conv_step *step)
{
    return step->win0 + step->n_win <= s->live.first || step->win0 >= s->live.end;
}

static void set_input_tile(const struct sconv *s, struct conv_step *step, size_t tile, size_t slot)
{
    step->win0 = conv_plan_tile_start(s->plan, tile);
    step->n_win = min_size(s->n_windows, conv_plan_tile_start(s->plan, tile + 1)) - step->win0;
    step->in_panel = input_panel(s, slot);
    step->dead = (struct conv_dead_rows){ 0 };
    if (s->plan->sconv.options.skips_padding && reads_padding(s, step))
        step->dead = conv_dead_rows(&s->plan->view, step->win0, step->n_win);
}

static void set_filter_tile(const struct sconv *s, struct conv_step *step, size_t tile)
{
    step->f0 = tile * s->plan->ukr->n_f;
    step->n_f = min_size(s->n_filters - step->f0, s->plan->ukr->n_f);
    step->f_panel = filter_panel(s, step->f0);
}

/*
 * Packs consecutive input tiles into the slots from 0 on, in one step. Micro-kernels that split ragged tiles find a
 * panel for each part, one after the other, each panel packed in a step of its own.
 */
static int pack_input_tiles(const struct sconv *s, struct range tiles)
{
    const struct conv_ukr *u = s->plan->ukr;
    struct conv_step step = box(s, CONV_STEP_PACK_WINDOWS);
    size_t left;
    int err = 0;

    if (s->plan->sconv.options.reads_in_place)
        return 0;
    set_input_tile(s, &step, tiles.first, 0);
    left = min_size(s->n_windows - step.win0, (tiles.end - tiles.first) * u->n_win);
    for (size_t whole = left - left % u->n_win; left && !err; left -= step.n_win, whole = 0) {
        step.n_win = !u->splits_edges ? left : whole ? whole : conv_tile_extent(left, u->n_win, u->n_win, true);
        err = s->backend->step(s->backend, &step);
        step.in_panel = whole ? input_panel(s, whole / u->n_win) : step.in_panel + step.n_win * step.n_k;
        step.win0 += step.n_win;
    }
    return err;
}

static int pack_filter_tiles(const struct sconv *s, struct range tiles)
{
    int err = 0;

    for (size_t tile = tiles.first; tile < tiles.end && !err; tile++) {
        struct conv_step step = box(s, CONV_STEP_PACK_FILTERS);

        set_filter_tile(s, &step, tile);
        err = s->backend->step(s->backend, &step);
    }
    return err;
}

/* Says where layers 3 to 5 go next: first tiles of A and B, and the channel set; n_c 0 at the end. */
struct position {
    size_t a, b;
    size_t c0, n_c;
};

static struct position next_place(const struct sconv *s, size_t a, size_t b)
{
    const struct csa_tiling *t = &s->plan->sconv.tiling;
    bool is_input_stationary = t->schedule == CSA_IS;
    struct position p = { a, b + t->k2, s->c0, s->n_c };

    if (p.b < (is_input_stationary ? t->f_tiles : t->in_tiles))
        return p;
    p = (struct position){ a + t->k3, 0, s->c0, s->n_c };
    if (p.a < (is_input_stationary ? t->in_tiles : t->f_tiles))
        return p;
    p = (struct position){ .c0 = s->c0 + s->n_c };
    p.n_c = min_size(s->n_channels - p.c0, t->n_c);
    return p;
}

/* Tile i of A while it meets the tiles of B, one after the other, and the prefetches meanwhile. */
struct pass {
    struct range a, b;
    size_t i;
    struct position here, next; /* next: behind these sets */
    struct range channels;      /* i's share of an input tile's channels (weight stationary) */
    size_t panel, elems;        /* the filter tile behind i, shared out over the tiles of B */
    size_t elems_each;
    size_t here_channels, channels_each; /* of the input tile behind i (input stationary) */
};

static struct pass start_pass(const struct sconv *s, struct range a, struct range b, size_t i)
{
    struct pass m = { .a = a, .b = b, .i = i, .here = { a.first, b.first, s->c0, s->n_c } };
    size_t n_a = a.end - a.first, n_b = b.end - b.first;
    bool is_last = i + 1 == a.end;
    const struct position *p = is_last ? &m.next : &m.here;
    struct sconv at = *s;
    size_t f0;

    m.next = next_place(s, a.first, b.first);
    f0 = (is_last ? m.next.a : i + 1) * s->plan->ukr->n_f;
    m.channels = (struct range){ m.next.n_c * (i - a.first) / n_a, m.next.n_c * (i - a.first + 1) / n_a };
    m.here_channels = p->n_c;
    m.channels_each = ceil_div(p->n_c, n_b);
    set_channels(&at, p->c0, p->n_c);
    m.elems =
        s->plan->sconv.tiling.schedule == CSA_WS ? min_size(s->n_filters - f0, s->plan->ukr->n_f) * at.panel_filter : 0;
    m.elems_each = ceil_div(m.elems, n_b);
    m.panel = m.elems ? filter_panel(&at, f0) : 0;
    return m;
}

/* Share number j of 0 .. total - 1, `each` long. */
static struct range share(size_t total, size_t each, size_t j)
{
    return (struct range){ min_size(total, each * j), min_size(total, each * (j + 1)) };
}

static void prefetch_input(const struct sconv *s, struct conv_step *step, size_t tile, const struct position *p,
                           struct range channels)
{
    step->ahead.win0 = conv_plan_tile_start(s->plan, tile);
    step->ahead.k0 = (p->c0 + channels.first) * s->taps;
    step->ahead.channels = tile < s->plan->sconv.tiling.in_tiles ? channels.end - channels.first : 0;
    step->ahead.is_top = !p->b && !s->plan->sconv.walks;
}

/* Tells whether the tiles of B are not in a near cache: the first tile of A meets them first. */
static bool is_first_pass(const struct pass *m)
{
    return m->i == m->a.first;
}

/* In place, calls read the input themselves: the first pass over the set asks for the tile after the next. */
static void prefetch_soon(const struct sconv *s, struct conv_step *step, const struct pass *m, size_t j)
{
    size_t tile = j + PREFETCH_TILES;
    bool is_here = tile < m->b.end;
    const struct position *p = is_here ? &m->here : &m->next;

    if (is_first_pass(m))
        prefetch_input(s, step, is_here ? tile : m->next.b + tile - m->b.end, p, (struct range){ 0, p->n_c });
}

/* Input stationary: the first pass over a set of filter tiles prefetches the filter tile after the next. */
static void prefetch_filters_soon(const struct sconv *s, struct conv_step *step, const struct pass *m, size_t j)
{
    size_t tile = j + PREFETCH_TILES, f0 = tile * s->plan->ukr->n_f;

    if (!is_first_pass(m) || tile >= m->b.end)
        return;
    step->ahead.panel = filter_panel(s, f0);
    step->ahead.elems = min_size(s->n_filters - f0, s->plan->ukr->n_f) * s->panel_filter;
}

/*
 * Tells whether calls prefetch the input of the next set's packed windows. Packing reads the rows of few channels row
 * after row, and the CPU prefetches the rows; calls without prefetches of the input make runs. Micro-kernels with one
 * panel a tile always prefetch.
 */
static bool prefetches_packed(const struct sconv *s)
{
    return s->plan->ukr->f_panel >= s->plan->ukr->n_f || s->n_channels > FEW_CHANNELS;
}

/*
 * Sets the prefetches of the call of tile j of B. Input stationary: a share of the input tile behind i, and in the
 * first pass the filter tiles ahead. Weight stationary: a share of the filter tile behind i, and of the input tile in
 * j's place in the next set.
 */
static void set_ahead(const struct sconv *s, struct conv_step *step, const struct pass *m, size_t j)
{
    bool is_last = m->i + 1 == m->a.end;
    struct range elems = share(m->elems, m->elems_each, j - m->b.first);

    step->ahead.is_on = true;
    step->ahead.panel = m->panel + elems.first;
    step->ahead.elems = elems.end - elems.first;
    step->ahead.channels = 0;
    if (s->plan->sconv.tiling.schedule == CSA_IS) {
        const struct position *p = is_last ? &m->next : &m->here;

        prefetch_input(s, step, is_last ? p->a : m->i + 1, p, share(p->n_c, m->channels_each, j - m->b.first));
        prefetch_filters_soon(s, step, m, j);
    } else if (s->plan->sconv.options.reads_in_place) {
        prefetch_soon(s, step, m, j);
    } else if (prefetches_packed(s)) {
        prefetch_input(s, step, m->next.b + j - m->b.first, &m->next, m->channels);
    }
}

/* Returns how many of n tiles of a size fit between first and end; at least 1, because the last tile may be smaller. */
static size_t whole_tiles(size_t first, size_t end, size_t size, size_t n)
{
    return first < end ? max_size(1, min_size(n, (end - first) / size)) : 1;
}

/* Returns how many shares are as long as number j of share(). */
static size_t equal_shares(size_t total, size_t each, size_t j, size_t n)
{
    return each * j < total ? whole_tiles(each * j, total, each, n) : n;
}

/*
 * Returns how many of n tiles of windows from j on make a run. The prefetches must move on as evenly as the tiles do;
 * the last whole tile of a plane prefetches outputs elsewhere than earlier tiles.
 */
static size_t run_of_windows(const struct sconv *s, const struct conv_step *step, const struct pass *m, size_t j,
                             size_t n)
{
    const struct conv_sconv_options *o = &s->plan->sconv.options;
    size_t win = step->n_win, end = s->n_windows - (o->prefetches ? win : 0);

    assert(win <= s->n_windows);
    if (s->plan->sconv.walks || (o->skips_padding && reads_padding(s, step)))
        return 1;
    if (o->skips_padding)
        end = min_size(end, s->live.end);
    n = whole_tiles(step->win0, end, win, n);
    if (!o->prefetches)
        return n;
    n = equal_shares(m->elems, m->elems_each, j - m->b.first, n);
    if (!step->ahead.channels)
        return n;
    if (o->reads_in_place)
        n = whole_tiles(j, m->b.end - min_size(PREFETCH_TILES, m->b.end), 1, n);
    return s->plan->view.h > 1 ? 1 : whole_tiles(step->ahead.win0, s->n_windows, win, n);
}

static size_t run_of_filters(const struct sconv *s, const struct conv_step *step, const struct pass *m, size_t j,
                             size_t n)
{
    size_t ahead = (j + PREFETCH_TILES) * s->plan->ukr->n_f;

    n = whole_tiles(step->f0, s->n_filters, step->n_f, n);
    if (step->ahead.elems)
        n = whole_tiles(ahead, min_size(s->n_filters, m->b.end * s->plan->ukr->n_f), s->plan->ukr->n_f, n);
    if (step->ahead.is_on)
        n = equal_shares(m->here_channels, m->channels_each, j - m->b.first, n);
    return n;
}

static struct conv_run start_run(const struct sconv *s)
{
    bool along_filters = s->plan->sconv.tiling.schedule == CSA_IS;

    return (struct conv_run){
        .step = box(s, CONV_STEP_UKR),
        .along_filters = along_filters,
        .panel_elems = along_filters ? s->panel_filter * s->plan->ukr->n_f : input_panel(s, 1),
        .taps = s->taps,
    };
}

/* Layer 1, from tile j of B on: sets the next run. */
static void set_run(const struct sconv *s, struct conv_run *run, const struct pass *m, struct range b, size_t j)
{
    if (run->along_filters)
        set_filter_tile(s, &run->step, j);
    else
        set_input_tile(s, &run->step, j, j - b.first);
    if (s->plan->sconv.options.prefetches)
        set_ahead(s, &run->step, m, j);
    run->n = (run->along_filters ? run_of_filters : run_of_windows)(s, &run->step, m, j, b.end - j);
}

static int macro_tile(const struct sconv *s, struct range a, struct range b)
{
    bool is_input_stationary = s->plan->sconv.tiling.schedule == CSA_IS;
    struct conv_run run = start_run(s);
    struct conv_step *step = &run.step;

    for (size_t i = a.first; i < a.end; i++) {
        struct pass pass = { 0 };

        if (s->plan->sconv.options.prefetches)
            pass = start_pass(s, a, b, i);
        if (is_input_stationary) {
            int err = pack_input_tiles(s, (struct range){ i, i + 1 });

            if (err)
                return err;
            set_input_tile(s, step, i, 0);
        } else {
            set_filter_tile(s, step, i);
        }
        for (size_t j = b.first; j < b.end; j += run.n) {
            int err;

            set_run(s, &run, &pass, b, j);
            err = conv_backend_run(s->backend, &run);
            if (err)
                return err;
        }
    }
    return 0;
}

/* Packs for the tiles of layer 3; a filter is packed once, for the first image. */
static int prepare_set(const struct sconv *s, struct range a, struct range b)
{
    bool packs_filters = s->plan->sconv.options.packs_filters && s->image == 0;

    if (s->plan->sconv.tiling.schedule == CSA_IS)
        return packs_filters && a.first == 0 ? pack_filter_tiles(s, b) : 0;
    if (packs_filters && b.first == 0) {
        int err = pack_filter_tiles(s, a);

        if (err)
            return err;
    }
    return pack_input_tiles(s, b);
}

static int channel_set(const struct sconv *s)
{
    const struct csa_tiling *t = &s->plan->sconv.tiling;
    size_t n_a = t->schedule == CSA_IS ? t->in_tiles : t->f_tiles;
    size_t n_b = t->schedule == CSA_IS ? t->f_tiles : t->in_tiles;

    for (size_t i = 0; i < n_a; i += t->k3) {
        for (size_t j = 0; j < n_b; j += t->k2) {
            struct range a = { i, min_size(n_a, i + t->k3) };
            struct range b = { j, min_size(n_b, j + t->k2) };
            int err = prepare_set(s, a, b);

            if (!err)
                err = macro_tile(s, a, b);
            if (err)
                return err;
        }
    }
    return 0;
}

static struct sconv start(const struct conv_plan *plan, struct conv_backend *backend)
{
    return (struct sconv){
        .plan = plan,
        .backend = backend,
        .n_windows = conv_windows(&plan->problem),
        .n_filters = conv_group_filters(&plan->problem),
        .n_channels = conv_group_channels(&plan->view),
        .filter_lanes = conv_plan_filter_lanes(plan, conv_group_channels(&plan->view)),
        .taps = plan->view.r * plan->view.s,
        .live = conv_live_windows(&plan->view),
    };
}

/* Layer 5, once per image and group: calls fn for every channel set. */
static int for_each_channel_set(struct sconv *s, size_t n_images, int (*fn)(const struct sconv *s))
{
    for (s->image = 0; s->image < n_images; s->image++) {
        for (s->group = 0; s->group < s->plan->problem.groups; s->group++) {
            for (s->c0 = 0; s->c0 < s->n_channels; s->c0 += s->n_c) {
                int err;

                set_channels(s, s->c0, min_size(s->n_channels - s->c0, s->plan->sconv.tiling.n_c));
                err = fn(s);
                if (err)
                    return err;
            }
        }
    }
    return 0;
}

/* Copies the group's channels into a padded image, or an im2col matrix, before the first channel set. */
static int prepare_image(const struct sconv *s)
{
    struct conv_step step = box(s, CONV_STEP_IM2COL);

    return conv_plan_prepares_image(s->plan) && !s->c0 ? s->backend->step(s->backend, &step) : 0;
}

static int prepare_and_compute(const struct sconv *s)
{
    int err = prepare_image(s);

    return err ? err : channel_set(s);
}

int conv_nest_sconv(const struct conv_plan *plan, struct conv_backend *backend)
{
    struct sconv s;

    assert(plan->algorithm == CONV_SCONV);
    s = start(plan, backend);
    return for_each_channel_set(&s, plan->problem.n, prepare_and_compute);
}

static int pack_all_filters(const struct sconv *s)
{
    return pack_filter_tiles(s, (struct range){ 0, s->plan->sconv.tiling.f_tiles });
}

int conv_nest_pack_filters(const struct conv_plan *plan, struct conv_backend *backend)
{
    struct sconv s;

    if (plan->algorithm == CONV_WINOGRAD && !plan->winograd.packs_filters)
        return conv_nest_winograd_filters(plan, backend);
    if (plan->algorithm != CONV_SCONV || plan->sconv.options.packs_filters)
        return 0;
    s = start(plan, backend);
    return for_each_channel_set(&s, 1, pack_all_filters);
}
