#include "sim/programs/cachesim_vary.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/hierarchy.h"
#include "sim/analysis/estimate.h"
#include "sim/machine/machine_grid.h"
#include "sim/programs/cachesim_machine.h"
#include "sim/programs/cachesim_rows.h"
#include "sim/programs/cachesim_signal.h"

/* Limits of waiting runs and accesses: enough to be worth a thread's start, and few enough for progress reports. */
enum { MAX_KEYS = 64, MAX_POINTS = 1000, MAX_WAITING = 1 << 14, MAX_ACCESSES = 1 << 20, MAX_THREADS = 64 };

struct configurations {
    struct sim_sink sink;
    struct sim_grids grids;
    struct sim_machine *machine;      /* [n] */
    struct sim_hierarchy **hierarchy; /* [n] */
    size_t *leader;                   /* [n] the configuration that simulates its first levels, perhaps itself */
    size_t n;
    size_t n_threads;
    struct sim_run *waiting; /* [MAX_WAITING] */
    size_t n_waiting;
    uint64_t n_accesses; /* of the waiting runs */
};

/* ---- feeding ---- */

/* Every n_threads-th configuration, from the first on. */
struct share {
    struct configurations *c;
    size_t first;
};

static void *feed_share(void *argument)
{
    const struct share *share = argument;
    const struct configurations *c = share->c;

    for (size_t i = share->first; i < c->n; i += c->n_threads) {
        for (size_t r = 0; r < c->n_waiting && c->leader[i] == i; r += SIM_MAX_BURST_RUNS) {
            size_t left = c->n_waiting - r;

            sim_emit(sim_hierarchy_sink(c->hierarchy[i]), c->waiting + r,
                     left < SIM_MAX_BURST_RUNS ? left : SIM_MAX_BURST_RUNS, 1);
        }
    }
    return NULL;
}

/* Feeds the waiting runs to all configurations. A share whose thread cannot be started is fed here. */
static void feed_all(struct configurations *c)
{
    struct share share[MAX_THREADS];
    pthread_t thread[MAX_THREADS];
    bool runs[MAX_THREADS] = { false };

    for (size_t t = 0; t < c->n_threads; t++) {
        share[t] = (struct share){ c, t };
        runs[t] = t && !pthread_create(&thread[t], NULL, feed_share, &share[t]);
    }
    for (size_t t = 0; t < c->n_threads; t++) {
        if (!runs[t])
            feed_share(&share[t]);
    }
    for (size_t t = 0; t < c->n_threads; t++) {
        if (runs[t])
            pthread_join(thread[t], NULL);
    }
    c->n_waiting = 0;
    c->n_accesses = 0;
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct configurations *c = (struct configurations *)self;

    for (uint64_t t = 0; t < n_times; t++) {
        for (size_t i = 0; i < n_runs; i++) {
            struct sim_run one = run[i];

            one.addr += t * (uint64_t)one.step_bytes;
            one.step_bytes = 0;
            c->waiting[c->n_waiting++] = one;
            c->n_accesses += one.count;
            if (c->n_waiting == MAX_WAITING || c->n_accesses >= MAX_ACCESSES)
                feed_all(c);
        }
    }
}

/* Clears the counts, after all waiting accesses. */
static void clear_all(void *counter)
{
    struct configurations *c = counter;

    feed_all(c);
    for (size_t i = 0; i < c->n; i++)
        if (c->leader[i] == i)
            sim_hierarchy_clear_stats(c->hierarchy[i]);
}

/* ---- making ---- */

/*
 * Finds the configuration that shares most first levels, which are then simulated once. Each thread has its own
 * leaders.
 */
static void follow(struct configurations *c, size_t point)
{
    size_t most = 0;

    c->leader[point] = point;
    for (size_t i = point % c->n_threads; i < point; i += c->n_threads) {
        size_t n = sim_machine_shared_levels(&c->machine[i], &c->machine[point]);

        if (c->leader[i] != i || n <= most)
            continue;
        most = n;
        c->leader[point] = i;
    }
    if (most && sim_hierarchy_follow(c->hierarchy[point], c->hierarchy[c->leader[point]], most))
        c->leader[point] = point;
}

/* Makes the machine of a point. */
static int configure(struct cachesim_session *s, struct configurations *c, const struct sim_machine *base, size_t point)
{
    struct sim_setting setting[MAX_KEYS];
    size_t n = 0;
    int err;

    for (size_t k = 0; k < c->grids.n_keys; k++) {
        const char *value = sim_grids_value(&c->grids, point, k);

        if (value)
            setting[n++] = (struct sim_setting){ c->grids.key[k], value };
    }
    c->machine[point] = *base;
    err = sim_machine_set(&c->machine[point], setting, n, s->why, sizeof s->why);
    if (err)
        return err;
    err = cachesim_hierarchy(s, &c->hierarchy[point], &c->machine[point]);
    if (!err)
        follow(c, point);
    return err;
}

