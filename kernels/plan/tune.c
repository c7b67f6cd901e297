#include "kernels/plan/tune.h"

#include <assert.h>
#include <math.h>

#include "kernels/shape/sizes.h"
#include "kernels/ukr/dispatch.h"
#include "kernels/ukr/slots.h"

static size_t tile_points(const struct conv_ukr *u)
{
    return u->n_win * u->n_f;
}

/*
 * Tells whether a micro-kernel is better: fewer multiply-adds without more slots, or as many multiply-adds and slots in
 * larger tiles, or clearly fewer slots. A full tile of 16x24 has one load too many in 24: the tile's size changes other
 * costs by more, and CPUs that do more loads than multiply-adds do not wait for the load.
 */
static bool is_better(const struct conv_ukr *u, const struct conv_ukr *than, const struct conv_problem *p)
{
    double slots = conv_ukr_slots(u, p), slots_than = conv_ukr_slots(than, p);
    double fmas = conv_ukr_fmas(u, p), fmas_than = conv_ukr_fmas(than, p);
    bool is_larger = tile_points(u) > tile_points(than);

    return (slots <= slots_than && (fmas < fmas_than || (is_larger && fmas <= fmas_than))) ||
           slots * 16 < slots_than * 15;
}

static const struct conv_ukr *choose_ukr(const struct conv_problem *p, enum cpu_isa isa)
{
    const struct conv_ukr *best = conv_ukr_of(isa);

    for (size_t i = 0; i < conv_ukr_count(); i++) {
        const struct conv_ukr *u = conv_ukr_at(i);

        if (u->isa == isa && !u->walk && is_better(u, best, p))
            best = u;
    }
    return best;
}

/*
 * Tells whether a full tile waits for its loads. With one multiply-add a cycle no tile waits: cores with one 512-bit
 * load, as machine files count loads, do two broadcasts, and most loads are broadcasts.
 */
static bool waits_for_loads(const struct conv_ukr *u, const struct csa_caches *caches)
{
    return caches->macs_per_cycle >= 2 && caches->loads_per_cycle > 0 && u->step_loads &&
           (double)u->step_loads(u->n_win, u->n_f) / caches->loads_per_cycle >
               conv_ukr_step_fmas(u, u->n_win, u->n_f) / caches->macs_per_cycle;
}

/* Lines under the outputs of a full tile; rows are not aligned. */
static size_t output_lines(const struct conv_ukr *u, const struct csa_caches *caches)
{
    return u->n_f * ((size_t)((double)(u->n_win * sizeof(float)) / caches->line_bytes) + 1);
}

/*
 * Tells whether windows that stay in L1 pay: two tiles of filters read them, and a tile has a step for each output
 * line.
 */
static bool is_read_often(const struct conv_problem *p, const struct conv_ukr *u, const struct csa_caches *caches)
{
    return conv_group_filters(p) >= 2 * u->n_f && conv_reduction(p) >= output_lines(u, caches);
}

static bool windows_overlap(const struct conv_problem *p)
{
    return p->r * p->s > 1;
}

/*
 * A wider tile, where loads bind the chosen tile: the wider tile loads less often for as many multiply-adds, within a
 * sixteenth. The wider tile has fewer filters than windows, so that CSA keeps its windows in L1 and reads each line of
 * the windows once. In place, the windows lie in as many pages as there are channels, where no prefetcher follows.
 * NULL: none.
 */
static const struct conv_ukr *choose_wider(const struct conv_problem *p, const struct conv_ukr *chosen,
                                           const struct csa_caches *caches)
{
    if (!waits_for_loads(chosen, caches))
        return NULL;
    for (size_t i = 0; i < conv_ukr_count(); i++) {
        const struct conv_ukr *u = conv_ukr_at(i);

        if (u->isa == chosen->isa && !u->walk && u->n_win > chosen->n_win && !waits_for_loads(u, caches) &&
            is_read_often(p, u, caches) && conv_ukr_slots(u, p) * 16 <= conv_ukr_slots(chosen, p) * 17)
            return u;
    }
    return NULL;
}

/* Panels of filters that make packing pay; half and twice were timed (results/reference/zen4/peers/README.md). */
enum { FEW_PANELS = 8, FEW_PANELS_OF_ROWS = 10, FEW_STRIDED_PANELS = 12 };

