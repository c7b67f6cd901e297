#define _GNU_SOURCE /* RUSAGE_THREAD */
#include "experiments/bench/time/ruler.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "counters/host/ctr_emulated.h"
#include "counters/host/ctr_timer.h"
#include "counters/perf/ctr_loop.h"
#include "experiments/base/error.h"

enum {
    ALIGN = 4096,
    CLOCK_STEPS = 1200, /* of 4 to 5 ns each: about 5 us, like the further loops */
    N_FMAS = 33600,
    LOAD_PASSES = 7,
    PORTABLE_CHAINS = 8,
};

/* ---- the loops ---- */

/* Divides again and again. No compiler may fold the loop: rounding makes each step's result unique. */
static double divide(size_t n_steps, double x, double by)
{
    for (; n_steps; n_steps--)
        x = by / x;
    return x;
}

/* Multiplies and adds, without a loop for this CPU's vectors. */
static float portable_fma(size_t n_steps, float a, float b)
{
    float chain[PORTABLE_CHAINS], sum = 0;

    for (int i = 0; i < PORTABLE_CHAINS; i++)
        chain[i] = (float)i;
    for (; n_steps; n_steps--) {
        for (int i = 0; i < PORTABLE_CHAINS; i++)
            chain[i] = chain[i] * a + b;
    }
    for (int i = 0; i < PORTABLE_CHAINS; i++)
        sum += chain[i];
    return sum;
}

static float portable_read(const float *x, size_t n)
{
    float chain[PORTABLE_CHAINS] = { 0 }, sum = 0;

    for (size_t at = 0; at < n; at += PORTABLE_CHAINS) {
        for (size_t i = 0; i < PORTABLE_CHAINS; i++)
            chain[i] += x[at + i];
    }
    for (int i = 0; i < PORTABLE_CHAINS; i++)
        sum += chain[i];
    return sum;
}

/* Loops take their inputs from sink, a volatile member, and leave their results there: no compiler may drop a loop. */
static void run_clock(struct exp_ruler *r)
{
    const double one = 1 + (double)r->sink * 0;

    r->sink = (float)divide(CLOCK_STEPS, 1.1 * one, 1.5 * one);
}

static void run_fma(struct exp_ruler *r)
{
    const size_t n_steps = N_FMAS / (r->peak ? r->peak->n_chains : PORTABLE_CHAINS);
    const float zero = r->sink * 0;

    r->sink = r->peak ? r->peak->fma(n_steps) : portable_fma(n_steps, 0.5f + zero, 1 + zero);
}

static void run_loads(struct exp_ruler *r)
{
    const size_t n = EXP_RULER_BYTES / sizeof(float);

    for (int i = 0; i < LOAD_PASSES; i++)
        r->sink = r->peak ? r->peak->read(r->data, n) : portable_read(r->data, n);
}

/* A piece of a loop, and the clock beside the piece. */
struct piece {
    uint32_t clock_ns, ns;
};

/* Runs a piece of a loop and returns its time, 1 ns at least. */
static uint32_t time_piece(struct exp_ruler *r, void (*loop)(struct exp_ruler *r))
{
    const uint64_t start = ctr_now_ns();
    uint64_t took;

    loop(r);
    took = ctr_now_ns() - start;
    return took < UINT32_MAX ? (uint32_t)(took + !took) : UINT32_MAX;
}

/*
 * Reads pieces in turns, each between two pieces of the clock, of which the faster counts. Returns the piece with the
 * fewest units of its clock.
 */
static struct piece read_pieces(struct exp_ruler *r, void (*loop)(struct exp_ruler *r))
{
    struct piece best = { 0 };
    uint32_t before = time_piece(r, run_clock);

    for (int i = 0; i < EXP_RULER_PIECES; i++) {
        const uint32_t ns = time_piece(r, loop), after = time_piece(r, run_clock);
        const struct piece p = { before < after ? before : after, ns };

        if (!i || (double)p.ns * best.clock_ns < (double)best.ns * p.clock_ns)
            best = p;
        before = after;
    }
    return best;
}

void exp_ruler_read_core(struct exp_ruler *r, struct exp_mark *m)
{
    struct piece p;

    if (!r)
        return;
    p = read_pieces(r, run_fma);
    m->clock_ns = p.clock_ns;
    m->fma_ns = p.ns;
    m->ghz = ctr_core_ghz_now();
}

