#include "experiments/bench/replay/sample_estimate.h"

#include <assert.h>
#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/bench/case/estimate.h"
#include "sim/analysis/estimate.h"

enum { TAGS = SIM_USUAL_TAGS, CELL_COUNTS = sizeof(struct sim_cell) / sizeof(uint64_t) };

/*
 * Of each quantity: the wanted interval in units of the target (0: as wide as the units make it), and the bias of
 * estimates over their values, set by VGG-16's layers on zen3 (make validate SAMPLE=1%). Lines from and to memory are
 * counted: their interval is the bias alone.
 */
static const struct {
    double wanted, bias;
} quality[EXP_N_SAMPLED] = {
    [EXP_SAMPLED_CYCLES] = { 1, 0.005 },
    [EXP_SAMPLED_L1_LINES] = { 1, 0.002 },
    [EXP_SAMPLED_DEMAND] = { 3, 0.01 },
    [EXP_SAMPLED_L1_MISSES] = { 3, 0.01 },
    [EXP_SAMPLED_L2_LINES] = { 0, 0.05 },
    [EXP_SAMPLED_L2_MISSES] = { 0, 0.05 },
    [EXP_SAMPLED_L3_MISSES] = { 0, 0.1 },
    [EXP_SAMPLED_MEMORY_READ] = { 0, 0.008 },
    [EXP_SAMPLED_MEMORY_WRITTEN] = { 0, 0.015 },
    [EXP_SAMPLED_DTLB_MISSES] = { 0, 0.005 },
    [EXP_SAMPLED_L1_BORDER] = { 0, 0.005 },
    [EXP_SAMPLED_L2_BORDER] = { 0, 0.05 },
    [EXP_SAMPLED_EQ6] = { 0, 0.02 },
};

/* Intervals of rare events are wanted as for this share of the loads. */
static const double rare = 1e-4;

/* ---- drawn pieces ---- */

void exp_sample_drawn_init(struct exp_sample_drawn *d, const struct exp_pieces *p, size_t n_views)
{
    assert(p->n_groups && n_views && n_views <= EXP_SAMPLE_VIEWS);
    *d = (struct exp_sample_drawn){ .pieces = p, .n_views = n_views };
    d->sum = exp_new(p->n_groups * n_views, sizeof *d->sum);
    d->accesses = exp_new(p->n_groups, sizeof *d->accesses);
    d->longs = exp_new(p->n_classes, sizeof *d->longs);
}

void exp_sample_drawn_release(struct exp_sample_drawn *d)
{
    free(d->sum);
    free(d->accesses);
    free(d->cluster);
    free(d->longs);
}

static void add_difference(void *sum, const void *before, const void *after, size_t bytes)
{
    uint64_t *s = sum;
    const uint64_t *b = before, *a = after;

    for (size_t i = 0; i < bytes / sizeof *s; i++)
        s[i] += a[i] - b[i];
}

void exp_sample_quantities(double of[EXP_N_SAMPLED], const struct sim_machine *m, const struct sim_cell *sum,
                           double cycles)
{
    const size_t last = m->n_levels - 1, second = last ? 1 : 0;
    struct sim_estimate estimate;

    of[EXP_SAMPLED_CYCLES] = cycles;
    of[EXP_SAMPLED_L1_LINES] = (double)sum->level[0].lines_in;
    of[EXP_SAMPLED_DEMAND] = (double)sim_cell_demand_fills(sum);
    of[EXP_SAMPLED_L1_MISSES] = (double)sum->level[0].load_misses;
    of[EXP_SAMPLED_L2_LINES] = (double)(sum->level[second].read_misses + sum->level[second].prefetch_fills);
    of[EXP_SAMPLED_L2_MISSES] = (double)sum->level[second].load_misses;
    of[EXP_SAMPLED_L3_MISSES] = (double)sum->level[last].load_misses;
    of[EXP_SAMPLED_MEMORY_READ] = (double)sum->memory_read_lines;
    of[EXP_SAMPLED_MEMORY_WRITTEN] = (double)sum->memory_written_lines;
    of[EXP_SAMPLED_DTLB_MISSES] = (double)sum->tlb[0].misses;
    of[EXP_SAMPLED_L1_BORDER] = exp_lines_beyond(m->n_levels, sum, 0);
    of[EXP_SAMPLED_L2_BORDER] = exp_lines_beyond(m->n_levels, sum, 1);
    sim_estimate(&estimate, m, sum);
    of[EXP_SAMPLED_EQ6] = estimate.sconv_eq6_cycles;
}