static int make(struct cachesim_session *s, struct configurations *c)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct sim_machine base;
    char source[CACHESIM_SOURCE_BYTES];
    int err = cachesim_machine(&s->options, &base, source, SIM_WHY(s->why));

    if (!err)
        err = sim_grids_read(&c->grids, s->options.vary, MAX_POINTS, s->why, sizeof s->why);
    if (err)
        return err;
    if (c->grids.n_keys > MAX_KEYS)
        return cachesim_fail(s, CACHESIM_BAD_INPUT, "--vary", "more than 64 keys");
    c->n = c->grids.n_points;
    c->n_threads = cores < 1 ? 1 : cores < MAX_THREADS ? (size_t)cores : MAX_THREADS;
    c->n_threads = c->n < c->n_threads ? c->n : c->n_threads;
    c->machine = calloc(c->n, sizeof *c->machine);
    c->hierarchy = calloc(c->n, sizeof(struct sim_hierarchy *));
    c->leader = calloc(c->n, sizeof *c->leader);
    c->waiting = malloc(MAX_WAITING * sizeof *c->waiting);
    if (!c->machine || !c->hierarchy || !c->leader || !c->waiting)
        return cachesim_fail(s, CACHESIM_BAD_INPUT, "--vary", "out of memory");
    for (size_t i = 0; i < c->n && !err; i++)
        err = configure(s, c, &base, i);
    return err;
}

static void release(struct configurations *c)
{
    for (size_t i = c->hierarchy ? c->n : 0; i-- > 0;) /* followers before their leaders */
        sim_hierarchy_free(c->hierarchy[i]);
    free(c->leader);
    free(c->hierarchy);
    free(c->machine);
    free(c->waiting);
    sim_grids_release(&c->grids);
}

/* ---- printing ---- */

/* Returns the most levels of any machine. */
static size_t most_levels(const struct configurations *c)
{
    size_t most = 0;

    for (size_t i = 0; i < c->n; i++)
        most = c->machine[i].n_levels > most ? c->machine[i].n_levels : most;
    return most;
}

static void print_head(const struct cachesim_session *s, const struct configurations *c, struct cachesim_rows *rows)
{
    char name[64];

    cachesim_rows_init(rows, stdout, s->options.output == SIM_REPORT_JSON);
    for (size_t k = 0; k < c->grids.n_keys; k++)
        cachesim_rows_column(rows, c->grids.key[k]);
    for (size_t l = 0; l < most_levels(c); l++) {
        snprintf(name, sizeof name, "%s_load_misses", c->machine[0].level[l].name);
        cachesim_rows_column(rows, name);
        snprintf(name, sizeof name, "%s_misses", c->machine[0].level[l].name);
        cachesim_rows_column(rows, name);
    }
    cachesim_rows_column(rows, "memory_read_lines");
    cachesim_rows_column(rows, "memory_written_lines");
    cachesim_rows_column(rows, "sconv_eq6_cycles");
    cachesim_rows_head(rows, s->options.trace, "vary", c->machine[0].level[0].line_bytes,
                       "misses: reads and writes; cycles by the machine's latencies, to compare by");
}

static void print_row(const struct configurations *c, size_t point, size_t n_levels, struct cachesim_rows *rows)
{
    const struct sim_cell total = sim_stats_total(sim_hierarchy_stats(c->hierarchy[point]));
    struct sim_estimate e;

    sim_estimate(&e, &c->machine[point], &total);
    for (size_t k = 0; k < c->grids.n_keys; k++) {
        const char *value = sim_grids_value(&c->grids, point, k);

        cachesim_rows_text(rows, value ? value : "");
    }
    for (size_t l = 0; l < n_levels; l++) {
        cachesim_rows_count(rows, total.level[l].load_misses);
        cachesim_rows_count(rows, total.level[l].read_misses + total.level[l].write_misses);
    }
    cachesim_rows_count(rows, total.memory_read_lines);
    cachesim_rows_count(rows, total.memory_written_lines);
    cachesim_rows_count(rows, (uint64_t)e.sconv_eq6_cycles);
}

static int print(struct cachesim_session *s, const struct configurations *c)
{
    struct cachesim_rows rows;

    print_head(s, c, &rows);
    for (size_t i = 0; i < c->n; i++)
        print_row(c, i, most_levels(c), &rows);
    cachesim_rows_end(&rows, cachesim_signal_is_over());
    return cachesim_check_stdout(s, 0);
}

/* ---- the whole ---- */

static int finish(struct cachesim_session *s, struct configurations *c)
{
    feed_all(c);
    for (size_t i = 0; i < c->n; i++) {
        if (s->options.flushes && c->leader[i] == i)
            sim_hierarchy_flush(c->hierarchy[i], 0);
        if (sim_hierarchy_error(c->hierarchy[i]))
            return cachesim_fail(s, CACHESIM_BAD_OUTPUT, "cannot classify all misses",
                                 strerror(-sim_hierarchy_error(c->hierarchy[i])));
    }
    return print(s, c);
}

int cachesim_vary(struct cachesim_session *s)
{
    struct configurations c = { .sink.accept = accept };
    int err = make(s, &c);

    s->sink = &c.sink;
    s->clear_stats = clear_all;
    s->counter = &c;
    if (!err)
        err = cachesim_run_passes(s);
    if (!err)
        err = finish(s, &c);
    release(&c);
    return err;
}