void exp_ruler_read_loads(struct exp_ruler *r, struct exp_mark *m)
{
    struct piece p;

    if (!r)
        return;
    p = read_pieces(r, run_loads);
    m->loads_clock_ns = p.clock_ns;
    m->loads_ns = p.ns;
}

int exp_ruler_new(struct exp_ruler **r, const struct conv_peak *peak)
{
    void *data;

    *r = NULL;
    if (ctr_is_emulated())
        return 0;
    *r = exp_new(1, sizeof **r);
    (*r)->peak = peak;
    if (posix_memalign(&data, ALIGN, EXP_RULER_BYTES)) {
        exp_ruler_free(*r);
        *r = NULL;
        return -ENOMEM;
    }
    (*r)->data = memset(data, 0, EXP_RULER_BYTES);
    return 0;
}

void exp_ruler_free(struct exp_ruler *r)
{
    if (r)
        free(r->data);
    free(r);
}

/* ---- beside turns ---- */

static void read_before(void *ruler)
{
    struct exp_ruler *r = ruler;

    exp_ruler_read_loads(r, &r->before);
}

static void read_begin(void *ruler)
{
    struct exp_ruler *r = ruler;
    exp_ruler_read_core(r, &r->before);
}

static double read_end(void *ruler, struct exp_mark *m)
{
    struct exp_ruler *r = ruler;
    struct exp_mark after = { 0 };

    exp_ruler_read_core(r, &after);
    exp_ruler_read_loads(r, &after);
    exp_ruler_best_add(&r->best, &r->before);
    exp_ruler_best_add(&r->best, &after);
    *m = exp_ruler_worse(r->before, after);
    return exp_ruler_off(&r->best, m);
}

void exp_ruler_limit(struct exp_ruler *r, uint64_t limit_ns)
{
    if (r)
        r->until_ns = ctr_now_ns() + limit_ns;
}

/* Reads until nothing is off. No timing has these readings, so they do not count for the best. */
static void wait_for_quiet(struct exp_ruler *r)
{
    const uint64_t until_ns = ctr_now_ns() + EXP_RULER_WAIT_MS * 1000000;
    struct exp_mark m = { 0 };

    do {
        exp_ruler_read_core(r, &m);
        exp_ruler_read_loads(r, &m);
    } while (exp_ruler_off(&r->best, &m) > 0 && ctr_now_ns() < until_ns);
}

bool exp_ruler_goes_on(struct exp_ruler *r, unsigned n_again)
{
    const bool is_over = ctr_now_ns() >= r->until_ns;

    r->kept.limit_ended = r->kept.limit_ended || is_over;
    if (is_over || n_again >= EXP_RULER_MOST_AGAIN)
        return false;
    wait_for_quiet(r);
    return true;
}

static bool goes_on(void *ruler, unsigned n_again)
{
    return exp_ruler_goes_on(ruler, n_again);
}

static void keep(void *ruler, const struct exp_mark *m)
{
    struct exp_ruler *r = ruler;

    exp_ruler_report_add(&r->kept, &r->best, m, 1);
}

struct exp_watch exp_ruler_watch(struct exp_ruler *r)
{
    return (struct exp_watch){
        .before = read_before, .begin = read_begin, .end = read_end, .goes_on = goes_on, .keep = keep, .ctx = r
    };
}

/* ---- what disturbs ---- */

enum { PEAK_STEPS = 1 << 14, PEAK_SAMPLES = 20 }; /* about 100 us each */

/* Limits of a quiet machine. Fast and slow rounds lie a few per cent apart on any machine. */
static const double most_steal_percent = 1, most_waited_percent = 1, most_median_percent = 5, most_peak_percent = 5;

/* Opens <proc>/<name>; NULL without the file. */
static FILE *open_table(const char *proc, const char *name)
{
    char *path = exp_format("%s/%s", proc, name);
    FILE *in = fopen(path, "r");

    free(path);
    return in;
}

