#include "sim/programs/bench_sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/engine.h"
#include "sim/plain/engine_plain.h"
#include "sim/record.h"

enum {
    MAX_RUNS = 2,
    N_RECORDS = 1 << 23, /* per stream: 64 MiB of records, more than caches hold */
    MAX_ROUNDS = 32,
    /* GEMM: windows and filters per micro-kernel, reduction steps per panel, panels of each side */
    WINDOWS = 16,
    FILTERS = 24,
    STEPS = 144,
    WINDOW_PANELS = 28,
    FILTER_PANELS = 8,
    /* im2col: rows, columns of an image; 3x3 taps, padded by one */
    SIDE = 56,
};

struct burst {
    struct sim_run run[MAX_RUNS];
    size_t n_runs;
    uint64_t n_times;
};

/* A stream twice: as bursts and as the records that those stand for. */
struct stream {
    const char *name;
    struct burst *burst;
    size_t n_bursts, max_bursts;
    uint64_t *record;
    size_t n_records;
};

static struct sim_run run_of(enum sim_kind kind, unsigned tag, uint64_t addr, uint32_t bytes, uint32_t count,
                             int64_t step_bytes)
{
    return (struct sim_run){
        .addr = addr,
        .stride_bytes = (int64_t)bytes,
        .step_bytes = step_bytes,
        .count = count,
        .access_bytes = bytes,
        .kind = (uint8_t)kind,
        .tag = (uint8_t)tag,
    };
}

static size_t records_of(const struct burst *b)
{
    size_t n = 0;

    for (size_t r = 0; r < b->n_runs; r++)
        n += b->run[r].count;
    return n * (size_t)b->n_times;
}

static void expand(struct stream *s, const struct burst *b)
{
    for (uint64_t t = 0; t < b->n_times; t++) {
        for (const struct sim_run *r = b->run; r < b->run + b->n_runs; r++) {
            uint64_t addr = r->addr + t * (uint64_t)r->step_bytes;

            for (uint32_t i = 0; i < r->count; i++, addr += (uint64_t)r->stride_bytes)
                s->record[s->n_records++] = sim_record(addr, r->access_bytes, (enum sim_kind)r->kind, r->tag, r->phase);
        }
    }
}

/* Appends a burst. False if the stream is full. */
static bool add(struct stream *s, const struct burst *b)
{
    if (!b->n_times)
        return true;
    if (s->n_records + records_of(b) > N_RECORDS || s->n_bursts == s->max_bursts)
        return false;
    s->burst[s->n_bursts++] = *b;
    expand(s, b);
    return true;
}

/*
 * A block of GEMM from panels packed before, over and over (258 KiB of windows, 108 KiB of filters, 336 KiB of
 * outputs). Per step one vector of windows and a broadcast per filter; then the tile of outputs is loaded, added to,
 * stored.
 */
static bool add_tile(struct stream *s, size_t w, size_t f)
{
    const uint64_t windows = 0x10000000 + w * STEPS * WINDOWS * 4, filters = 0x20000000 + f * STEPS * FILTERS * 4;
    const uint64_t out = 0x30000000 + (f * FILTERS * WINDOW_PANELS + w) * WINDOWS * 4;
    const int64_t row = WINDOW_PANELS * WINDOWS * 4;
    const struct burst steps = { { run_of(SIM_LOAD, 0, windows, WINDOWS * 4, 1, WINDOWS * 4),
                                   run_of(SIM_LOAD, 1, filters, 4, FILTERS, FILTERS * 4) },
                                 2,
                                 STEPS };
    const struct burst update = { { run_of(SIM_LOAD, 2, out, 64, 1, row), run_of(SIM_STORE, 2, out, 64, 1, row) },
                                  2,
                                  FILTERS };

    return add(s, &steps) && add(s, &update);
}

static void fill_gemm(struct stream *s)
{
    for (;;) {
        for (size_t f = 0; f < FILTER_PANELS; f++) {
            for (size_t w = 0; w < WINDOW_PANELS; w++) {
                if (!add_tile(s, w, f))
                    return;
            }
        }
    }
}