void exp_replay_quantities(double of[EXP_N_SAMPLED], const struct sim_machine *m, const struct exp_simulated *s,
                           bool has_cycles)
{
    const struct sim_cell sum = sim_stats_total(&s->stats);
    double cycles = 0;

    for (unsigned p = 0; p < CONV_N_PHASES && has_cycles; p++)
        cycles += sim_cycles_sum(&s->cycles[p]);
    exp_sample_quantities(of, m, &sum, cycles);
}

static struct exp_sample_cluster *cluster_of(struct exp_sample_drawn *d, const struct exp_piece *p)
{
    struct exp_sample_cluster *c;

    for (size_t i = d->n_clusters; i-- > 0 && d->cluster[i].unit == p->unit;) {
        if (d->cluster[i].group == p->class)
            return &d->cluster[i];
    }
    c = exp_append(&d->cluster, &d->n_clusters, sizeof *c);
    c->group = p->class;
    c->unit = p->unit;
    return c;
}

void exp_sample_drawn_add(struct exp_sample_drawn *d, const struct exp_piece *piece, double accesses, size_t view,
                          const struct sim_machine *m, const struct exp_sample_counts *before,
                          const struct exp_sample_counts *after, const struct sim_cycles *cycles)
{
    struct exp_sample_cluster *c = cluster_of(d, piece);
    struct exp_sample_sum *s = &d->sum[piece->class * d->n_views + view];
    struct sim_cell sum = { 0 };
    double of[EXP_N_SAMPLED];

    add_difference(&s->counts, before, after, sizeof s->counts);
    sim_cycles_add(&s->cycles, cycles);
    for (size_t t = 0; t < TAGS; t++)
        add_difference(&sum, &before->cell[t], &after->cell[t], sizeof sum);
    exp_sample_quantities(of, m, &sum, sim_cycles_sum(cycles));
    for (size_t q = 0; q < EXP_N_SAMPLED; q++)
        c->of[view][q] += of[q];
    if (!view) {
        c->accesses += accesses;
        d->accesses[piece->class] += accesses;
    }
}

static void scale_work(struct sim_work *w, double factor)
{
    w->operations *= factor;
    w->serial_operations *= factor;
    w->macs *= factor;
    w->loops *= factor;
    w->chained_macs *= factor;
}

void exp_sample_drawn_add_long(struct exp_sample_drawn *d, size_t class, const struct sim_work *w)
{
    struct exp_sample_long *l = &d->longs[class];

    l->work.operations += w->operations;
    l->work.serial_operations += w->serial_operations;
    l->work.macs += w->macs;
    l->work.loops += w->loops;
    l->work.chained_macs += w->chained_macs;
    l->n_steps++;
}

/* ---- estimates ---- */

/* Returns all accesses of a group over the drawn accesses. */
static double factor_of(const struct exp_sample_drawn *d, size_t group)
{
    return d->accesses[group] > 0 ? (double)d->pieces->group[group].accesses / d->accesses[group] : 0;
}

static void add_scaled(double *sum, const void *count, size_t bytes, double factor)
{
    const uint64_t *c = count;

    for (size_t i = 0; i < bytes / sizeof *c; i++)
        sum[i] += factor * (double)c[i];
}

static void round_counts(void *to, const double *from, size_t bytes)
{
    uint64_t *t = to;

    for (size_t i = 0; i < bytes / sizeof *t; i++)
        t[i] = from[i] > 0 ? (uint64_t)llround(from[i]) : 0;
}

static void add_cycles(struct sim_cycles *to, const struct sim_cycles *c, double factor)
{
    to->computing += factor * c->computing;
    to->storing += factor * c->storing;
    to->calls += factor * c->calls;
    to->translating += factor * c->translating;
    for (size_t k = 0; k <= SIM_MAX_LEVELS; k++)
        to->waiting[k] += factor * c->waiting[k];
}

/* Corrects a part's estimated lines from and to memory by the counted lines of the whole, with the whole's estimate. */
static void know_memory(struct sim_cell *part, const struct sim_cell *estimated, const struct sim_cell *counted)
{
    if (estimated->memory_read_lines)
        part->memory_read_lines = part->memory_read_lines * counted->memory_read_lines / estimated->memory_read_lines;
    if (estimated->memory_written_lines)
        part->memory_written_lines =
            part->memory_written_lines * counted->memory_written_lines / estimated->memory_written_lines;
}

/*
 * Adds the cycles of the long steps of a class. A clock takes a step as a whole, so the clock gets the estimated counts of
 * an average step.
 */