/* Reads the first line of stat: cpu user nice system idle iowait irq softirq steal ...; user contains guests' time. */
static void read_steal(struct exp_disturbance_start *s, const char *proc)
{
    FILE *in = open_table(proc, "stat");
    double ticks[8], sum = 0;
    bool is_read = in && fscanf(in, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0], &ticks[1], &ticks[2], &ticks[3],
                                &ticks[4], &ticks[5], &ticks[6], &ticks[7]) == 8;

    for (size_t i = 0; i < 8 && is_read; i++)
        sum += ticks[i];
    s->steal = is_read ? ticks[7] : (double)NAN;
    s->cpu_time = is_read ? sum : (double)NAN;
    if (in)
        fclose(in);
}

/* Reads schedstat: ns on a CPU, ns ready and waiting for one, how often. */
static void read_waited(struct exp_disturbance_start *s, const char *proc)
{
    FILE *in = open_table(proc, "thread-self/schedstat");
    double ran;

    if (!in || fscanf(in, "%lf %lf", &ran, &s->waited) != 2)
        s->waited = (double)NAN;
    if (in)
        fclose(in);
}

/* Reads a line of sched: "se.nr_migrations   :   12". */
static void read_migrations(struct exp_disturbance_start *s, const char *proc)
{
    static const char name[] = "se.nr_migrations";
    FILE *in = open_table(proc, "thread-self/sched");
    char line[160];

    s->migrations = (double)NAN;
    while (in && fgets(line, sizeof line, in)) {
        const char *colon = strchr(line, ':');

        if (!strncmp(line, name, strlen(name)) && colon)
            s->migrations = atof(colon + 1);
    }
    if (in)
        fclose(in);
}

static void read_switches(struct exp_disturbance_start *s)
{
    struct rusage usage;

    s->switches = getrusage(RUSAGE_THREAD, &usage) ? (double)NAN : (double)usage.ru_nivcsw;
}

static struct exp_disturbance_start read_all(const char *proc)
{
    struct exp_disturbance_start s = { .wall_ns = ctr_now_ns() };

    read_steal(&s, proc);
    read_waited(&s, proc);
    read_migrations(&s, proc);
    read_switches(&s);
    return s;
}

/* Returns the best of some short samples: the core's present peak. */
static double sample_peak(const struct conv_peak *peak)
{
    uint64_t fastest = UINT64_MAX;
    volatile float sink = 0;

    for (int i = 0; i < PEAK_SAMPLES && peak; i++) {
        uint64_t start = ctr_thread_ns();

        sink = peak->fma(PEAK_STEPS);
        start = ctr_thread_ns() - start;
        fastest = start < fastest ? start : fastest;
    }
    (void)sink;
    return peak ? peak->flop_per_step * PEAK_STEPS / (double)fastest : (double)NAN;
}

double exp_sample_read(const struct conv_peak *peak)
{
    enum { SAMPLES = 3, FLOATS = 1 << 25 }; /* 128 MiB: beyond any cache here */
    float *x = exp_new(FLOATS, sizeof *x);
    volatile float sink = 0;
    double best = 0;

    memset(x, 1, FLOATS * sizeof *x);
    for (int i = 0; i < SAMPLES && peak; i++) {
        const uint64_t start = ctr_thread_ns();

        sink = peak->read(x, FLOATS);
        best = fmax(best, FLOATS * sizeof *x / (double)(ctr_thread_ns() - start));
    }
    (void)sink;
    free(x);
    return best;
}

void exp_disturbance_begin(struct exp_disturbance *d, const char *proc, const struct conv_peak *peak)
{
    assert(d && proc);
    *d = (struct exp_disturbance){ .peak_before = sample_peak(peak), .median_percent = (double)NAN };
    d->start = read_all(proc);
}

void exp_disturbance_end(struct exp_disturbance *d, const char *proc, const struct conv_peak *peak)
{
    const struct exp_disturbance_start now = read_all(proc), *start = &d->start;

    d->steal_percent = 100 * (now.steal - start->steal) / fmax(now.cpu_time - start->cpu_time, 1);
    d->waited_percent = 100 * (now.waited - start->waited) / fmax((double)(now.wall_ns - start->wall_ns), 1);
    d->switches = now.switches - start->switches;
    d->migrations = now.migrations - start->migrations;
    d->peak_after = sample_peak(peak);
}

static double peak_change_percent(const struct exp_disturbance *d)
{
    return 100 * fabs(d->peak_after - d->peak_before) / d->peak_before;
}

bool exp_disturbance_is_large(const struct exp_disturbance *d)
{
    return d->steal_percent > most_steal_percent || d->waited_percent > most_waited_percent ||
           d->median_percent > most_median_percent || d->migrations > 0 || peak_change_percent(d) > most_peak_percent;
}

