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
 * What validation found about each quantity: make validate SAMPLE=1% with NESTS=400, seeds 11 and 12, and with
 * MACHINES=zen3. After the first level was kept while steps are skipped: lines by demand, lines into and behind L2, L2 load
 * misses of caches alone, Eq. 6 and TLB misses by MODEL=resnet18,squeezenet,googlenet with
 * MACHINES=zen3,spr,gnr,clx4208-real and SEED=101. Other seeds judge the intervals.
 *
 * wanted  the wanted interval in units of the target; 0: as wide as the units make it
 * bias    with the interval by chance, the half width over the count that holds 95 % of the exact counts: of SConv and of
 *         other plans; on the machine, and on the caches alone
 * line    the further half width for each line from memory, where the quantity counts rare events
 * left    the doubtful part of the count for each part of the lines from memory without an explanation by weights (struct control)
 * shrinks the bias falls with the root of the accesses: errors at the ends of a stream count less in a long stream
 *
 * Lines from and to memory are counted, and have no interval by chance.
 */
static const struct quality {
    double wanted, bias[2], bias_alone[2], line, left;
    bool shrinks;
} quality[EXP_N_SAMPLED] = {
    [EXP_SAMPLED_CYCLES] = { 1, { 0.0078, 0.0135 }, { 0, 0 }, 0, 0.05, true },
    [EXP_SAMPLED_L1_LINES] = { 1, { 0.0055, 0.0015 }, { 0.0015, 0.0005 }, 0, 0.1 },
    [EXP_SAMPLED_DEMAND] = { 3, { 0.018, 0.006 }, { 0.0015, 0.0005 }, 0, 0.1 },
    [EXP_SAMPLED_L1_MISSES] = { 5, { 0.0105, 0.011 }, { 0.0013, 0.001 }, 0, 0.1 },
    [EXP_SAMPLED_L2_LINES] = { 0, { 0.035, 0.04 }, { 0.02, 0.04 }, 0, 0.5 },
    [EXP_SAMPLED_L2_MISSES] = { 0, { 0.075, 0.005 }, { 0.03, 0.06 }, 0.003, 0.5 },
    [EXP_SAMPLED_L3_MISSES] = { 0, { 0.15, 0.053 }, { 0.002, 0.002 }, 0.001, 0.5 },
    [EXP_SAMPLED_MEMORY_READ] = { 0, { 0.0038, 0.008 }, { 0.0002, 0.0002 }, 0, 0 },
    [EXP_SAMPLED_MEMORY_WRITTEN] = { 0, { 0.03, 0.045 }, { 0.02, 0.02 }, 0.0003, 0 },
    [EXP_SAMPLED_DTLB_MISSES] = { 0, { 0.007, 0.005 }, { 0, 0 }, 0, 0 },
    [EXP_SAMPLED_L1_BORDER] = { 0, { 0.0103, 0.0018 }, { 0.0025, 0.001 }, 0, 0.1 },
    [EXP_SAMPLED_L2_BORDER] = { 0, { 0.027, 0.01 }, { 0.043, 0.022 }, 0, 0.5 },
    [EXP_SAMPLED_EQ6] = { 0, { 0.043, 0.0233 }, { 0.004, 0.01 }, 0.001, 0.5, true },
};

/* Accesses of the streams that set the biases. */
static const double usual_accesses = 2e7;

/* Events on the edges of the drawn pieces. */
static const double few_events = 8;

/* An interval is left as it is up to this part of the wanted width: a second run costs as much as the first. */
static const double nearly = 1.25;

/* Intervals of rare events are wanted as for this share of the loads. */
static const double rare = 1e-4;

/* ---- drawn pieces ---- */

void exp_sample_drawn_init(struct exp_sample_drawn *d, const struct exp_pieces *p, size_t n_views)
{
    assert(p->n_groups && n_views && n_views <= EXP_SAMPLE_VIEWS);
    *d = (struct exp_sample_drawn){ .pieces = p, .n_views = n_views };
    d->accesses = exp_new(p->n_groups, sizeof *d->accesses);
    d->longs = exp_new(p->n_classes, sizeof *d->longs);
}