/* Multiply-adds of one step of a full tile. Each multiply-add of a step has a sum of its own. */
static double tile_sums(const struct conv_ukr *u)
{
    return conv_ukr_step_fmas(u, u->n_win, u->n_f);
}

/* Steps whose multiply-adds take as long as transposing the tile's sums: log2(lanes) shuffles of each. */
static double transpose_steps(const struct conv_ukr *u)
{
    return u->walk == CONV_WALK_ANY ? log2((double)tile_points(u) / tile_sums(u)) : 0;
}

/* Tells whether a call takes a tile of filters panel by panel, and reads the windows again for each panel. */
static bool has_panels(const struct conv_ukr *u)
{
    return u->f_panel < u->n_f;
}

static double loads_per_fma(const struct conv_ukr *u)
{
    return conv_ukr_step_loads(u, u->n_win, u->n_f) / conv_ukr_step_fmas(u, u->n_win, u->n_f);
}

/* Tells whether walking takes longer: more loads, or every panel of the tile finds out which taps are padding. */
static bool walks_longer(const struct conv_ukr *walker, const struct conv_ukr *packed)
{
    return has_panels(walker) || loads_per_fma(walker) > loads_per_fma(packed);
}

/* Tells whether windows are packed row by row: two columns apart, and channels are few. */
static bool packs_whole_rows(const struct conv_problem *p)
{
    return p->stride_w == 2 && p->s > 2 && p->dilation_w == 1 && conv_group_channels(p) <= 4;
}

/*
 * Returns the panels of filters that pay for packing where walking takes longer: more panels where strides make packing
 * transpose.
 */
static size_t panels_that_pay(const struct conv_problem *p)
{
    if (p->stride_h * p->stride_w == 1)
        return FEW_PANELS;
    return packs_whole_rows(p) ? FEW_PANELS_OF_ROWS : FEW_STRIDED_PANELS;
}

/*
 * Tells whether packing may lose. Where windows overlap, packing multiplies the input. Where windows do not overlap,
 * packing gathers, for all filter tiles that follow. Where walking takes longer, many filters make up for packing.
 */
static bool packing_may_lose(const struct conv_problem *p, const struct conv_ukr *walker, const struct conv_ukr *packed)
{
    size_t filters = conv_group_filters(p);
    bool overlaps = p->r * p->s > p->stride_h * p->stride_w;

    if (conv_is_pointwise(p))
        return false;
    if (walks_longer(walker, packed))
        return overlaps && filters < panels_that_pay(p) * packed->f_panel;
    return overlaps || filters <= FEW_PANELS * walker->n_f;
}

/*
 * Tells whether walking may win: where tiles fit the filters badly or sums are short, packing costs less than a
 * sixteenth of the time. Windows side by side are loaded without packing.
 */
static bool walking_may_win(const struct conv_problem *p, const struct conv_ukr *walker, const struct conv_ukr *packed)
{
    double steps = (double)conv_reduction(p);

    return walker->walk == CONV_WALK_SAME ||
           conv_ukr_fmas(walker, p) * (steps + transpose_steps(walker)) * 16 <= conv_ukr_fmas(packed, p) * steps * 17;
}

static const struct conv_ukr *choose_walker(const struct conv_problem *p, const struct conv_ukr *packed,
                                            const struct csa_caches *caches)
{
    for (size_t i = 0; i < conv_ukr_count(); i++) {
        const struct conv_ukr *u = conv_ukr_at(i);
        const bool loads_less = waits_for_loads(packed, caches) && !waits_for_loads(u, caches);

        if (u->isa == packed->isa && conv_plan_can_walk(p, u) &&
            (packing_may_lose(p, u, packed) || (loads_less && conv_is_pointwise(p))) && walking_may_win(p, u, packed))
            return u;
    }
    return packed;
}

/* Tiles of filters that pay for packing windows of several taps, or for keeping windows in L1: timed on two ports. */
enum { MANY_FILTER_TILES = 16 };

/*
 * Tells whether a wide tile is faster than walking: always, but for overlapping windows, which are packed. Packing pays
 * where many tiles of filters read the panels, and the edges of wide tiles take no thirty-second more slots.
 */
static bool wide_pays(const struct conv_problem *p, const struct conv_ukr *wide, const struct conv_ukr *walker)
{
    return !windows_overlap(p) || (conv_group_filters(p) >= MANY_FILTER_TILES * wide->n_f &&
                                   conv_ukr_slots(wide, p) * 32 <= conv_ukr_slots(walker, p) * 33);
}