static void add_long_steps(const struct exp_sample_drawn *d, size_t view, size_t class, struct exp_sample_view *to,
                           const struct sim_stats *counted)
{
    static const struct sim_cell none[TAGS];
    const unsigned phase = conv_step_phase(d->pieces->class[class].kind);
    const double n_steps = d->longs[class].n_steps;
    struct sim_work w = d->longs[class].work;
    double *sum = exp_new((size_t)TAGS * CELL_COUNTS, sizeof *sum);
    struct sim_cell after[TAGS];

    assert(n_steps > 0);
    for (size_t g = 0; g < d->pieces->n_groups; g++) {
        if (d->pieces->group[g].class == class)
            add_scaled(sum, d->sum[g * d->n_views + view].counts.cell, sizeof none, factor_of(d, g) / n_steps);
    }
    round_counts(after, sum, sizeof after);
    free(sum);
    for (size_t t = 0; t < TAGS; t++)
        know_memory(&after[t], &to->stats.cell[t][phase], &counted->cell[t][phase]);
    scale_work(&w, 1 / n_steps);
    sim_clock_resume(to->clock);
    to->clock->phase[phase] = (struct sim_cycles){ 0 };
    sim_clock_between(to->clock, phase, none, after, &w);
    add_cycles(&to->cycles[phase], &to->clock->phase[phase], n_steps);
}

/*
 * Returns the lines from memory counted in a phase over the estimated lines. Waits for memory are as rare as the lines, so
 * a sample may miss the waits, and the known number of lines corrects the estimate.
 */
static double memory_factor(const struct sim_stats *estimated, const struct sim_stats *counted, unsigned phase)
{
    const struct sim_cell is = sim_stats_phase(estimated, phase), was = sim_stats_phase(counted, phase);

    return is.memory_read_lines ? (double)was.memory_read_lines / (double)is.memory_read_lines : 1;
}

/* The view's counts have been estimated. */
static void estimate_cycles(const struct exp_sample_drawn *d, size_t view, struct exp_sample_view *to,
                            const struct sim_stats *counted)
{
    memset(to->cycles, 0, sizeof to->cycles);
    for (size_t g = 0; g < d->pieces->n_groups; g++) {
        const size_t class = d->pieces->group[g].class;

        if (d->longs[class].n_steps == 0)
            add_cycles(&to->cycles[conv_step_phase(d->pieces->class[class].kind)],
                       &d->sum[g * d->n_views + view].cycles, factor_of(d, g));
    }
    for (unsigned p = 0; p < CONV_N_PHASES; p++)
        to->cycles[p].waiting[to->machine->n_levels] *= memory_factor(&to->stats, counted, p);
    for (size_t c = 0; to->clock && c < d->pieces->n_classes; c++) {
        if (d->longs[c].n_steps > 0)
            add_long_steps(d, view, c, to, counted);
    }
}

/* Takes the counts that are known of all pieces. */
static void take_known(struct sim_cell *to, const struct sim_cell *exact, const struct sim_cell *counted)
{
    to->loads = exact->loads;
    to->stores = exact->stores;
    to->load_bytes = exact->load_bytes;
    to->store_bytes = exact->store_bytes;
    to->nt_stores = exact->nt_stores;
    to->software_prefetches = exact->software_prefetches;
    to->memory_read_lines = counted->memory_read_lines;
    to->memory_written_lines = counted->memory_written_lines;
}

static void estimate_counts(const struct exp_sample_drawn *d, size_t view, struct exp_sample_view *to)
{
    double *sum = exp_new((size_t)TAGS * SIM_MAX_PHASES * CELL_COUNTS, sizeof *sum);
    double prefetcher[sizeof to->stats.prefetcher / sizeof(uint64_t)] = { 0 };

    for (size_t g = 0; g < d->pieces->n_groups; g++) {
        const struct exp_sample_counts *c = &d->sum[g * d->n_views + view].counts;
        const unsigned phase = conv_step_phase(d->pieces->class[d->pieces->group[g].class].kind);

        for (size_t t = 0; t < TAGS; t++)
            add_scaled(sum + (t * SIM_MAX_PHASES + phase) * CELL_COUNTS, &c->cell[t], sizeof c->cell[t],
                       factor_of(d, g));
        add_scaled(prefetcher, c->prefetcher, sizeof c->prefetcher, factor_of(d, g));
    }
    to->stats = (struct sim_stats){ .n_levels = to->machine->n_levels };
    for (size_t i = 0; i < (size_t)TAGS * SIM_MAX_PHASES; i++)
        round_counts(&to->stats.cell[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES], sum + i * CELL_COUNTS,
                     sizeof(struct sim_cell));
    round_counts(to->stats.prefetcher, prefetcher, sizeof to->stats.prefetcher);
    free(sum);
}

/* ---- intervals ---- */

/*
 * Sets the variance of a quantity's estimate by strata. The units of a stratum are clusters; a unit's part of the
 * variance is the square of its residuals' sum, scaled to the stratum.
 */