void exp_disturbance_describe(const struct exp_disturbance *d, char *text, size_t bytes)
{
    const struct {
        const char *format;
        double value, second;
    } parts[] = {
        { ": steal %.1f %%", d->steal_percent, 0 },
        { ", %.1f %% of the time waiting for the core", d->waited_percent, 0 },
        { ", %.0f involuntary context switches", d->switches, 0 },
        { ", %.0f moves to another core", d->migrations, 0 },
        { ", FMA peak %.1f GFLOP/s before and %.1f after", d->peak_before, d->peak_after },
        { ", median rounds %.1f %% slower than the fastest", d->median_percent, 0 },
    };
    size_t used;

    exp_say(text, bytes, "%s", exp_disturbance_is_large(d) ? "disturbed" : "quiet");
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        used = strlen(text);
        if (isfinite(parts[i].value + parts[i].second))
            snprintf(text + used, bytes - used, parts[i].format, parts[i].value, parts[i].second);
    }
}

/* ---- decisions ---- */

enum { NEAR_BINS = 3 };

static const double bin_width = 1.005, first_bin = 1e-4; /* of ns, and of ratios of ns */

static void scale_of(const struct exp_mark *m, double value[EXP_N_RULER_SCALES])
{
    value[EXP_RULER_FMA] = m->fma_ns;
    value[EXP_RULER_FMA_CYCLES] = m->clock_ns ? (double)m->fma_ns / m->clock_ns : 0;
    value[EXP_RULER_LOADS] = m->loads_ns;
    value[EXP_RULER_LOADS_CYCLES] = m->loads_clock_ns ? (double)m->loads_ns / m->loads_clock_ns : 0;
}

static size_t bin_of(double value)
{
    const double bin = log(value / first_bin) / log(bin_width);

    return bin <= 0 ? 0 : bin >= EXP_RULER_BINS - 1 ? EXP_RULER_BINS - 1 : (size_t)bin;
}

/* Counts the readings of a bin and of the bins just above. */
static uint32_t count_near(const uint32_t *bin, size_t at)
{
    uint32_t n = 0;

    for (size_t i = at; i < at + NEAR_BINS && i < EXP_RULER_BINS; i++)
        n += bin[i];
    return n;
}

/*
 * Returns the best value of a scale: the lowest value with EXP_RULER_GATHERED_PERCENT of all readings within 1.5 %.
 * Scattered readings do not count.
 */
static double best_of(const struct exp_ruler_best *b, enum exp_ruler_scale scale)
{
    const uint32_t *bin = b->bin[scale], enough = b->n[scale] * EXP_RULER_GATHERED_PERCENT / 100;
    size_t first = 0, at;

    while (first < EXP_RULER_BINS - 1 && (!bin[first] || count_near(bin, first) <= enough))
        first++;
    at = first;
    for (size_t i = first; i < first + NEAR_BINS && i < EXP_RULER_BINS; i++)
        at = bin[i] > bin[at] ? i : at;
    return first_bin * pow(bin_width, (double)at + 0.5);
}

static double percent_over(double value, double best)
{
    return 100 * (value / best - 1);
}

/* A loop is off by the smaller error of both scales; up to the tolerance the result is 0. */
static double half_off(const struct exp_ruler_best *b, const double *value, enum exp_ruler_scale ns,
                       enum exp_ruler_scale cycles)
{
    double off;

    if (!(value[cycles] > 0) || !b->n[ns])
        return 0;
    off = fmin(percent_over(value[ns], best_of(b, ns)), percent_over(value[cycles], best_of(b, cycles)));
    return off > EXP_RULER_MOST_PERCENT ? off : 0;
}

static void add_half(struct exp_ruler_best *b, const double *value, enum exp_ruler_scale ns,
                     enum exp_ruler_scale cycles)
{
    if (!(value[cycles] > 0))
        return;
    b->n[ns]++;
    b->n[cycles]++;
    b->bin[ns][bin_of(value[ns])]++;
    b->bin[cycles][bin_of(value[cycles])]++;
}