static const struct conv_ukr *choose(const struct conv_problem *p, enum cpu_isa isa, const struct csa_caches *caches)
{
    const struct conv_ukr *packed = choose_ukr(p, isa), *wider = choose_wider(p, packed, caches);
    const struct conv_ukr *walker = choose_walker(p, packed, caches);

    return wider && wide_pays(p, wider, walker) ? wider : walker;
}

/* If planes are a multiple of a page apart, a window's elements of all channels share a few sets. */
static bool planes_collide(const struct conv_problem *p)
{
    return p->h * p->w * sizeof(float) % CONV_PAGE_BYTES == 0;
}

/* Tells whether rows fill lines. Otherwise tiles that share a line load the line again when they read in place. */
static bool rows_fill_lines(const struct conv_ukr *u, const struct csa_caches *caches)
{
    return (double)(u->n_win * sizeof(float)) >= caches->line_bytes;
}

/* Tells whether planes are no whole lines: then most tiles' rows lie in two lines each. */
static bool is_unaligned(const struct conv_problem *p, const struct csa_caches *caches)
{
    return fmod((double)(p->h * p->w * sizeof(float)), caches->line_bytes) > 0;
}

/* Panels of filters that make packing rows pay, where planes are no whole lines. */
enum { ROW_PANELS = 20 };

/*
 * Tells whether packing rows pays although the rows could be read in place: of rows in two lines each, half as many
 * channels fit into L1, and a call reads the rows again for each panel.
 */
static bool packs_rows(const struct conv_problem *p, const struct conv_ukr *u, const struct csa_caches *caches)
{
    return has_panels(u) && is_unaligned(p, caches) && conv_group_filters(p) >= ROW_PANELS * u->f_panel &&
           conv_reduction(p) >= ROW_PANELS * u->f_panel;
}

static bool reads_in_place(const struct conv_problem *p, const struct conv_ukr *u, const struct csa_caches *caches)
{
    return !planes_collide(p) && rows_fill_lines(u, caches) && !packs_rows(p, u, caches);
}

static bool is_wide(const struct conv_problem *p, const struct conv_ukr *u, const struct csa_caches *caches)
{
    return u->win_panel && !windows_overlap(p) && is_read_often(p, u, caches);
}

/*
 * Tells whether rows in place stream from L2 for a wide tile, where loads bind the narrow tile: few tiles of filters read
 * the rows, half of L2 holds all rows of a group, and half of L1 a tile's filters of all channels. Then a pass over the
 * outputs is enough.
 */
static bool streams_from_l2(const struct conv_problem *p, const struct conv_ukr *u, const struct csa_caches *caches)
{
    const double channel = (double)(conv_group_channels(p) * sizeof(float));

    return is_wide(p, u, caches) && conv_is_pointwise(p) && waits_for_loads(conv_ukr_of(u->isa), caches) &&
           conv_group_filters(p) <= MANY_FILTER_TILES * u->n_f &&
           channel * (double)conv_windows(p) <= caches->l2_bytes / 2 &&
           channel * (double)u->n_f <= caches->l1_bytes / 2;
}

/*
 * Decides how deep tiles may be. Windows that are read again have to stay in L1: windows that a call reads for each
 * panel of the tile's filters; and windows in place of wide tiles, whose filters are several panels, for each tile of
 * filters.
 */
static struct csa_tiling analyse(const struct conv_problem *p, const struct conv_ukr *u,
                                 const struct csa_caches *caches, bool in_place, enum csa_schedule schedule)
{
    bool rereads = is_wide(p, u, caches) && !streams_from_l2(p, u, caches);

    if (rereads || (in_place && has_panels(u)))
        return csa_analyse_in_l1(p, caches, u->n_win, u->n_f, schedule);
    if (has_panels(u) && windows_overlap(p))
        return csa_analyse_panels(p, caches, u->n_win, u->n_f, u->f_panel, schedule);
    return (conv_plan_can_walk(p, u) ? csa_analyse_in_place : csa_analyse_deep)(p, caches, u->n_win, u->n_f, schedule);
}

enum {
    MANY_WINDOW_TILES = 32, /* enough window tiles that the first tile's cold filters matter little; */
    WINDOW_SHARE = 2,       /* window tiles for each tile of filters */
    L1_PAGES = 64,          /* for machine files without a TLB: pages of most cores */
};

