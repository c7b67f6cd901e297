#include "sim/programs/bench_streams.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

#include "sim/base/record.h"

enum {
    N_RECORDS = 1 << 23, /* per stream: 64 MiB of records, more than caches hold */
    /* GEMM: windows and filters per micro-kernel */
    WINDOWS = 16,
    FILTERS = 24,
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

static size_t records_of(const struct bench_burst *b)
{
    size_t n = 0;

    for (size_t r = 0; r < b->n_runs; r++)
        n += b->run[r].count;
    return n * (size_t)b->n_times;
}

static void expand(struct bench_stream *s, const struct bench_burst *b)
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
static bool add_burst(struct bench_stream *s, const struct bench_burst *b)
{
    if (!b->n_times)
        return true;
    if (s->n_records + records_of(b) > N_RECORDS || s->n_bursts == N_RECORDS)
        return false;
    s->burst[s->n_bursts++] = *b;
    expand(s, b);
    return true;
}

/* A block of GEMM: reduction steps per panel, panels of each side. */
struct gemm {
    size_t n_steps, window_panels, filter_panels;
};

/*
 * Per step a vector of windows and a broadcast per filter, from packed panels; then the tile of outputs is loaded,
 * added to, stored.
 */
static bool add_tile(struct bench_stream *s, const struct gemm *g, size_t w, size_t f)
{
    const uint64_t windows = 0x10000000 + w * g->n_steps * WINDOWS * 4;
    const uint64_t filters = 0x20000000 + f * g->n_steps * FILTERS * 4;
    const uint64_t out = 0x30000000 + (f * FILTERS * g->window_panels + w) * WINDOWS * 4;
    const int64_t row = (int64_t)(g->window_panels * WINDOWS * 4);
    const struct bench_burst steps = { { run_of(SIM_LOAD, 0, windows, WINDOWS * 4, 1, WINDOWS * 4),
                                         run_of(SIM_LOAD, 1, filters, 4, FILTERS, FILTERS * 4) },
                                       2,
                                       g->n_steps };
    const struct bench_burst update = { { run_of(SIM_LOAD, 2, out, 64, 1, row), run_of(SIM_STORE, 2, out, 64, 1, row) },
                                        2,
                                        FILTERS };

    return add_burst(s, &steps) && add_burst(s, &update);
}

static void fill_with_gemm(struct bench_stream *s, const struct gemm *g)
{
    for (;;) {
        for (size_t f = 0; f < g->filter_panels; f++) {
            for (size_t w = 0; w < g->window_panels; w++) {
                if (!add_tile(s, g, w, f))
                    return;
            }
        }
    }
}

/* 258 KiB of windows, 108 KiB of filters, 336 KiB of outputs, over and over. */
static void fill_gemm(struct bench_stream *s)
{
    fill_with_gemm(s, &(struct gemm){ .n_steps = 144, .window_panels = 28, .filter_panels = 8 });
}

/* 17 MiB of windows, 864 KiB of filters, 11 MiB of outputs: windows come from memory for each panel of filters. */
static void fill_gemm_big(struct bench_stream *s)
{
    fill_with_gemm(s, &(struct gemm){ .n_steps = 576, .window_panels = 484, .filter_panels = 16 });
}

/*
 * Adds a row of the output of im2col for a tap of 3x3, with the image padded by one: zeros for padding, else copies,
 * element by element.
 */
static bool add_row(struct bench_stream *s, size_t side, size_t channel, size_t tap, size_t row, uint64_t *out)
{
    size_t y = row + tap / 3, x = tap % 3; /* plus the padding of one */
    size_t before = x == 0, after = x == 2, inside = side - before - after;
    uint64_t in = 0x10000000 + ((channel * side + y - 1) * side + x + before - 1) * 4;
    bool is_inside = y > 0 && y <= side;
    struct bench_burst zeros = { { run_of(SIM_STORE, 1, *out, 4, is_inside ? 1 : (uint32_t)side, 4) },
                                 1,
                                 is_inside ? before : 1 };
    struct bench_burst copy = { { run_of(SIM_LOAD, 0, in, 4, 1, 4), run_of(SIM_STORE, 1, *out + before * 4, 4, 1, 4) },
                                2,
                                inside };
    struct bench_burst tail = { { run_of(SIM_STORE, 1, *out + (before + inside) * 4, 4, 1, 4) }, 1, after };

    *out += side * 4;
    return add_burst(s, &zeros) && (!is_inside || (add_burst(s, &copy) && add_burst(s, &tail)));
}

static void fill_with_im2col(struct bench_stream *s, size_t side)
{
    uint64_t out = 0x40000000;

    for (size_t channel = 0;; channel++) {
        for (size_t tap = 0; tap < 9; tap++) {
            for (size_t row = 0; row < side; row++) {
                if (!add_row(s, side, channel, tap, row, &out))
                    return;
            }
        }
    }
}

static void fill_im2col(struct bench_stream *s)
{
    fill_with_im2col(s, 56);
}

static void fill_im2col_big(struct bench_stream *s)
{
    fill_with_im2col(s, 224);
}

/* Aligned 8-byte loads and stores, three loads to a store. */
static void fill_with_random(struct bench_stream *s, uint64_t bytes)
{
    uint64_t state = 0x9e3779b97f4a7c15u;
    struct bench_burst b = { .n_runs = 1, .n_times = 1 };

    do {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        b.run[0] = run_of(state >> 62 ? SIM_LOAD : SIM_STORE, state >> 61 & 1,
                          0x10000000 + (state >> 8) % bytes / 8 * 8, 8, 1, 0);
    } while (add_burst(s, &b));
}

static void fill_random(struct bench_stream *s)
{
    fill_with_random(s, (uint64_t)64 << 20);
}

static void fill_rand_big(struct bench_stream *s)
{
    fill_with_random(s, (uint64_t)1 << 30);
}

static const struct {
    const char *name;
    void (*fill)(struct bench_stream *s);
} streams[] = {
    { "gemm", fill_gemm },
    { "im2col", fill_im2col },
    { "random", fill_random },
    { "gemm_big", fill_gemm_big },
    { "im2col_big", fill_im2col_big },
    { "rand_big", fill_rand_big },
    { NULL, NULL },
};

const char *bench_stream_name(size_t i)
{
    return streams[i].name;
}

int bench_stream_init(struct bench_stream *s)
{
    *s = (struct bench_stream){
        .burst = malloc(N_RECORDS * sizeof *s->burst),
        .record = malloc(N_RECORDS * sizeof *s->record),
    };
    return s->burst && s->record ? 0 : -ENOMEM;
}

void bench_stream_release(struct bench_stream *s)
{
    free(s->burst);
    free(s->record);
}

void bench_stream_fill(struct bench_stream *s, size_t i)
{
    assert(streams[i].name);
    s->name = streams[i].name;
    s->n_bursts = s->n_records = 0;
    streams[i].fill(s);
}
