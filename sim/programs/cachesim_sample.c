#include "sim/programs/cachesim_sample.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNIT = 1 << 16, /* accesses */
    FIRST_UNITS = 16,
    FIRST_SEGMENT = 4,
    LONGEST_SEGMENT = 64, /* units; a segment of fewer than three units would be simulated as a whole */
    SEGMENTS_A_CHANGE = 8,
    LEAST_DIFFERENCES = 12,                                   /* for coefficients of controls */
    ROW_COUNTS = sizeof(struct sim_stats) / sizeof(uint64_t), /* counts of a row of stats */
};

_Static_assert(sizeof(struct sim_stats) % sizeof(uint64_t) == 0, "counts and nothing else");

/*
 * Control variates: counts that are known of all units. Lines that leave a first level without prefetchers, and lines from
 * memory.
 */
enum { FILTERED, FROM_MEMORY, N_CONTROLS };

/* A count with an interval. The bias is a share of the estimated part. */
struct quantity {
    char name[48];
    double (*of)(const struct sim_cell *c, size_t k);
    size_t k;
    double bias;
    bool is_counted; /* in all units: no variance */
    double estimate; /* of all segments, without controls */
    double drawn;    /* of the drawn units */
    double last;     /* of the last drawn unit, per access */
    /* Variance of the estimate, and covariances with the controls, from differences between neighbouring segments. */
    double variance, covariance[N_CONTROLS];
};

enum { MAX_QUANTITIES = 3 * SIM_MAX_LEVELS + SIM_MAX_TLBS + 2 };

/* The lines of the first level in skipped units, without prefetchers: the most recent of a set comes first. */
struct filter {
    uint64_t *line; /* [n_sets * n_ways], line + 1; the highest bit: dirty */
    uint64_t n_sets;
    uint32_t n_ways;
    unsigned shift;
};

struct cachesim_sample {
    struct sim_sink sink;
    const struct sim_machine *m;
    struct sim_hierarchy *h;
    unsigned n_tags;
    size_t n_rows;
    double target;
    uint64_t random;
    struct filter filter;
    struct sim_run box; /* neighbouring lines that go to the caches together */
    /* The place in the trace. */
    uint64_t unit, in_unit; /* number of the unit; its accesses until now */
    uint64_t drawn_unit;    /* the next drawn unit */
    uint64_t segment_units, segment_end;
    uint64_t pending; /* accesses that no drawn unit stands for yet */
    uint64_t accesses, n_simulated, n_counted;
    size_t n_segments;
    bool is_skipping, is_ended;
    /* Counts. */
    struct sim_stats *before;  /* [n_rows], at the start of the drawn unit */
    double *sum, *unit_counts; /* [n_rows * ROW_COUNTS]: estimates without controls; counts of the last drawn unit */
    double *last, *covariance[N_CONTROLS]; /* [n_rows * ROW_COUNTS], as in struct quantity */
    double unit_accesses;                  /* of the last drawn unit */
    double control[N_CONTROLS];            /* of all units until now */
    double control_before[N_CONTROLS], control_unit[N_CONTROLS], control_last[N_CONTROLS], control_sum[N_CONTROLS];
    double control_variance[N_CONTROLS][N_CONTROLS];
    size_t n_differences;
    struct sim_stats *exact; /* [n_rows]: accesses alone; then all estimates */
    struct quantity quantity[MAX_QUANTITIES];
    struct sim_report_interval interval[MAX_QUANTITIES];
    struct sim_report_sample report;
};

/* ---- quantities ---- */

static double load_misses(const struct sim_cell *c, size_t k)
{
    return (double)c->level[k].load_misses;
}

static double lines_in(const struct sim_cell *c, size_t k)
{
    return (double)c->level[k].lines_in;
}

static double write_backs(const struct sim_cell *c, size_t k)
{
    return (double)c->level[k].write_backs;
}

static double tlb_misses(const struct sim_cell *c, size_t k)
{
    return (double)c->tlb[k].misses;
}

static double memory_read(const struct sim_cell *c, size_t k)
{
    (void)k;
    return (double)c->memory_read_lines;
}

static double memory_written(const struct sim_cell *c, size_t k)
{
    (void)k;
    return (double)c->memory_written_lines;
}

static void add_quantity(struct cachesim_sample *s, const char *place, const char *name,
                         double (*of)(const struct sim_cell *c, size_t k), size_t k, double bias, bool is_counted)
{
    struct quantity *q = &s->quantity[s->report.n];

    assert(s->report.n < MAX_QUANTITIES);
    snprintf(q->name, sizeof q->name, "%s.%s", place, name);
    q->of = of;
    q->k = k;
    q->bias = bias;
    q->is_counted = is_counted;
    s->interval[s->report.n].name = q->name;
    s->report.n++;
}