/*
 * Tells whether windows in place lie in more pages than the first TLB holds: as many pages as there are channels. Tiles
 * of filters that read the windows later would look all pages up again.
 */
static bool lies_in_many_pages(const struct conv_problem *p, const struct csa_caches *caches)
{
    return (double)conv_group_channels(p) > (caches->l1_pages > 0 ? caches->l1_pages : L1_PAGES);
}

/*
 * Tells whether windows stay in L1 while all filters pass by, against Eq. 6, which does not know prefetching: filters
 * are in L2, side by side. Packed windows stay: a panel of filters is a third of a step's windows, so that
 * filters stream more cheaply than windows. Windows in place wait for their elements; many windows and several tiles of
 * filters are needed. Windows also stay where the work for a tile's taps serves all filters.
 */
static bool keeps_windows(const struct conv_problem *p, const struct conv_ukr *u, const struct csa_caches *caches,
                          const struct csa_tiling *t, bool in_place)
{
    if (conv_plan_can_walk(p, u))
        return u->walk == CONV_WALK_ANY && u->chains;
    if (!has_panels(u) || conv_reduction(p) < output_lines(u, caches))
        return false;
    return !in_place || (lies_in_many_pages(p, caches) && t->f_tiles > 1 && t->in_tiles >= MANY_WINDOW_TILES &&
                         t->in_tiles >= WINDOW_SHARE * t->f_tiles);
}

/*
 * Tells whether streaming windows meet one panel of filters a call: sums are short, so that outputs bind, and six rows
 * at a time are prefetched more evenly than 24. Where planes are whole lines, 24 rows are as fast or faster, unless a
 * tile has more rows than steps, each of which prefetches a row. Windows that are no whole lines have to be many.
 */
static bool streams_by_panels(const struct conv_problem *p, const struct conv_ukr *u, const struct csa_caches *caches,
                              const struct csa_tiling *t, bool in_place)
{
    bool has_more_rows = conv_reduction(p) < u->n_f && conv_group_filters(p) >= u->n_f;
    bool is_long = is_unaligned(p, caches) && t->in_tiles >= 4 * MANY_WINDOW_TILES;

    return has_panels(u) && in_place && !conv_plan_can_walk(p, u) && conv_reduction(p) < output_lines(u, caches) &&
           (has_more_rows || is_long);
}

/*
 * The micro-kernel of one panel with the fewest slots: calls come in runs, so larger tiles save nothing; smaller tiles
 * spread prefetches evenly, and write to fewer pages at a time. NULL: none, or the micro-kernel takes over a sixteenth
 * longer.
 */
static const struct conv_ukr *one_panel(const struct conv_problem *p, const struct conv_ukr *u)
{
    const struct conv_ukr *best = NULL;
    double most = conv_ukr_slots(u, p) * 17 / 16;

    for (size_t i = 0; i < conv_ukr_count() && has_panels(u); i++) {
        const struct conv_ukr *one = conv_ukr_at(i);
        const double slots = conv_ukr_slots(one, p);

        if (one->isa == u->isa && !one->walk && one->n_win == u->n_win && one->n_f == u->f_panel &&
            (best ? slots < most : slots <= most)) {
            best = one;
            most = slots;
        }
    }
    return best;
}

struct decision {
    const struct conv_ukr *ukr;
    struct csa_tiling tiling;
};

/* Takes more channels for windows that stay, as long as all filters of a set of channels stay in L2. */
static struct csa_tiling analyse_one_panel(const struct conv_problem *p, const struct conv_ukr *one,
                                           const struct csa_caches *caches)
{
    const struct csa_tiling deep = csa_analyse_twice(p, caches, one->n_win, one->n_f, CSA_IS);

    return windows_overlap(p) && deep.k2 == deep.f_tiles ? deep : csa_analyse(p, caches, one->n_win, one->n_f, CSA_IS);
}

static struct decision decide(const struct conv_problem *p, const struct conv_ukr *u, const struct csa_caches *caches,
                              bool in_place, bool keeps_ukr)
{
    const struct conv_ukr *one = keeps_ukr ? NULL : one_panel(p, u);
    struct csa_tiling tiling[CSA_N_SCHEDULES];

    for (int i = 0; i < CSA_N_SCHEDULES; i++)
        tiling[i] = analyse(p, u, caches, in_place, (enum csa_schedule)i);
    if (one && streams_by_panels(p, u, caches, &tiling[CSA_WS], in_place))
        return (struct decision){ one, csa_analyse(p, caches, one->n_win, one->n_f, CSA_WS) };
    if (streams_from_l2(p, u, caches))
        return (struct decision){ u, tiling[CSA_WS] };
    if (!keeps_windows(p, u, caches, &tiling[CSA_IS], in_place))
        return (struct decision){ u, tiling[csa_choose(tiling)] };
    return one ? (struct decision){ one, analyse_one_panel(p, one, caches) } : (struct decision){ u, tiling[CSA_IS] };
}

