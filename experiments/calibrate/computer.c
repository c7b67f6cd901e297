#include "experiments/calibrate/calibrate.h"

#include <assert.h>
#include <errno.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_emulated.h"
#include "counters/host/ctr_flush.h"
#include "counters/host/ctr_tick.h"
#include "counters/host/ctr_timer.h"
#include "counters/perf/ctr_loop.h"

/* This computer. */

enum {
    N_FORGET = 96, /* lines of further pages, more than prefetchers watch */
    FORGET_BYTES = 32 << 20,
    BEFORE_NS = 1000, /* until flushing has ended */
    AFTER_NS = 1500,  /* until prefetches have come */
    STREAM_NS = 200000,
};

/* ---- a probe ---- */

static void read_lines(const unsigned char *memory, size_t bytes)
{
    const volatile unsigned char *at = memory;

    for (size_t i = 0; i < bytes; i += EXP_PATTERN_LINE)
        (void)at[i];
}

/* In an order unknown to prefetchers. */
static void forget(const struct exp_native *n, uint32_t seed)
{
    const volatile unsigned char *others = n->others.memory;

    for (size_t i = 0; i < N_FORGET; i++) {
        seed = seed * 1664525u + 1013904223u;
        (void)others[(size_t)(seed >> 8) % (FORGET_BYTES / EXP_PATTERN_PAGE) * EXP_PATTERN_PAGE +
                     (seed >> 3) % (EXP_PATTERN_PAGE / EXP_PATTERN_LINE) * EXP_PATTERN_LINE];
    }
}

static void wait_ns(const struct exp_native *n, double ns)
{
    ctr_tick_wait((uint64_t)(ns * n->ticks_per_ns));
}

/* The ground holds zeros: adding the loaded zero makes the next load wait, and changes nothing. */
__attribute__((noinline)) static void walk(const unsigned char *ground, const struct exp_look *l)
{
    uint64_t zero = 0;

    for (size_t i = 0; i < l->n; i++) {
        zero = *(const volatile unsigned char *)(ground + l->offset[i] + zero);
        if (l->gap_ticks)
            ctr_tick_wait(l->gap_ticks);
    }
}

static double look(void *context, const struct exp_look *l)
{
    const struct exp_native *n = context;
    double ticks;

    forget(n, l->seed);
    ctr_flush(n->ground.memory + l->flush_first, l->flush_end - l->flush_first);
    read_lines((const unsigned char *)l->offset, l->n * sizeof *l->offset);
    wait_ns(n, BEFORE_NS);
    walk(n->ground.memory, l);
    wait_ns(n, AFTER_NS);
    read_lines(n->others.memory, l->sweep_bytes);
    ticks = (double)ctr_tick_load(n->ground.memory + l->probed) - n->overhead_ticks;
    return ticks > 0 ? ticks : 0;
}

/* ---- rings and streams ---- */

static unsigned char *memory_of(const struct exp_native *n, const struct exp_ring *r)
{
    return r->is_loose ? n->small.memory : n->set.memory;
}

static void **ring_at(const struct exp_native *n, const struct exp_ring *r, size_t i)
{
    return (void **)(void *)(memory_of(n, r) + i * r->step_bytes);
}

/* A ring through all lines in order, or in random order (Sattolo's shuffle). */
static void make_ring(const struct exp_native *n, const struct exp_ring *r)
{
    uint64_t random = 0;

    for (size_t i = 0; i < r->n_lines; i++)
        *ring_at(n, r, i) = ring_at(n, r, r->is_sorted ? (i + 1) % r->n_lines : i);
    for (size_t i = r->n_lines - 1; i && !r->is_sorted; i--) {
        void **other = ring_at(n, r, exp_random_next(&random) % i), *swap = *ring_at(n, r, i);

        *ring_at(n, r, i) = *other;
        *other = swap;
    }
}

__attribute__((noinline)) static void *const volatile *follow(void *const volatile *at, size_t n_loads)
{
    for (size_t i = 0; i < n_loads; i++)
        at = (void *const volatile *)*at;
    return at;
}

__attribute__((noinline)) static void *const volatile *follow_at_once(void *const volatile **at, size_t n_loads)
{
    for (size_t i = 0; i < n_loads; i += EXP_AT_ONCE)
        for (size_t k = 0; k < EXP_AT_ONCE; k++)
            at[k] = (void *const volatile *)*at[k];
    return at[0];
}