/* The first quantity, lines that enter the first level, decides the length of segments. */
static void list_quantities(struct cachesim_sample *s)
{
    static const double first_bias = 0.002, further_bias = 0.05, tlb_bias = 0.01, memory_bias = 0.01;

    for (size_t k = 0; k < s->m->n_levels; k++) {
        const char *name = s->m->level[k].name;
        const double bias = k ? further_bias : first_bias;

        add_quantity(s, name, "lines_in", lines_in, k, bias, false);
        add_quantity(s, name, "load_misses", load_misses, k, bias, false);
        add_quantity(s, name, "write_backs", write_backs, k, k ? further_bias : tlb_bias, false);
    }
    for (size_t k = 0; k < s->m->n_tlbs; k++) {
        char place[32];

        snprintf(place, sizeof place, "tlb:%s", s->m->tlb[k].name);
        add_quantity(s, place, "misses", tlb_misses, k, tlb_bias, false);
    }
    add_quantity(s, "memory", "memory_read_lines", memory_read, 0, memory_bias, true);
    add_quantity(s, "memory", "memory_written_lines", memory_written, 0, memory_bias, true);
}

/* ---- skipped units ---- */

static void flush_box(struct cachesim_sample *s)
{
    if (s->box.count)
        sim_hierarchy_touch(s->h, &s->box);
    s->box.count = 0;
}

/* Gives a line to the caches behind the first, together with its neighbours. */
static void touch(struct cachesim_sample *s, uint64_t line, const struct sim_run *run, uint8_t kind)
{
    const uint64_t addr = line << s->filter.shift;
    struct sim_run *b = &s->box;

    if (b->count && b->count < UNIT && b->addr + ((uint64_t)b->count << s->filter.shift) == addr && b->kind == kind &&
        b->tag == run->tag && b->phase == run->phase) {
        b->count++;
        return;
    }
    flush_box(s);
    *b = (struct sim_run){ .addr = addr,
                           .stride_bytes = (int64_t)1 << s->filter.shift,
                           .count = 1,
                           .access_bytes = 1,
                           .kind = kind,
                           .tag = run->tag,
                           .phase = run->phase };
}

static const uint64_t dirty = (uint64_t)1 << 63;

/* Looks a line up. Lines that the first level would not have, and the first store to a line, go to the further caches. */
static void pass_line(struct cachesim_sample *s, uint64_t line, const struct sim_run *run)
{
    struct filter *f = &s->filter;
    uint64_t *set = f->line + line % f->n_sets * f->n_ways;
    const uint64_t key = line + 1, flag = run->kind == SIM_LOAD ? 0 : dirty;
    uint64_t found = 0;
    uint32_t w = 0;

    if ((set[0] & ~dirty) == key && set[0] >= flag)
        return;
    while (w < f->n_ways - 1 && (set[w] & ~dirty) != key)
        w++;
    found = (set[w] & ~dirty) == key ? set[w] : 0;
    memmove(set + 1, set, w * sizeof *set);
    set[0] = key | (found & dirty) | flag;
    s->control[FILTERED] += !found;
    if (!s->is_skipping)
        return;
    if (!found || (flag && !(found & dirty)))
        touch(s, line, run, flag ? SIM_STORE : SIM_LOAD);
}

/* Takes the accesses of a unit of any kind through the filter. */
static void filter(struct cachesim_sample *s, const struct sim_run *run, uint64_t n_times)
{
    for (uint64_t t = 0; t < n_times && run->kind != SIM_PREFETCH; t++) {
        for (uint32_t i = 0; i < run->count; i++) {
            const uint64_t addr = (run->addr + t * (uint64_t)run->step_bytes + i * (uint64_t)run->stride_bytes) &
                                  (((uint64_t)1 << SIM_ADDRESS_BITS) - 1);
            const uint64_t last = (addr + run->access_bytes - 1) >> s->filter.shift;

            for (uint64_t line = addr >> s->filter.shift; line <= last; line++)
                pass_line(s, line, run);
        }
    }
}

/* ---- units and segments ---- */

static double lines_from_memory(const struct cachesim_sample *s)
{
    return (double)sim_stats_total_of(sim_hierarchy_stats(s->h), s->n_tags).memory_read_lines;
}

/* Sebastiano Vigna's splitmix64: a number below n. */
static uint64_t draw(struct cachesim_sample *s, uint64_t n)
{
    uint64_t z = s->random += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % n;
}