/*
 * A call of a micro-kernel costs, beside its steps, 230 to 300 cycles, by least squares over the times of two CPUs,
 * with two ports, before calls came in runs (struct conv_run). In a run whose tensors are in L1, a call costs 65 to 80
 * slots of AVX-512's tiles and 20 to 120 of AVX2's, outputs included, by the times of 8 to 32 steps. The cost decides
 * between direct kernels and SConv only, whose groups are too small for runs; planes of layers without groups are not,
 * nor are groups that calls of several panels (AVX2) read in place, from two panels' steps on.
 */
enum { CALL_SLOTS = 500, RUN_CALL_SLOTS = 80, RUN_TILES = 8 };

static double call_slots(const struct conv_problem *p, const struct decision *d)
{
    bool is_large = p->groups == 1 || (has_panels(d->ukr) && conv_reduction(p) >= 2 * d->ukr->f_panel);
    bool has_runs = conv_is_pointwise(p) && is_large && conv_windows(p) >= d->ukr->n_win && d->tiling.k2 >= RUN_TILES;

    return (double)d->tiling.in_tiles * (double)d->tiling.f_tiles * (has_runs ? RUN_CALL_SLOTS : CALL_SLOTS);
}

/* Slots of SConv: of the micro-kernel, of its calls, and of packing windows or transposing sums. */
static double sconv_slots(const struct conv_problem *p, const struct decision *d, const struct csa_caches *caches,
                          size_t lanes)
{
    const struct conv_ukr *u = d->ukr;
    double slots = conv_ukr_slots(u, p), steps = (double)conv_reduction(p), calls = call_slots(p, d);

    if (conv_plan_can_walk(p, u))
        return slots * (steps + transpose_steps(u)) / steps + calls;
    if (conv_is_pointwise(p) && u->reads_in_place && reads_in_place(p, u, caches))
        return slots + calls;
    return slots + (double)conv_windows(p) * steps / (double)lanes + calls;
}

/* Tells whether half of L1 holds the bytes that a direct kernel reads again. */
static bool rereads_from_l1(const struct conv_problem *p, const struct conv_direct *d, const struct csa_caches *caches)
{
    return conv_direct_reread_bytes(d, p) <= caches->l1_bytes / 2;
}

/* Tells whether filters are too few to fill micro-kernels' tiles, or to pay for packing. A sixteenth decides. */
static bool is_direct_better(const struct conv_problem *p, const struct conv_direct *direct, const struct decision *d,
                             const struct csa_caches *caches)
{
    return direct && rereads_from_l1(p, direct, caches) &&
           conv_direct_slots(direct, p) * 17 < sconv_slots(p, d, caches, direct->lanes) * 16;
}

int conv_plan_tuned(struct conv_plan *plan, const struct conv_problem *p, const struct csa_caches *caches,
                    const struct conv_tune_options *tune)
{
    const struct conv_ukr *ukr = tune->ukr ? tune->ukr : conv_ukr_best();
    struct conv_sconv_options options = {
        .packs_filters = tune->packs_filters,
        .prefetches = true,
        .skips_padding = true,
    };
    const struct conv_direct *direct = tune->keeps_ukr ? NULL : conv_direct_for(p, ukr->isa);
    struct decision d;

    assert(tune && (tune->ukr || !tune->keeps_ukr));
    if (!tune->keeps_ukr)
        ukr = choose(p, ukr->isa, caches);
    options.reads_in_place = conv_plan_can_walk(p, ukr) || (conv_is_pointwise(p) && reads_in_place(p, ukr, caches));
    d = decide(p, ukr, caches, options.reads_in_place, tune->keeps_ukr);
    if (is_direct_better(p, direct, &d, caches))
        return conv_plan_direct(plan, p, direct, caches->l1_bytes);
    return conv_plan_sconv_with(plan, p, d.ukr, &d.tiling, &options);
}