/* Stores beside the pointers. */
__attribute__((noinline)) static void store(void *const volatile **line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ((volatile uintptr_t *)(uintptr_t)line[i])[1] = i;
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

__attribute__((noinline)) static void load(void *const volatile *const *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        (void)*line[i];
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Returns the nanoseconds of a line loaded without dependence on the previous line of the ring. */
static double miss_at_once(const struct exp_native *n, const struct exp_ring *r)
{
    void *const volatile **line = exp_new(r->n_lines, sizeof *line);
    uint64_t start, ns;

    line[0] = (void *const volatile *)memory_of(n, r);
    for (size_t i = 1; i < r->n_lines; i++)
        line[i] = follow(line[i - 1], 1);
    for (size_t k = 0; k < EXP_AT_ONCE && r->is_shared; k++)
        line[k] = line[k * (r->n_lines / EXP_AT_ONCE)];
    ctr_flush(memory_of(n, r), r->n_lines * r->step_bytes);
    read_lines((const unsigned char *)line, r->n_lines * sizeof *line);
    start = ctr_now_ns();
    if (r->is_stored)
        store(line, r->n_loads);
    else if (r->is_loose)
        load(line, r->n_loads);
    else
        follow_at_once(line, r->n_loads);
    ns = ctr_now_ns() - start;
    free(line);
    return fmax(0, (double)ns - n->overhead_ns) / (double)r->n_loads;
}

static double chase(void *context, const struct exp_ring *r)
{
    const struct exp_native *n = context;
    void *const volatile *at = (void *const volatile *)n->set.memory;
    uint64_t start;
    double ns;

    make_ring(n, r);
    if (r->is_shared || r->is_stored || r->is_loose)
        return miss_at_once(n, r);
    at = follow(at, r->n_lines);
    if (r->is_flushed)
        ctr_flush(n->set.memory, r->n_lines * r->step_bytes);
    read_lines(n->others.memory, r->sweep_bytes);
    start = ctr_now_ns();
    at = follow(at, r->n_loads);
    ns = (double)(ctr_now_ns() - start) - n->overhead_ns;
    return at && ns > 0 ? ns / (double)r->n_loads : 0;
}

static double stream(void *context, const struct ctr_stream *s, size_t bytes, bool flushed)
{
    const struct exp_native *n = context;
    uint64_t start, spent;
    size_t n_passes = 0;

    s->run(n->set.memory, bytes);
    if (flushed)
        ctr_flush(n->set.memory, bytes);
    start = ctr_now_ns();
    do {
        s->run(n->set.memory, bytes);
        n_passes++;
        spent = ctr_now_ns() - start;
    } while (!flushed && spent < STREAM_NS);
    return spent ? (double)(n_passes * bytes) / (double)spent : 0;
}

static double core_clock(void *context)
{
    (void)context;
    return ctr_core_ghz();
}

/* ---- begin and end ---- */

/* Returns how many ticks a nanosecond has, over two milliseconds. */
static double tick_rate(void)
{
    enum { SPAN_NS = 2000000 };
    const uint64_t start_ns = ctr_now_ns(), start = ctr_tick();
    uint64_t ns;

    do
        ns = ctr_now_ns() - start_ns;
    while (ns < SPAN_NS);
    return (double)(ctr_tick() - start) / (double)ns;
}

/* Returns the time of a probe of a line in L1: about two readings of the clock. */
static double tick_overhead(void)
{
    enum { N = 501 };
    uint64_t sample[N];

    for (size_t i = 0; i < N; i++) {
        uint64_t before = ctr_tick();

        sample[i] = ctr_tick() - before;
    }
    return exp_stats_median(sample, N);
}

/* Returns the cost of an undisturbed reading of the clock. */
static double clock_overhead(void)
{
    enum { N = 501 };
    uint64_t sample[N];

    for (size_t i = 0; i < N; i++) {
        uint64_t before = ctr_now_ns();

        sample[i] = ctr_now_ns() - before;
    }
    return (double)exp_stats_min(sample, N);
}

static int check_family(struct exp_why *why)
{
    if (ctr_is_emulated())
        return exp_fail(why, -ENOTSUP,
                        "times are an emulator's: nothing can be measured here; give recorded ones (PATTERNS=...)");
    if (!ctr_flush_name() || !ctr_tick_name())
        return exp_fail(why, -ENOTSUP,
                        "this CPU family has no instruction to %s that a program may use: nothing can be measured "
                        "here; give recorded patterns (PATTERNS=...)",
                        ctr_flush_name() ? "read a fine clock" : "flush a line");
    return 0;
}

int exp_native_init(struct exp_native *n, size_t set_bytes, size_t sweep_bytes, struct exp_why *why)
{
    const size_t others_bytes = sweep_bytes > FORGET_BYTES ? sweep_bytes : FORGET_BYTES;
    int err = check_family(why);

    assert(n && set_bytes && sweep_bytes);
    *n = (struct exp_native){ .computer = { n, look, chase, stream, core_clock } };
    if (err)
        return err;
    if (ctr_pages_init(&n->ground, EXP_GROUND_BYTES) || ctr_pages_init(&n->others, others_bytes) ||
        ctr_pages_init(&n->set, set_bytes) || ctr_pages_init_small(&n->small, EXP_LOOSE_BYTES)) {
        exp_native_release(n);
        return exp_fail(why, -ENOMEM, "no %.0f MiB of memory to measure in",
                        (double)(EXP_GROUND_BYTES + others_bytes + set_bytes + EXP_LOOSE_BYTES) / (1 << 20));
    }
    n->ticks_per_ns = tick_rate();
    n->overhead_ticks = tick_overhead();
    n->overhead_ns = clock_overhead();
    return 0;
}

void exp_native_release(struct exp_native *n)
{
    ctr_pages_release(&n->ground);
    ctr_pages_release(&n->others);
    ctr_pages_release(&n->set);
    ctr_pages_release(&n->small);
}

void exp_native_describe_pages(const struct exp_native *n, char *text, size_t bytes)
{
    const size_t all = n->ground.bytes + n->others.bytes + n->set.bytes;
    const size_t large = n->ground.large_bytes + n->others.large_bytes + n->set.large_bytes;

    if (large == all)
        exp_say(text, bytes, "2 MiB pages");
    else
        exp_say(text, bytes, "%s 2 MiB pages (%zu of %zu MiB): times include page walks", large ? "too few" : "no",
                large >> 20, all >> 20);
}

enum {
    TIMES_INNER = 4,   /* the size of a working set over the level inside, if there is room */
    NEAR_LINES = 1024, /* of a ring, in L1 and L2: few pages */
    FAR_LINES = 4096,
    LOOSE_LINES = 32768, /* of different pages, too many for a TLB */
    RING_SHARE = 16,     /* the ring has at most this fraction of a level's lines */
    NEAR_STEP = 256,     /* bytes between lines of the ring: in L1 and L2, */
    FAR_STEP = 1024,     /* and where larger pages would be needed for more; */
    ROW_STEP = 4160,     /* of misses at once: a page and a line */
    RING_LOADS = 65536,  /* of a working set in L1 */
    MEMORY_BYTES = 32 << 20,
    MAX_SET_BYTES = 256 << 20,
};

/* ---- measurements ---- */

/* Four times the level inside, unless the mean of the two, as factors, is less. L1: half of it. */
static size_t set_bytes(const struct sim_machine *m, size_t level)
{
    const double bytes = (double)sim_level_bytes(&m->level[level]);
    const double inner = level ? (double)sim_level_bytes(&m->level[level - 1]) : bytes / 4;
    double set = level ? TIMES_INNER * inner : bytes / 2;

    if (set > sqrt(inner * bytes))
        set = sqrt(inner * bytes);
    if (set > MAX_SET_BYTES)
        set = MAX_SET_BYTES;
    return ((size_t)set / CTR_STREAM_STEP + 1) * CTR_STREAM_STEP;
}

static struct exp_ring ring_in(const struct sim_machine *m, size_t level)
{
    const size_t most = level < 2 ? NEAR_LINES : FAR_LINES;
    const uint64_t share =
        level < m->n_levels ? sim_level_bytes(&m->level[level]) / EXP_PATTERN_LINE / RING_SHARE : most;
    struct exp_ring r = { .n_lines = share < most ? (size_t)share : most,
                          .step_bytes = level < 2 ? NEAR_STEP : FAR_STEP };

    r.n_loads = level ? r.n_lines : RING_LOADS;
    r.is_flushed = level == m->n_levels;
    if (level && !r.is_flushed)
        r.sweep_bytes = 2 * (size_t)sim_level_bytes(&m->level[level - 1]);
    return r;
}

void exp_speeds_plan(struct exp_speeds *s, const struct sim_machine *m)
{
    assert(s && m->n_levels);
    *s = (struct exp_speeds){ .n = m->n_levels + 1 };
    for (size_t i = 0; i < s->n; i++) {
        exp_say(s->level[i].name, sizeof s->level[i].name, "%s", i < m->n_levels ? m->level[i].name : "memory");
        s->level[i].set_bytes = i < m->n_levels ? set_bytes(m, i) : MEMORY_BYTES;
        s->level[i].ring = ring_in(m, i);
    }
    for (size_t i = 0; i < EXP_N_MISSES; i++) {
        const bool is_loose = i == EXP_SCATTERED || i == EXP_IN_SEQUENCE;
        const size_t n_lines = is_loose ? LOOSE_LINES : FAR_LINES;

        s->missing[i] = (struct exp_ring){ .n_lines = n_lines,
                                           .step_bytes = i == EXP_IN_SEQUENCE ? EXP_PATTERN_LINE : ROW_STEP,
                                           .n_loads = n_lines,
                                           .is_flushed = true,
                                           .is_shared = i == EXP_LOADS_AT_ONCE,
                                           .is_stored = i == EXP_STORES_AT_ONCE,
                                           .is_loose = is_loose,
                                           .is_sorted = i == EXP_IN_SEQUENCE };
    }
}

size_t exp_speeds_set_bytes(const struct exp_speeds *s)
{
    size_t most = s->missing[0].n_lines * s->missing[0].step_bytes;

    for (size_t i = 0; i < s->n; i++) {
        const size_t ring_bytes = s->level[i].ring.n_lines * s->level[i].ring.step_bytes;

        most = s->level[i].set_bytes > most ? s->level[i].set_bytes : most;
        most = ring_bytes > most ? ring_bytes : most;
    }
    return most;
}

size_t exp_speeds_sweep_bytes(const struct exp_speeds *s)
{
    size_t most = 0;

    for (size_t i = 0; i < s->n; i++)
        most = s->level[i].ring.sweep_bytes > most ? s->level[i].ring.sweep_bytes : most;
    return most;
}

/* ---- measuring ---- */

static void measure_level(struct exp_level_speed *l, const struct exp_computer *c, double *latency_ns)
{
    *latency_ns = c->chase(c->context, &l->ring);
    for (size_t i = 0; ctr_streams[i].name; i++) {
        double speed =
            ctr_streams[i].can_run() ? c->stream(c->context, &ctr_streams[i], l->set_bytes, l->ring.is_flushed) : 0;

        l->bytes_per_ns[i] = speed > l->bytes_per_ns[i] ? speed : l->bytes_per_ns[i];
    }
}

/* latency_ns: [levels][most], of this round */
static int measure_round(struct exp_speeds *s, const struct exp_computer *c, double *latency_ns, size_t most,
                         bool (*interrupted)(void))
{
    for (size_t i = 0; i < s->n; i++) {
        double clock = c->clock(c->context);

        if (interrupted && interrupted())
            return -EINTR;
        s->clock_ghz = clock > s->clock_ghz ? clock : s->clock_ghz;
        measure_level(&s->level[i], c, &latency_ns[i * most]);
    }
    for (size_t i = 0; i < EXP_N_MISSES; i++) {
        const double ns = c->chase(c->context, &s->missing[i]);

        s->missing_ns[i] = s->missing_ns[i] > 0 ? fmin(s->missing_ns[i], ns) : ns;
    }
    return 0;
}

static int judge(struct exp_speeds *s, double *latency_ns, size_t most, size_t n_rounds, struct exp_why *why)
{
    for (size_t i = 0; i < s->n; i++) {
        struct exp_level_speed *l = &s->level[i];

        exp_stats_sort_up(&latency_ns[i * most], n_rounds);
        l->latency_ns = latency_ns[i * most];
        l->latency_median_ns = gsl_stats_median_from_sorted_data(&latency_ns[i * most], 1, n_rounds);
        if (!(l->latency_ns > (i ? l[-1].latency_ns : 0)))
            return exp_fail(why, -ENODATA,
                            "a load from %s took %.2f ns, not longer than %s%.2f: the clock is no good, or the "
                            "computer too busy: try again on an idle one",
                            l->name, l->latency_ns, i ? "one from the level inside, " : "", i ? l[-1].latency_ns : 0);
    }
    if (!(s->clock_ghz > 0))
        return exp_fail(why, -ENODATA, "nothing tells the core's clock on this CPU family");
    return 0;
}

int exp_speeds_measure(struct exp_speeds *s, const struct exp_computer *c, const struct exp_rounds *rounds,
                       bool (*interrupted)(void), struct exp_why *why)
{
    double *latency_ns = exp_new(s->n * rounds->most, sizeof *latency_ns);
    const uint64_t start = ctr_now_ns();
    size_t n = 0;
    int err = 0;

    assert(c && rounds->most >= rounds->least);
    while (!err && exp_rounds_end(rounds, n, ctr_now_ns() - start, NULL, NULL) == EXP_GOES_ON) {
        err = measure_round(s, c, &latency_ns[n], rounds->most, interrupted);
        n += !err;
        if (err)
            exp_fail(why, err, "interrupted");
    }
    if (!err)
        err = judge(s, latency_ns, rounds->most, n, why);
    free(latency_ns);
    return err;
}

/* ---- results ---- */

/* The fastest loads of a level, of any width. */
static double read_speed(const struct exp_level_speed *l)
{
    double best = 0;

    for (size_t i = 0; ctr_streams[i].name; i++) {
        if (!ctr_streams[i].is_store && l->bytes_per_ns[i] > best)
            best = l->bytes_per_ns[i];
    }
    return best;
}

/* Rounds to parts of 1. */
static double rounded(double x, double parts)
{
    return round(x * parts) / parts;
}

/* Latency over time per line is the least number of miss buffers, if the machine's file states any. */
static void raise_buffers(struct sim_level *inside, double bytes_per_cycle, double latency_cycles)
{
    const uint32_t lines = (uint32_t)ceil(bytes_per_cycle * latency_cycles / inside->line_bytes);

    if (inside->miss_buffers && inside->miss_buffers < lines)
        inside->miss_buffers = lines;
}

/* Returns how many lines were on their way from memory at once. */
static double lines_at_once(const struct exp_speeds *s, enum exp_misses of)
{
    return fmax(1, s->level[s->n - 1].latency_ns / s->missing_ns[of]);
}

void exp_speeds_apply(const struct exp_speeds *s, struct sim_machine *m)
{
    const struct exp_level_speed *memory = &s->level[s->n - 1];
    const uint32_t loads = (uint32_t)round(lines_at_once(s, EXP_LOADS_AT_ONCE));
    const double scattered_ns = s->missing_ns[EXP_SCATTERED] - s->missing_ns[EXP_IN_SEQUENCE];
    const uint32_t stores = (uint32_t)round(lines_at_once(s, EXP_STORES_AT_ONCE));

    assert(s && m->n_levels);
    m->issue.clock_ghz = rounded(s->clock_ghz, 100);
    for (size_t i = 0; i < m->n_levels; i++) {
        m->level[i].latency_cycles = rounded(s->level[i].latency_ns * s->clock_ghz, 10);
        m->level[i].bandwidth_bytes_per_cycle = rounded(read_speed(&s->level[i]) / s->clock_ghz, 10);
        if (i)
            raise_buffers(&m->level[i - 1], m->level[i].bandwidth_bytes_per_cycle, m->level[i].latency_cycles);
    }
    m->memory_latency_cycles = rounded(memory->latency_ns * s->clock_ghz, 10);
    m->memory_bandwidth_bytes_per_cycle = rounded(read_speed(memory) / s->clock_ghz, 10);
    raise_buffers(&m->level[m->n_levels - 1], m->memory_bandwidth_bytes_per_cycle, m->memory_latency_cycles);
    if (m->level[0].miss_buffers && m->level[0].miss_buffers < loads)
        m->level[0].miss_buffers = loads;
    if (!m->core.width)
        return;
    m->memory_scattered_cycles = fmin(rounded(fmax(0, scattered_ns) * s->clock_ghz, 10), m->memory_latency_cycles);
    m->core.store_misses = stores < m->core.store_buffers ? stores : m->core.store_buffers;
}

void exp_speeds_print(const struct exp_speeds *s, FILE *out)
{
    fprintf(out, "%-7s %9s %9s %11s", "", "latency", "", "working set");
    for (size_t i = 0; ctr_streams[i].name; i++)
        fprintf(out, " %10s", ctr_streams[i].name);
    fprintf(out, "\n%-7s %9s %9s %11s", "level", "ns", "cycles", "KiB");
    for (size_t i = 0; ctr_streams[i].name; i++)
        fprintf(out, " %10s", "GB/s");
    fputc('\n', out);
    for (size_t k = 0; k < s->n; k++) {
        const struct exp_level_speed *l = &s->level[k];

        fprintf(out, "%-7s %9.2f %9.1f %11zu", l->name, l->latency_ns, l->latency_ns * s->clock_ghz,
                l->set_bytes >> 10);
        for (size_t i = 0; ctr_streams[i].name; i++) {
            if (l->bytes_per_ns[i] > 0)
                fprintf(out, " %10.1f", l->bytes_per_ns[i]);
            else
                fprintf(out, " %10s", "-");
        }
        fputc('\n', out);
    }
    fprintf(out, "lines from memory at once, of many pages: %.1f by loads (%.1f ns a line), %.1f by stores (%.1f ns)\n",
            lines_at_once(s, EXP_LOADS_AT_ONCE), s->missing_ns[EXP_LOADS_AT_ONCE], lines_at_once(s, EXP_STORES_AT_ONCE),
            s->missing_ns[EXP_STORES_AT_ONCE]);
    fprintf(out,
            "lines from memory that nothing waits for: %.1f ns each in random order, of a small page each, %.1f in "
            "sequence\n",
            s->missing_ns[EXP_SCATTERED], s->missing_ns[EXP_IN_SEQUENCE]);
    fprintf(out, "core clock %.2f GHz; fastest rounds\n", s->clock_ghz);
}

/* ---- the file ---- */

struct speed_row {
    const char *level, *what, *unit;
    uint64_t working_set;
    double value, median;
};

#define ROW struct speed_row

/* clang-format off */
static const struct rec_field fields[] = {
    { { "level", "", "cache level, or memory", "" }, REC_AT(ROW, level) },
    { { "what", "", "latency: a load that waits for the one before; 32 loads at once: each waits for one before; stores "
        "of rows: each of another page; loads in random order, in sequence: of small pages, none waits; else what a "
        "loop does, and by how many bytes at once", "" },
      REC_AT(ROW, what) },
    { { "working_set", "bytes", "the lines of the ring, or what the loop went through; memory: after flushing", "" },
      REC_AT(ROW, working_set) },
    { { "value", "", "of the fastest round", "timed" }, REC_AT(ROW, value) },
    { { "unit", "", "ns, or bytes per ns", "" }, REC_AT(ROW, unit) },
    { { "median", "", "of all rounds; of latencies only", "timed" }, REC_NAN_AS(ROW, median, REC_DOES_NOT_APPLY) },
};
/* clang-format on */

const struct rec_table exp_speeds_table = REC_TABLE("latencies.csv", fields, ROW);

void exp_speeds_put(const struct exp_speeds *s, struct exp_csv *csv)
{
    static const char *const missing[] = { "32 loads at once", "stores of rows", "loads in random order",
                                           "loads in sequence" };

    for (size_t k = 0; k < s->n; k++) {
        const struct exp_level_speed *l = &s->level[k];
        ROW row = { l->name, "latency", "ns", l->ring.n_lines * EXP_PATTERN_LINE, l->latency_ns, l->latency_median_ns };

        rec_put(csv, &exp_speeds_table, &row);
        for (size_t i = 0; ctr_streams[i].name; i++) {
            row = (ROW){ l->name, ctr_streams[i].name, "bytes/ns", l->set_bytes, l->bytes_per_ns[i], (double)NAN };
            if (l->bytes_per_ns[i] > 0)
                rec_put(csv, &exp_speeds_table, &row);
        }
    }
    for (size_t i = 0; i < EXP_N_MISSES; i++) {
        const ROW row = { s->level[s->n - 1].name, missing[i], "ns", s->missing[i].n_lines * EXP_PATTERN_LINE,
                          s->missing_ns[i],        (double)NAN };

        rec_put(csv, &exp_speeds_table, &row);
    }
}