/* Student's t of a 95 % interval (Cornish and Fisher's expansion; for 3 degrees of freedom 1 % too low). */
static double quantile(double freedom)
{
    static const double z = 1.959964;

    return z + (pow(z, 3) + z) / (4 * freedom) + (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * freedom * freedom);
}

/* Returns the controls' coefficients of a count whose covariances with the controls are given: least squares. */
static void coefficients(const struct cachesim_sample *s, const double covariance[N_CONTROLS], double of[N_CONTROLS])
{
    const double(*v)[N_CONTROLS] = s->control_variance;
    const double a = v[0][0], b = v[0][1], d = v[1][1], determinant = a * d - b * b;

    of[0] = of[1] = 0;
    if (s->n_differences < LEAST_DIFFERENCES)
        return;
    if (determinant > 1e-3 * a * d) {
        of[0] = (d * covariance[0] - b * covariance[1]) / determinant;
        of[1] = (a * covariance[1] - b * covariance[0]) / determinant;
    } else if (a > 0) {
        of[0] = covariance[0] / a;
    }
}

/* Events: a skipped part of a trace may cost or save some of the events behind the part. */
static const double least_bias = 8;

/* Returns half of a quantity's 95 % interval. */
static double half_width(const struct cachesim_sample *s, const struct quantity *q, double estimate)
{
    double variance = q->variance, of[N_CONTROLS];

    coefficients(s, q->covariance, of);
    for (size_t c = 0; c < N_CONTROLS; c++)
        variance -= of[c] * q->covariance[c];
    return hypot(q->is_counted || !s->n_differences
                     ? 0
                     : quantile(fmax(1, 2 * (double)s->n_differences / 3)) * sqrt(fmax(0, variance)),
                 q->bias * fabs(estimate - (q->is_counted ? 0 : q->drawn)) + least_bias);
}

/* Chooses the length of the next segment, and the segment's drawn unit. */
static void next_segment(struct cachesim_sample *s)
{
    const struct quantity *first = &s->quantity[0];
    const bool is_narrow = half_width(s, first, first->estimate) <= s->target * first->estimate;

    s->n_segments++;
    if (s->n_segments == FIRST_UNITS)
        s->segment_units = FIRST_SEGMENT;
    else if (s->n_segments > FIRST_UNITS && s->n_segments % SEGMENTS_A_CHANGE == 0)
        s->segment_units = is_narrow ? 2 * s->segment_units : s->segment_units / 2;
    if (s->n_segments >= FIRST_UNITS && s->segment_units < FIRST_SEGMENT)
        s->segment_units = FIRST_SEGMENT;
    if (s->segment_units > LONGEST_SEGMENT)
        s->segment_units = LONGEST_SEGMENT;
    s->drawn_unit = s->segment_end + draw(s, s->segment_units);
    s->segment_end += s->segment_units;
}

/* Lets the last drawn unit stand for the accesses that no drawn unit stands for yet. */
static void settle(struct cachesim_sample *s)
{
    const double factor = s->unit_accesses > 0 ? (double)s->pending / s->unit_accesses : 0;

    for (size_t i = 0; i < s->n_rows * ROW_COUNTS; i++)
        s->sum[i] += factor * s->unit_counts[i];
    for (size_t c = 0; c < N_CONTROLS; c++)
        s->control_sum[c] += factor * s->control_unit[c];
    s->pending = 0;
}

/* Adds the differences of a drawn unit to the last drawn unit, in counts of the segment, to (co)variances. */
static void take_differences(struct cachesim_sample *s, const double control[N_CONTROLS], const struct sim_cell *drawn,
                             double segment_accesses)
{
    const double each = sqrt((1 - s->unit_accesses / segment_accesses) / 2) * segment_accesses;
    double by[N_CONTROLS];

    for (size_t c = 0; c < N_CONTROLS; c++)
        by[c] = each * (control[c] / s->unit_accesses - s->control_last[c]);
    for (size_t c = 0; c < N_CONTROLS * N_CONTROLS; c++)
        s->control_variance[c / N_CONTROLS][c % N_CONTROLS] += by[c / N_CONTROLS] * by[c % N_CONTROLS];
    for (size_t i = 0; i < s->report.n; i++) {
        struct quantity *q = &s->quantity[i];
        const double difference = each * (q->of(drawn, q->k) / s->unit_accesses - q->last);

        q->variance += difference * difference;
        for (size_t c = 0; c < N_CONTROLS; c++)
            q->covariance[c] += difference * by[c];
    }
    for (size_t i = 0; i < s->n_rows * ROW_COUNTS; i++) {
        const double difference = each * (s->unit_counts[i] / s->unit_accesses - s->last[i]);

        for (size_t c = 0; c < N_CONTROLS; c++)
            s->covariance[c][i] += difference * by[c];
    }
    s->n_differences++;
}

