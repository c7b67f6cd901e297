/* The computer that this runs on. */
#include "experiments/calibrate/exp_computer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "counters/host/ctr_emulated.h"
#include "counters/host/ctr_flush.h"
#include "counters/host/ctr_tick.h"
#include "counters/host/ctr_timer.h"
#include "counters/perf/ctr_loop.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/calibrate/exp_pattern.h"

enum {
    N_FORGET = 96, /* lines of other pages, more than prefetchers watch */
    FORGET_BYTES = 32 << 20,
    BEFORE_NS = 1000, /* until flushing has ended */
    AFTER_NS = 1500,  /* until prefetches have come */
    STREAM_NS = 200000,
};

/* ---- one look ---- */

static void read_lines(const unsigned char *memory, size_t bytes)
{
    const volatile unsigned char *at = memory;

    for (size_t i = 0; i < bytes; i += EXP_PATTERN_LINE)
        (void)at[i];
}

/* In an order that no prefetcher follows. */
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

/* The ground holds zeros: adding what was loaded makes the next load wait, and changes nothing. */
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

static void **ring_at(const struct exp_native *n, const struct exp_ring *r, size_t i)
{
    return (void **)(void *)(n->set.memory + i * r->step_bytes);
}

/* A ring through all lines in random order (Sattolo's shuffle). */
static void make_ring(const struct exp_native *n, const struct exp_ring *r)
{
    uint64_t random = 0;

    for (size_t i = 0; i < r->n_lines; i++)
        *ring_at(n, r, i) = ring_at(n, r, i);
    for (size_t i = r->n_lines - 1; i; i--) {
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

static double chase(void *context, const struct exp_ring *r)
{
    const struct exp_native *n = context;
    void *const volatile *at = (void *const volatile *)n->set.memory;
    uint64_t start;
    double ns;

    make_ring(n, r);
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
    const struct ctr_loop *loop = ctr_loop_named("multiplies");
    struct ctr_ground g = { 0 };
    uint64_t start;
    double cycles;

    (void)context;
    if (!loop)
        return 0;
    loop->prepare(&g);
    cycles = (double)g.n_turns * CTR_LOOP_UNROLL * CTR_LOOP_MULTIPLY_CYCLES;
    start = ctr_now_ns();
    loop->run(&g);
    return cycles / (double)(ctr_now_ns() - start);
}

/* ---- its beginning and end ---- */

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

/* Returns what a look takes though the line is in L1 and costs next to nothing: two readings of the clock. */
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

/* Returns what a reading of the clock costs that nothing disturbs. */
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
        return exp_fail(
            why, -ENOTSUP,
            "this CPU family has no instruction to %s that a program may use: nothing can be measured here; "
            "give recorded patterns (PATTERNS=...)",
            ctr_flush_name() ? "read a fine clock" : "flush a line");
    return 0;
}

int exp_native_init(struct exp_native *n, size_t set_bytes, size_t sweep_bytes, struct exp_why *why)
{
    const size_t others_bytes = sweep_bytes > FORGET_BYTES ? sweep_bytes : FORGET_BYTES;
    int err = check_family(why);

    *n = (struct exp_native){ .computer = { n, look, chase, stream, core_clock } };
    if (err)
        return err;
    if (ctr_pages_init(&n->ground, EXP_GROUND_BYTES) || ctr_pages_init(&n->others, others_bytes) ||
        ctr_pages_init(&n->set, set_bytes)) {
        exp_native_release(n);
        return exp_fail(why, -ENOMEM, "no %.0f MiB of memory to measure in",
                        (double)(EXP_GROUND_BYTES + others_bytes + set_bytes) / (1 << 20));
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