/* One row of the output for one tap: zeros where it meets padding, else copies, element by element. */
static bool add_row(struct stream *s, size_t channel, size_t tap, size_t row, uint64_t *out)
{
    size_t y = row + tap / 3, x = tap % 3; /* plus the padding of one */
    size_t before = x == 0, after = x == 2, inside = SIDE - before - after;
    uint64_t in = 0x10000000 + ((channel * SIDE + y - 1) * SIDE + x + before - 1) * 4;
    bool is_inside = y > 0 && y <= SIDE;
    struct burst zeros = { { run_of(SIM_STORE, 1, *out, 4, is_inside ? 1 : SIDE, 4) }, 1, is_inside ? before : 1 };
    struct burst copy = { { run_of(SIM_LOAD, 0, in, 4, 1, 4), run_of(SIM_STORE, 1, *out + before * 4, 4, 1, 4) },
                          2,
                          inside };
    struct burst tail = { { run_of(SIM_STORE, 1, *out + (before + inside) * 4, 4, 1, 4) }, 1, after };

    *out += SIDE * 4;
    return add(s, &zeros) && (!is_inside || (add(s, &copy) && add(s, &tail)));
}

static void fill_im2col(struct stream *s)
{
    uint64_t out = 0x40000000;

    for (size_t channel = 0;; channel++) {
        for (size_t tap = 0; tap < 9; tap++) {
            for (size_t row = 0; row < SIDE; row++) {
                if (!add_row(s, channel, tap, row, &out))
                    return;
            }
        }
    }
}

/* Aligned 8-byte loads and stores, three to one. */
static void fill_random(struct stream *s)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    struct burst b = { .n_runs = 1, .n_times = 1 };

    do {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        b.run[0] = run_of(state >> 62 ? SIM_LOAD : SIM_STORE, state >> 61 & 1,
                          0x10000000 + (state >> 8) % (64 << 20) / 8 * 8, 8, 1, 0);
    } while (add(s, &b));
}

struct sim_machine sim_bench_machine(void)
{
    return (struct sim_machine){
        .name = "32K/8 + 1M/16 + 11M/11",
        .n_levels = 3,
        .level = { { .name = "L1", .policy = "lru", .n_sets = 64, .n_ways = 8, .line_bytes = 64 },
                   { .name = "L2", .policy = "lru", .n_sets = 1024, .n_ways = 16, .line_bytes = 64 },
                   { .name = "L3", .policy = "lru", .n_sets = 16384, .n_ways = 11, .line_bytes = 64 } },
    };
}

/* ---- contenders ---- */

struct contender {
    const char *name;
    const struct sim_engine *engine;
    void (*feed)(struct sim_hierarchy *h, const struct stream *s);
    struct sim_hierarchy *h;
    double rate[MAX_ROUNDS]; /* million accesses per second */
};

static void feed_records(struct sim_hierarchy *h, const struct stream *s)
{
    sim_hierarchy_records(h, s->record, s->n_records);
}

static void feed_bursts_to(struct sim_sink *sink, const struct stream *s)
{
    for (const struct burst *b = s->burst; b < s->burst + s->n_bursts; b++)
        sim_emit(sink, b->run, b->n_runs, b->n_times);
}

static void feed_bursts(struct sim_hierarchy *h, const struct stream *s)
{
    feed_bursts_to(sim_hierarchy_sink(h), s);
}