static void take_unit(struct cachesim_sample *s, const struct sim_cell *drawn, double segment_accesses)
{
    double control[N_CONTROLS];

    s->control[FROM_MEMORY] = lines_from_memory(s);
    for (size_t c = 0; c < N_CONTROLS; c++)
        control[c] = s->control[c] - s->control_before[c];
    if (s->n_segments && segment_accesses > s->unit_accesses)
        take_differences(s, control, drawn, segment_accesses);
    for (size_t c = 0; c < N_CONTROLS; c++) {
        s->control_last[c] = control[c] / s->unit_accesses;
        s->control_unit[c] = control[c];
    }
    for (size_t i = 0; i < s->report.n; i++) {
        struct quantity *q = &s->quantity[i];
        const double of = q->of(drawn, q->k);

        q->estimate += segment_accesses / s->unit_accesses * of;
        q->drawn += of;
        q->last = of / s->unit_accesses;
    }
    for (size_t i = 0; i < s->n_rows * ROW_COUNTS; i++)
        s->last[i] = s->unit_counts[i] / s->unit_accesses;
}

static void begin_unit(struct cachesim_sample *s)
{
    s->is_skipping = s->unit != s->drawn_unit && s->unit + 1 != s->drawn_unit;
    if (s->unit != s->drawn_unit)
        return;
    memcpy(s->before, sim_hierarchy_stats(s->h), s->n_rows * sizeof *s->before);
    memcpy(s->control_before, s->control, sizeof s->control);
    s->control_before[FROM_MEMORY] = lines_from_memory(s);
}

/* Takes the counts of the drawn unit, and plans the next segment. */
static void end_drawn(struct cachesim_sample *s)
{
    const uint64_t *before = (const uint64_t *)s->before, *after = (const uint64_t *)sim_hierarchy_stats(s->h);
    const struct sim_cell was = sim_stats_total_of(s->before, s->n_tags),
                          is = sim_stats_total_of(sim_hierarchy_stats(s->h), s->n_tags);
    struct sim_cell drawn;
    uint64_t *d = (uint64_t *)&drawn;

    for (size_t i = 0; i < sizeof drawn / sizeof *d; i++)
        d[i] = ((const uint64_t *)&is)[i] - ((const uint64_t *)&was)[i];
    for (size_t i = 0; i < s->n_rows * ROW_COUNTS; i++)
        s->unit_counts[i] = (double)(after[i] - before[i]);
    s->unit_accesses = (double)s->in_unit;
    s->n_counted += s->in_unit;
    take_unit(s, &drawn, (double)s->segment_units * s->unit_accesses);
    next_segment(s);
}

static void end_unit(struct cachesim_sample *s)
{
    const bool is_drawn = s->unit == s->drawn_unit;
    const uint64_t end = s->segment_end;

    flush_box(s);
    if (is_drawn)
        end_drawn(s);
    s->unit++;
    s->in_unit = 0;
    /* A drawn unit moves the end on to the end of the next segment. */
    if (is_drawn ? s->unit == end : s->unit + s->segment_units == s->segment_end)
        settle(s);
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct cachesim_sample *s = (struct cachesim_sample *)self;
    uint64_t n = 0;

    if (!s->in_unit)
        begin_unit(s);
    for (size_t i = 0; i < n_runs; i++) {
        const unsigned tag = run[i].tag;

        sim_count_accesses(&s->exact[tag / SIM_USUAL_TAGS].cell[tag % SIM_USUAL_TAGS][run[i].phase], run[i].kind,
                           run[i].count * n_times, run[i].count * n_times * run[i].access_bytes);
        n += run[i].count * n_times;
    }
    for (size_t i = 0; i < n_runs; i++)
        filter(s, &run[i], n_times);
    if (!s->is_skipping) {
        sim_emit(sim_hierarchy_sink(s->h), run, n_runs, n_times);
        s->n_simulated += n;
    }
    s->in_unit += n;
    s->accesses += n;
    s->pending += n;
    if (s->in_unit >= UNIT)
        end_unit(s);
}

/* ---- a sample ---- */