void exp_sample_drawn_release(struct exp_sample_drawn *d)
{
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
    struct exp_sample_sum *s = &c->sum[view];
    struct sim_cell sum = { 0 };
    double of[EXP_N_SAMPLED];

    d->n_levels = m->n_levels;
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

/* ---- residuals and weights ---- */

/* Returns all accesses of a group over the drawn accesses. */
static double factor_of(const struct exp_sample_drawn *d, size_t group)
{
    return d->accesses[group] > 0 ? (double)d->pieces->group[group].accesses / d->accesses[group] : 0;
}

/* Tells whether a cluster is a unit's last. */
static bool ends_unit(const struct exp_sample_drawn *d, size_t cluster)
{
    return cluster + 1 == d->n_clusters || d->cluster[cluster + 1].unit != d->cluster[cluster].unit;
}

/* Returns what the square of a unit's residual adds to the variance, over the square. */
static double part_of_variance(const struct exp_sample_drawn *d, const struct exp_sample_cluster *c)
{
    const struct exp_stratum *s = &d->pieces->stratum[d->pieces->stratum_of[c->unit]];
    const double n = (double)s->n_drawn;

    return n > 1 ? (1 - n / (double)s->n_units) * n / (n - 1) : 0;
}

static unsigned phase_of(const struct exp_sample_drawn *d, const struct exp_sample_cluster *c)
{
    return conv_step_phase(d->pieces->class[d->pieces->group[c->group].class].kind);
}

/* Sets the cycles of waiting for a line from memory, by phase. */
static void find_waits(const struct exp_sample_drawn *d, size_t view, double wait[CONV_N_PHASES])
{
    double lines[CONV_N_PHASES] = { 0 };

    memset(wait, 0, CONV_N_PHASES * sizeof *wait);
    for (size_t i = 0; i < d->n_clusters; i++) {
        const struct exp_sample_cluster *c = &d->cluster[i];

        lines[phase_of(d, c)] += factor_of(d, c->group) * c->of[view][EXP_SAMPLED_MEMORY_READ];
        wait[phase_of(d, c)] += factor_of(d, c->group) * c->sum[view].cycles.waiting[d->n_levels];
    }
    for (size_t p = 0; p < CONV_N_PHASES; p++)
        wait[p] = lines[p] > 0 ? wait[p] / lines[p] : 0;
}

/*
 * Returns the cycles of a cluster that wait for memory, as far as the number of lines from memory decides: the number is
 * known. The clock takes a long step as a whole, with known lines.
 */
static double known_wait(const struct exp_sample_drawn *d, size_t view, const struct exp_sample_cluster *c,
                         const double wait[CONV_N_PHASES])
{
    if (exp_piece_is_long(&d->pieces->class[d->pieces->group[c->group].class]))
        return c->sum[view].cycles.waiting[d->n_levels];
    return wait[phase_of(d, c)] * c->of[view][EXP_SAMPLED_MEMORY_READ];
}

/* Sets residual[last cluster of a unit]: the unit's count less the count expected of its accesses, scaled to the whole. */
static void find_residuals(const struct exp_sample_drawn *d, size_t view, size_t quantity, double *residual)
{
    double *rate = exp_new(d->pieces->n_groups, sizeof *rate), *count = exp_new(d->n_clusters + 1, sizeof *count);
    double wait[CONV_N_PHASES], unit = 0;

    find_waits(d, view, wait);
    for (size_t i = 0; i < d->n_clusters; i++) {
        const struct exp_sample_cluster *c = &d->cluster[i];

        count[i] = c->of[view][quantity] - (quantity == EXP_SAMPLED_CYCLES ? known_wait(d, view, c, wait) : 0);
        rate[c->group] += count[i] / d->accesses[c->group];
    }
    for (size_t i = 0; i < d->n_clusters; i++) {
        const struct exp_sample_cluster *c = &d->cluster[i];

        unit += (count[i] - rate[c->group] * c->accesses) * factor_of(d, c->group);
        residual[i] = unit;
        unit = ends_unit(d, i) ? 0 : unit;
    }
    free(rate);
    free(count);
}

/*
 * Lines from memory are known of all pieces, and the drawn pieces should add up to the known number: a control variate.
 * The weights of the drawn clusters change by the least squares (a calibration estimate: Deville and Saerndal 1992).
 */
struct control {
    double *residual; /* [n_clusters], of the control, as of find_residuals() */
    double squares;   /* the variance of the control's estimate; 0: the drawn units do not differ */
    double *weight;   /* [n_clusters]: the whole over the drawn */
    double left;      /* lines from memory without an explanation by weights */
};

static const size_t control_quantity = EXP_SAMPLED_MEMORY_READ;

/* No weight changes by a greater part: the rest of the difference is left. */
static const double most_shift = 0.5;

/* Sets shift[cluster]: the change of the weight, over the weight, for squares more of the control. */
static void find_shifts(const struct exp_sample_drawn *d, const double *residual, double *shift)
{
    double *mean = exp_new(d->pieces->n_groups, sizeof *mean);

    for (size_t i = d->n_clusters; i-- > 0;) {
        const struct exp_sample_cluster *c = &d->cluster[i];

        shift[i] = ends_unit(d, i) ? part_of_variance(d, c) * residual[i] : shift[i + 1];
        mean[c->group] += shift[i] * c->accesses / d->accesses[c->group];
    }
    for (size_t i = 0; i < d->n_clusters; i++)
        shift[i] -= mean[d->cluster[i].group];
    free(mean);
}

static void control_init(struct control *x, const struct exp_sample_drawn *d, size_t view, double known)
{
    double *shift = exp_new(d->n_clusters + 1, sizeof *shift), change;

    *x = (struct control){ .left = known };
    x->residual = exp_new(d->n_clusters + 1, sizeof *x->residual);
    x->weight = exp_new(d->n_clusters + 1, sizeof *x->weight);
    find_residuals(d, view, control_quantity, x->residual);
    find_shifts(d, x->residual, shift);
    for (size_t i = 0; i < d->n_clusters; i++) {
        x->left -= factor_of(d, d->cluster[i].group) * d->cluster[i].of[view][control_quantity];
        x->squares += ends_unit(d, i) ? part_of_variance(d, &d->cluster[i]) * x->residual[i] * x->residual[i] : 0;
    }
    change = x->squares > 0 ? x->left / x->squares : 0;
    for (size_t i = 0; i < d->n_clusters; i++)
        change *= fmin(1, most_shift / fmax(most_shift, fabs(change * shift[i])));
    x->left = known;
    for (size_t i = 0; i < d->n_clusters; i++) {
        x->weight[i] = factor_of(d, d->cluster[i].group) * (1 + change * shift[i]);
        x->left -= x->weight[i] * d->cluster[i].of[view][control_quantity];
    }
    free(shift);
}

static void control_release(struct control *x)
{
    free(x->residual);
    free(x->weight);
}

/* ---- estimates ---- */

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
static void add_long_steps(const struct exp_sample_drawn *d, size_t view, const double *weight, size_t class,
                           struct exp_sample_view *to, const struct sim_stats *counted)
{
    static const struct sim_cell none[TAGS];
    const unsigned phase = conv_step_phase(d->pieces->class[class].kind);
    const double n_steps = d->longs[class].n_steps;
    struct sim_work w = d->longs[class].work;
    double *sum = exp_new((size_t)TAGS * CELL_COUNTS, sizeof *sum);
    struct sim_cell after[TAGS];

    assert(n_steps > 0);
    for (size_t i = 0; i < d->n_clusters; i++) {
        if (d->pieces->class[d->pieces->group[d->cluster[i].group].class].step == class)
            add_scaled(sum, d->cluster[i].sum[view].counts.cell, sizeof none, weight[i] / n_steps);
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
static void estimate_cycles(const struct exp_sample_drawn *d, size_t view, const double *weight,
                            struct exp_sample_view *to, const struct sim_stats *counted)
{
    memset(to->cycles, 0, sizeof to->cycles);
    for (size_t i = 0; i < d->n_clusters; i++) {
        const size_t class = d->pieces->class[d->pieces->group[d->cluster[i].group].class].step;

        if (d->longs[class].n_steps == 0)
            add_cycles(&to->cycles[phase_of(d, &d->cluster[i])], &d->cluster[i].sum[view].cycles, weight[i]);
    }
    for (unsigned p = 0; p < CONV_N_PHASES; p++)
        to->cycles[p].waiting[to->machine->n_levels] *= memory_factor(&to->stats, counted, p);
    for (size_t c = 0; to->clock && c < d->pieces->n_classes; c++) {
        if (d->longs[c].n_steps > 0)
            add_long_steps(d, view, weight, c, to, counted);
    }
}

static void add_lines(uint64_t *count, double change)
{
    *count = (uint64_t)llround(fmax(0, (double)*count + change));
}

/*
 * Corrects a cell's outer levels by the counted lines from memory: each line passes all levels behind the first. Load
 * misses of the last level change in proportion.
 */
static void correct_by_memory(struct sim_cell *to, const struct sim_cell *counted, const struct sim_machine *m)
{
    const double was = (double)to->memory_read_lines, change = (double)counted->memory_read_lines - was;
    const double misses = was > 0 ? (double)to->level[m->n_levels - 1].load_misses * change / was : 0;

    for (size_t k = 1; k < m->n_levels; k++) {
        struct sim_level_counts *l = &to->level[k];
        const double lines = (double)(l->read_misses + l->prefetch_fills);
        const double by_prefetch = lines > 0 ? (double)l->prefetch_fills / lines : 0;

        if (k > 1)
            add_lines(&l->reads, change);
        if (!l->clean_fills)
            add_lines(&l->lines_in, change);
        add_lines(&l->read_misses, change * (1 - by_prefetch));
        add_lines(&l->prefetch_fills, change * by_prefetch);
        add_lines(&l->load_misses, misses);
    }
}

static void estimate_counts(const struct exp_sample_drawn *d, size_t view, const double *weight,
                            struct exp_sample_view *to)
{
    double *sum = exp_new((size_t)TAGS * SIM_MAX_PHASES * CELL_COUNTS, sizeof *sum);
    double prefetcher[sizeof to->stats.prefetcher / sizeof(uint64_t)] = { 0 };

    for (size_t i = 0; i < d->n_clusters; i++) {
        const struct exp_sample_counts *c = &d->cluster[i].sum[view].counts;
        const unsigned phase = phase_of(d, &d->cluster[i]);

        for (size_t t = 0; t < TAGS; t++)
            add_scaled(sum + (t * SIM_MAX_PHASES + phase) * CELL_COUNTS, &c->cell[t], sizeof c->cell[t], weight[i]);
        add_scaled(prefetcher, c->prefetcher, sizeof c->prefetcher, weight[i]);
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
 * variance is the square of the residual, less the control's explanation.
 */
static void find_variances(const struct exp_sample_drawn *d, size_t view, size_t quantity, const struct control *x,
                           double *variance)
{
    double *residual = exp_new(d->n_clusters + 1, sizeof *residual);
    double slope = 0;

    memset(variance, 0, d->pieces->n_strata * sizeof *variance);
    find_residuals(d, view, quantity, residual);
    for (size_t i = 0; i < d->n_clusters && x->squares > 0; i++)
        slope += ends_unit(d, i) ? part_of_variance(d, &d->cluster[i]) * residual[i] * x->residual[i] / x->squares : 0;
    for (size_t i = 0; i < d->n_clusters; i++) {
        const struct exp_sample_cluster *c = &d->cluster[i];
        const double unit = residual[i] - slope * x->residual[i];

        if (ends_unit(d, i))
            variance[d->pieces->stratum_of[c->unit]] += unit * unit * part_of_variance(d, c);
    }
    free(residual);
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

/* Returns half of the 95 % interval of a quantity, from the half by chance and from the findings of validation. */
static double interval_of(const struct exp_sample_drawn *d, const struct exp_sample_view *v, size_t quantity,
                          const double of[EXP_N_SAMPLED], double left, double by_chance)
{
    const struct quality *q = &quality[quantity];
    const bool is_alone = sim_machine_is_plain(v->machine);
    const double shrunk = q->shrinks ? fmin(1, sqrt(usual_accesses / (double)d->pieces->accesses)) : 1;
    const double bias = (is_alone ? q->bias_alone : q->bias)[!d->is_sconv] * shrunk;
    const double lines = of[EXP_SAMPLED_MEMORY_READ], unexplained = q->left * fabs(left) / fmax(1, lines);
    const double each = quantity == EXP_SAMPLED_EQ6 ? v->machine->memory_latency_cycles : 1;

    return hypot(by_chance, hypot(bias, unexplained) * of[quantity]) +
           (quantity == EXP_SAMPLED_CYCLES ? 0 : few_events) + (is_alone ? 0 : q->line * each * lines);
}

void exp_sample_estimate(const struct exp_sample_drawn *d, size_t view, struct exp_sample_view *to,
                         const struct sim_cell *exact, const struct sim_stats *counted)
{
    double *variance = exp_new(d->pieces->n_strata, sizeof *variance);
    double of[EXP_N_SAMPLED], loads;
    struct control x;

    control_init(&x, d, view, (double)sim_stats_total(counted).memory_read_lines);
    estimate_counts(d, view, x.weight, to);
    estimate_cycles(d, view, x.weight, to, counted);
    for (size_t i = 0; i < (size_t)TAGS * SIM_MAX_PHASES; i++) {
        if (i / SIM_MAX_PHASES == CONV_STACK && !to->has_stack)
            continue;
        correct_by_memory(&to->stats.cell[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES],
                          &counted->cell[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES], to->machine);
        sim_cell_take_known(&to->stats.cell[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES], &exact[i],
                            &counted->cell[i / SIM_MAX_PHASES][i % SIM_MAX_PHASES]);
    }
    values_of(to, of, &loads);
    for (size_t q = 0; q < EXP_N_SAMPLED; q++) {
        find_variances(d, view, q, &x, variance);
        to->pm[q] = interval_of(d, to, q, of, x.left, is_counted(q) ? 0 : half_width(d->pieces, variance));
    }
    control_release(&x);
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
    struct control x;
    bool grew = false;

    values_of(of, value, &loads);
    control_init(&x, d, view, value[control_quantity]);
    for (size_t q = 0; q < EXP_N_SAMPLED; q++) {
        const double width = target * quality[q].wanted * fmax(value[q], rare * loads);

        if (is_counted(q) || !(width > 0))
            continue;
        find_variances(d, view, q, &x, variance);
        if (half_width(d->pieces, variance) > nearly * width)
            grew |= allocate(d->pieces, variance, width, wanted);
    }
    control_release(&x);
    free(variance);
    return grew;
}
