#include "experiments/calibrate/exp_speeds.h"

#include <errno.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "counters/host/ctr_timer.h"
#include "experiments/base/exp_error.h"
#include "experiments/base/exp_stats.h"
#include "experiments/calibrate/exp_pattern.h"

enum {
    TIMES_INNER = 4,   /* how much larger than the level inside a working set is, if that leaves room */
    NEAR_LINES = 1024, /* of a ring, in L1 and L2: few pages */
    FAR_LINES = 4096,
    RING_SHARE = 16,    /* of a level's lines, at most one in so many is in the ring */
    NEAR_STEP = 256,    /* bytes between lines of the ring: in L1 and L2, */
    FAR_STEP = 1024,    /* and where larger pages would be needed for more */
    RING_LOADS = 65536, /* of what stays in L1 */
    MEMORY_BYTES = 32 << 20,
    MAX_SET_BYTES = 256 << 20,
};

/* ---- what is measured ---- */

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
    *s = (struct exp_speeds){ .n = m->n_levels + 1 };
    for (size_t i = 0; i < s->n; i++) {
        exp_say(s->level[i].name, sizeof s->level[i].name, "%s", i < m->n_levels ? m->level[i].name : "memory");
        s->level[i].set_bytes = i < m->n_levels ? set_bytes(m, i) : MEMORY_BYTES;
        s->level[i].ring = ring_in(m, i);
    }
}

size_t exp_speeds_set_bytes(const struct exp_speeds *s)
{
    size_t most = 0;

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
            return exp_fail(
                why, -ENODATA,
                "a load from %s took %.2f ns, not longer than %s%.2f: the clock is no good, or the computer "
                "too busy: try again on an idle one",
                l->name, l->latency_ns, i ? "one from the level inside, " : "", i ? l[-1].latency_ns : 0);
    }
    if (!(s->clock_ghz > 0))
        return exp_fail(why, -ENODATA, "nothing tells the core's clock on this CPU family");
    return 0;
}

int exp_speeds_measure(struct exp_speeds *s, const struct exp_computer *c, const struct exp_rounds *rounds,
                       bool (*interrupted)(void), struct exp_why *why)
{
    double *latency_ns = calloc(s->n * rounds->most, sizeof *latency_ns);
    int err = latency_ns ? 0 : exp_fail(why, -ENOMEM, "out of memory");
    const uint64_t start = ctr_now_ns();
    size_t n = 0;

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

/* ---- what comes of it ---- */

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

/* To so many parts of 1. */
static double rounded(double x, double parts)
{
    return round(x * parts) / parts;
}

void exp_speeds_apply(const struct exp_speeds *s, struct sim_machine *m)
{
    const struct exp_level_speed *memory = &s->level[s->n - 1];

    m->issue.clock_ghz = rounded(s->clock_ghz, 100);
    for (size_t i = 0; i < m->n_levels; i++) {
        m->level[i].latency_cycles = rounded(s->level[i].latency_ns * s->clock_ghz, 10);
        m->level[i].bandwidth_bytes_per_cycle = rounded(read_speed(&s->level[i]) / s->clock_ghz, 10);
    }
    m->memory_latency_cycles = rounded(memory->latency_ns * s->clock_ghz, 10);
    m->memory_bandwidth_bytes_per_cycle = rounded(read_speed(memory) / s->clock_ghz, 10);
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
    fprintf(out, "core clock %.2f GHz; fastest rounds\n", s->clock_ghz);
}

/* ---- the file ---- */

static const struct exp_csv_column columns[] = {
    { "level", "", "cache level, or memory", "" },
    { "what", "", "latency: a load that waits for the one before; else what a loop does, and by how many bytes at once",
      "" },
    { "working_set", "bytes", "the lines of the ring, or what the loop went through; memory: after flushing", "" },
    { "value", "", "of the fastest round", "timed" },
    { "unit", "", "ns, or bytes per ns", "" },
    { "median", "", "of all rounds; of latencies only", "timed" },
};

const struct exp_csv_file exp_speeds_file = EXP_CSV_FILE("latencies.csv", columns);

static void write_row(struct exp_csv *csv, const struct exp_level_speed *l, const char *what, size_t set, double value,
                      const char *unit)
{
    exp_csv_string(csv, "level", l->name);
    exp_csv_string(csv, "what", what);
    exp_csv_u64(csv, "working_set", set);
    exp_csv_double(csv, "value", value);
    exp_csv_string(csv, "unit", unit);
}

void exp_speeds_write(const struct exp_speeds *s, struct exp_csv *csv)
{
    for (size_t k = 0; k < s->n; k++) {
        const struct exp_level_speed *l = &s->level[k];

        write_row(csv, l, "latency", l->ring.n_lines * EXP_PATTERN_LINE, l->latency_ns, "ns");
        exp_csv_double(csv, "median", l->latency_median_ns);
        exp_csv_end_row(csv);
        for (size_t i = 0; ctr_streams[i].name; i++) {
            if (!(l->bytes_per_ns[i] > 0))
                continue;
            write_row(csv, l, ctr_streams[i].name, l->set_bytes, l->bytes_per_ns[i], "bytes/ns");
            exp_csv_empty(csv, "median");
            exp_csv_end_row(csv);
        }
    }
}