int cachesim_sample_new(struct cachesim_sample **sample, const struct sim_machine *m, struct sim_hierarchy *h,
                        unsigned n_tags, double target, uint64_t seed)
{
    const size_t n_rows = sim_stats_rows(n_tags), n_lines = (size_t)m->level[0].n_sets * m->level[0].n_ways;
    struct cachesim_sample *s = calloc(1, sizeof *s);

    assert(m && h && target > 0);
    *sample = s;
    if (!s)
        return -ENOMEM;
    *s = (struct cachesim_sample){ .sink.accept = accept,
                                   .m = m,
                                   .h = h,
                                   .n_tags = n_tags,
                                   .n_rows = n_rows,
                                   .target = target,
                                   .random = seed,
                                   .segment_units = 1,
                                   .segment_end = 1 };
    s->filter = (struct filter){ calloc(n_lines, sizeof *s->filter.line), m->level[0].n_sets, m->level[0].n_ways, 0 };
    while (m->level[0].line_bytes >> s->filter.shift != 1)
        s->filter.shift++;
    s->before = calloc(n_rows, sizeof *s->before);
    s->exact = calloc(n_rows, sizeof *s->exact);
    s->sum = calloc(n_rows * ROW_COUNTS, sizeof *s->sum);
    s->unit_counts = calloc(n_rows * ROW_COUNTS, sizeof *s->unit_counts);
    s->last = calloc(n_rows * ROW_COUNTS, sizeof *s->last);
    for (size_t c = 0; c < N_CONTROLS; c++)
        s->covariance[c] = calloc(n_rows * ROW_COUNTS, sizeof *s->covariance[c]);
    list_quantities(s);
    if (s->filter.line && s->before && s->exact && s->sum && s->unit_counts && s->last && s->covariance[0] &&
        s->covariance[1])
        return 0;
    cachesim_sample_free(s);
    *sample = NULL;
    return -ENOMEM;
}

void cachesim_sample_free(struct cachesim_sample *s)
{
    if (!s)
        return;
    free(s->filter.line);
    free(s->before);
    free(s->exact);
    free(s->sum);
    free(s->unit_counts);
    free(s->last);
    for (size_t c = 0; c < N_CONTROLS; c++)
        free(s->covariance[c]);
    free(s);
}

struct sim_sink *cachesim_sample_sink(struct cachesim_sample *s)
{
    return &s->sink;
}

/* Returns the estimate of a count: the controls' known totals correct the sum over segments. */
static double with_controls(const struct cachesim_sample *s, size_t i)
{
    double covariance[N_CONTROLS], of[N_CONTROLS], count = s->sum[i];

    for (size_t c = 0; c < N_CONTROLS; c++)
        covariance[c] = s->covariance[c][i];
    coefficients(s, covariance, of);
    for (size_t c = 0; c < N_CONTROLS; c++)
        count += of[c] * (s->control[c] - s->control_sum[c]);
    return count;
}

static void estimate(struct cachesim_sample *s)
{
    const struct sim_stats *counted = sim_hierarchy_stats(s->h);

    for (size_t r = 0; r < s->n_rows; r++) {
        struct sim_stats *to = &s->before[r];

        for (size_t i = 0; i < ROW_COUNTS; i++)
            ((uint64_t *)to)[i] = (uint64_t)llround(fmax(0, with_controls(s, r * ROW_COUNTS + i)));
        to->n_levels = counted[r].n_levels;
        for (size_t c = 0; c < (size_t)SIM_USUAL_TAGS * SIM_MAX_PHASES; c++)
            sim_cell_take_known(&to->cell[c / SIM_MAX_PHASES][c % SIM_MAX_PHASES],
                                &s->exact[r].cell[c / SIM_MAX_PHASES][c % SIM_MAX_PHASES],
                                &counted[r].cell[c / SIM_MAX_PHASES][c % SIM_MAX_PHASES]);
    }
}

const struct sim_stats *cachesim_sample_stats(struct cachesim_sample *s)
{
    struct sim_cell total;

    if (s->is_ended)
        return s->before;
    s->is_ended = true;
    flush_box(s);
    if (s->unit == s->drawn_unit && s->in_unit)
        end_drawn(s);
    settle(s);
    s->control[FROM_MEMORY] = lines_from_memory(s);
    estimate(s);
    total = sim_stats_total_of(s->before, s->n_tags);
    for (size_t i = 0; i < s->report.n; i++) {
        const double value = s->quantity[i].of(&total, s->quantity[i].k);

        s->interval[i].value = value;
        s->interval[i].pm = s->n_simulated == s->accesses ? 0 : ceil(half_width(s, &s->quantity[i], value));
    }
    s->report.interval = s->interval;
    s->report.simulated = s->accesses ? (double)s->n_simulated / (double)s->accesses : 1;
    s->report.target = s->target;
    return s->before;
}

const struct sim_report_sample *cachesim_sample_intervals(const struct cachesim_sample *s)
{
    assert(s->is_ended);
    return &s->report;
}