static void find_variances(const struct exp_sample_drawn *d, size_t view, size_t quantity, double *variance)
{
    const struct exp_pieces *p = d->pieces;
    double *rate = exp_new(p->n_groups, sizeof *rate);
    double unit = 0;

    memset(variance, 0, p->n_strata * sizeof *variance);
    for (size_t i = 0; i < d->n_clusters; i++)
        rate[d->cluster[i].group] += d->cluster[i].of[view][quantity] / d->accesses[d->cluster[i].group];
    for (size_t i = 0; i < d->n_clusters; i++) {
        const struct exp_sample_cluster *c = &d->cluster[i];
        const struct exp_stratum *s = &p->stratum[p->stratum_of[c->unit]];
        const double n = (double)s->n_drawn, left_out = 1 - n / (double)s->n_units;

        unit += (c->of[view][quantity] - rate[c->group] * c->accesses) * factor_of(d, c->group);
        if (i + 1 < d->n_clusters && d->cluster[i + 1].unit == c->unit)
            continue;
        if (n > 1)
            variance[p->stratum_of[c->unit]] += unit * unit * left_out * n / (n - 1);
        unit = 0;
    }
    free(rate);
}

/* Half of a 95 % interval from variances, with Satterthwaite's degrees of freedom. */
static double half_width(const struct exp_pieces *p, const double *variance)
{
    double sum = 0, squares = 0;

    for (size_t i = 0; i < p->n_strata; i++) {
        sum += variance[i];
        squares += variance[i] > 0 ? variance[i] * variance[i] / ((double)p->stratum[i].n_drawn - 1) : 0;
    }
    return sum > 0 ? gsl_cdf_tdist_Pinv(0.975, fmax(1, sum * sum / squares)) * sqrt(sum) : 0;
}

static void values_of(const struct exp_sample_view *v, double of[EXP_N_SAMPLED], double *loads)
{
    const struct sim_cell sum = sim_stats_total(&v->stats);
    double cycles = 0;

    for (unsigned p = 0; p < CONV_N_PHASES; p++)
        cycles += sim_cycles_sum(&v->cycles[p]);
    exp_sample_quantities(of, v->machine, &sum, cycles);
    *loads = (double)sum.loads;
}

static bool is_counted(size_t quantity)
{
    return quantity == EXP_SAMPLED_MEMORY_READ || quantity == EXP_SAMPLED_MEMORY_WRITTEN;
}

void exp_sample_estimate(const struct exp_sample_drawn *d, size_t view, struct exp_sample_view *to,
                         const struct sim_cell *exact, const struct sim_stats *counted)
{
    double *variance = exp_new(d->pieces->n_strata, sizeof *variance);
    double of[EXP_N_SAMPLED], loads;

    estimate_counts(d, view, to);
    estimate_cycles(d, view, to, counted);
    for (size_t i = 0; i < (size_t)TAGS * SIM_MAX_PHASES; i++) {
        if (i / SIM_MAX_PHASES == CONV_STACK && !to->has_stack)
            continue;
        take_known(&to->stats.cell[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES], &exact[i],
                   &counted->cell[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES]);
    }
    values_of(to, of, &loads);
    for (size_t q = 0; q < EXP_N_SAMPLED; q++) {
        find_variances(d, view, q, variance);
        to->pm[q] = hypot(is_counted(q) ? 0 : half_width(d->pieces, variance), quality[q].bias * of[q]);
    }
    free(variance);
}

/* Neyman's allocation: units in proportion to a stratum's standard deviation times its size. */
static bool allocate(const struct exp_pieces *p, const double *variance, double width, size_t *wanted)
{
    double sum = 0;
    bool grew = false;

    for (size_t i = 0; i < p->n_strata; i++)
        sum += sqrt(variance[i] * (double)p->stratum[i].n_drawn);
    for (size_t i = 0; i < p->n_strata; i++) {
        const double n = sqrt(variance[i] * (double)p->stratum[i].n_drawn) * sum / (width * width / 4);

        if (n > (double)wanted[i]) {
            wanted[i] = n < (double)p->stratum[i].n_units ? (size_t)ceil(n) : p->stratum[i].n_units;
            grew = true;
        }
    }
    return grew;
}

bool exp_sample_want(const struct exp_sample_drawn *d, size_t view, const struct exp_sample_view *of, double target,
                     size_t *wanted)
{
    double *variance = exp_new(d->pieces->n_strata, sizeof *variance);
    double value[EXP_N_SAMPLED], loads;
    bool grew = false;

    values_of(of, value, &loads);
    for (size_t q = 0; q < EXP_N_SAMPLED; q++) {
        const double width = target * quality[q].wanted * fmax(value[q], rare * loads);

        if (is_counted(q) || !(width > 0))
            continue;
        find_variances(d, view, q, variance);
        if (half_width(d->pieces, variance) > width)
            grew |= allocate(d->pieces, variance, width, wanted);
    }
    free(variance);
    return grew;
}