static double now_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double rate_of(const struct stream *s, double seconds)
{
    return (double)s->n_records / (seconds > 0 ? seconds : 1e-9) / 1e6;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool is_same(const struct sim_stats *a, const struct sim_stats *b)
{
    return !memcmp(a->cell, b->cell, sizeof a->cell);
}

static double run_reference(const struct sim_bench_reference *r, const struct stream *s)
{
    double start;

    r->clear(r->ctx);
    start = now_seconds();
    feed_bursts_to(r->sink, s);
    return rate_of(s, now_seconds() - start);
}

static void run_rounds(struct contender *c, size_t n, const struct stream *s, unsigned n_rounds)
{
    for (unsigned round = 0; round < n_rounds; round++) {
        for (size_t i = 0; i < n; i++) {
            double start;

            sim_hierarchy_clear(c[i].h);
            start = now_seconds();
            c[i].feed(c[i].h, s);
            c[i].rate[round] = rate_of(s, now_seconds() - start);
        }
    }
}

/* Measures and prints one stream. */
static int bench_stream(FILE *out, struct contender *c, size_t n, const struct stream *s,
                        const struct sim_bench_reference *reference, unsigned n_rounds)
{
    double reference_rate = reference ? run_reference(reference, s) : 0;
    const struct sim_stats *expected = reference ? reference->stats(reference->ctx) : NULL;
    int err = 0;

    run_rounds(c, n, s, n_rounds);
    expected = expected ? expected : sim_hierarchy_stats(c[0].h);
    for (size_t i = 0; i < n; i++) {
        bool agrees = is_same(sim_hierarchy_stats(c[i].h), expected);

        qsort(c[i].rate, n_rounds, sizeof c[i].rate[0], by_value);
        fprintf(out, "%-8s %-18s %12.1f %8.2f", s->name, c[i].name, c[i].rate[n_rounds / 2],
                c[i].rate[n_rounds - 1] / c[i].rate[0]);
        if (reference)
            fprintf(out, " %10.1f", c[i].rate[n_rounds / 2] / reference_rate);
        fprintf(out, "%s\n", agrees ? "" : "  COUNTS DIFFER");
        err = agrees ? err : -EDOM;
    }
    if (reference)
        fprintf(out, "%-8s %-18s %12.1f %8s %10.1f\n", s->name, reference->name, reference_rate, "", 1.0);
    return err;
}

static int bench_filled(FILE *out, struct contender *c, size_t n, struct stream *s,
                        const struct sim_bench_reference *reference, unsigned n_rounds)
{
    static const struct {
        const char *name;
        void (*fill)(struct stream *s);
    } kinds[] = { { "gemm", fill_gemm }, { "im2col", fill_im2col }, { "random", fill_random } };
    int err = 0;

    fprintf(out, "%-8s %-18s %12s %8s%s\n", "stream", "interface", "M access/s", "spread",
            reference ? "    x naive" : "");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        int own;

        s->name = kinds[i].name;
        s->n_bursts = s->n_records = 0;
        kinds[i].fill(s);
        own = bench_stream(out, c, n, s, reference, n_rounds);
        err = err ? err : own;
    }
    return err ? err : ferror(out) ? -EIO : 0;
}

int sim_bench(FILE *out, const struct sim_machine *m, const struct sim_bench_reference *reference, unsigned n_rounds)
{
    struct contender c[] = {
        { .name = "records", .engine = &sim_engine_plain, .feed = feed_records },
        { .name = "bursts", .engine = &sim_engine_plain, .feed = feed_bursts },
        { .name = "records, portable", .engine = &sim_engine_portable, .feed = feed_records },
        { .name = "bursts, portable", .engine = &sim_engine_portable, .feed = feed_bursts },
    };
    enum { N = sizeof c / sizeof c[0] };
    struct stream s = { .max_bursts = N_RECORDS };
    int err = 0;

    n_rounds = n_rounds < 1 ? 1 : n_rounds > MAX_ROUNDS ? MAX_ROUNDS : n_rounds;
    for (size_t i = 0; i < N && !err; i++)
        err = sim_engine_new(&c[i].h, c[i].engine, m);
    s.burst = malloc(s.max_bursts * sizeof *s.burst);
    s.record = malloc(N_RECORDS * sizeof *s.record);
    if (!err && (!s.burst || !s.record))
        err = -ENOMEM;
    if (!err)
        err = bench_filled(out, c, N, &s, reference, n_rounds);
    for (size_t i = 0; i < N; i++)
        sim_hierarchy_free(c[i].h);
    free(s.burst);
    free(s.record);
    return err;
}