void exp_ruler_best_add(struct exp_ruler_best *b, const struct exp_mark *m)
{
    double value[EXP_N_RULER_SCALES];

    assert(b && m);
    scale_of(m, value);
    add_half(b, value, EXP_RULER_FMA, EXP_RULER_FMA_CYCLES);
    if (!(half_off(b, value, EXP_RULER_FMA, EXP_RULER_FMA_CYCLES) > 0))
        add_half(b, value, EXP_RULER_LOADS, EXP_RULER_LOADS_CYCLES);
}

double exp_ruler_off(const struct exp_ruler_best *b, const struct exp_mark *m)
{
    double value[EXP_N_RULER_SCALES];

    assert(b && m);
    scale_of(m, value);
    return fmax(half_off(b, value, EXP_RULER_FMA, EXP_RULER_FMA_CYCLES),
                half_off(b, value, EXP_RULER_LOADS, EXP_RULER_LOADS_CYCLES));
}

/* Tells whether a loop took longer in a than in b, in units of the clocks; any reading is longer than no reading. */
static bool took_longer(uint32_t ns_a, uint32_t clock_a, uint32_t ns_b, uint32_t clock_b)
{
    return !clock_b || (double)ns_a * clock_b > (double)ns_b * clock_a;
}

struct exp_mark exp_ruler_worse(struct exp_mark a, struct exp_mark b)
{
    struct exp_mark worse = a;

    worse.ghz = a.ghz > 0 && b.ghz > 0 ? (a.ghz + b.ghz) / 2 : fmax(a.ghz, b.ghz);
    if (took_longer(b.fma_ns, b.clock_ns, a.fma_ns, a.clock_ns)) {
        worse.fma_ns = b.fma_ns;
        worse.clock_ns = b.clock_ns;
    }
    if (took_longer(b.loads_ns, b.loads_clock_ns, a.loads_ns, a.loads_clock_ns)) {
        worse.loads_ns = b.loads_ns;
        worse.loads_clock_ns = b.loads_clock_ns;
    }
    return worse;
}

double exp_ruler_slowed(const struct exp_ruler_best *b, const uint64_t *sample_ns, const struct exp_mark *mark,
                        size_t n)
{
    double sum_ns = 0, slowed_ns = 0;

    assert(b && mark && n);
    for (size_t i = 0; i < n; i++) {
        const double ns = exp_stats_is_low(sample_ns, n, i) ? (double)sample_ns[i] : 0;

        sum_ns += ns;
        slowed_ns += ns > 0 ? ns * exp_ruler_off(b, &mark[i]) / 100 : 0;
    }
    return sum_ns > 0 ? slowed_ns / sum_ns : 0;
}

/* ---- the whole ---- */

void exp_ruler_report_add(struct exp_ruler_report *r, const struct exp_ruler_best *b, const struct exp_mark *mark,
                          size_t n)
{
    size_t n_disturbed = 0;

    assert(r && (mark || !n));
    for (size_t i = 0; i < n; i++) {
        n_disturbed += exp_ruler_off(b, &mark[i]) > 0;
        r->n_again += mark[i].n_again > 0;
    }
    r->n_timings += n;
    r->n_disturbed += n_disturbed;
    r->n_things++;
    r->n_lost += n - n_disturbed < (n + 1) / 2;
}

void exp_ruler_report_sum(struct exp_ruler_report *sum, const struct exp_ruler_report *x)
{
    assert(sum && x);
    sum->n_timings += x->n_timings;
    sum->n_again += x->n_again;
    sum->n_disturbed += x->n_disturbed;
    sum->n_things += x->n_things;
    sum->n_lost += x->n_lost;
    sum->limit_ended = sum->limit_ended || x->limit_ended;
}

bool exp_ruler_is_measured(const struct exp_ruler_report *r)
{
    assert(r);
    return 100 * r->n_lost <= EXP_RULER_MOST_LOST_PERCENT * r->n_things;
}

void exp_ruler_say(const struct exp_ruler_report *r, char *text, size_t bytes)
{
    if (!r->n_timings) {
        exp_say(text, bytes, "no ruler stood beside the timings");
        return;
    }
    exp_say(text, bytes, "%zu of %zu timings were taken again", r->n_again, r->n_timings);
    if (r->n_disturbed)
        exp_say_more(text, bytes, "; %zu %s disturbed and kept because %s", r->n_disturbed,
                     r->n_disturbed == 1 ? "was" : "were", r->limit_ended ? "the limit ended" : "the neighbour stayed");
}
