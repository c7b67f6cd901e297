#include "sim/programs/bench_sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sim/engine/engine.h"
#include "sim/hierarchy.h"
#include "sim/plain/engine_plain.h"
#include "sim/programs/bench_peers.h"
#include "sim/programs/bench_streams.h"
#include "sim/base/record.h"

enum { MAX_CONTENDERS = 32 };

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

static void add_prefetch(struct sim_machine *m)
{
    m->level[0].prefetch[0] = (struct sim_prefetch){ .kind = SIM_PREFETCH_NEXT_LINE };
    m->level[0].prefetch[1] = (struct sim_prefetch){ .kind = SIM_PREFETCH_STRIDE };
    m->level[1].prefetch[0] = (struct sim_prefetch){ .kind = SIM_PREFETCH_STREAM, .distance = 20 };
    m->has_software_prefetch = true;
    m->n_tlbs = 2;
    m->tlb[0] = (struct sim_tlb){ .name = "L1", .n_entries = 64, .n_ways = 4 };
    m->tlb[1] = (struct sim_tlb){ .name = "L2", .n_entries = 1536, .n_ways = 12 };
}

static void add_classes(struct sim_machine *m)
{
    for (size_t k = 0; k < m->n_levels; k++)
        m->level[k].is_classified = true;
}

static void add_nothing(struct sim_machine *m)
{
    (void)m;
}

bool sim_bench_machine_called(const char *name, struct sim_machine *m)
{
    static const struct {
        const char *name;
        void (*add)(struct sim_machine *m);
    } variants[] = { { "caches", add_nothing }, { "prefetch", add_prefetch }, { "3c", add_classes } };

    *m = sim_bench_machine();
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        if (!strcmp(name, variants[i].name)) {
            variants[i].add(m);
            return true;
        }
    }
    return false;
}

/* ---- contenders ---- */

static const struct sim_engine *const engines[] = {
    &sim_engine_plain, &sim_engine_avx512,      &sim_engine_avx2,      &sim_engine_portable,      &sim_engine_wide,
    &sim_engine_full,  &sim_engine_full_avx512, &sim_engine_full_avx2, &sim_engine_full_portable,
};

static void feed_records(struct sim_hierarchy *h, const struct bench_stream *s)
{
    sim_hierarchy_records(h, s->record, s->n_records);
}

static void feed_bursts_to(struct sim_sink *sink, const struct bench_stream *s)
{
    for (const struct bench_burst *b = s->burst; b < s->burst + s->n_bursts; b++)
        sim_emit(sink, b->run, b->n_runs, b->n_times);
}

static void feed_bursts(struct sim_hierarchy *h, const struct bench_stream *s)
{
    feed_bursts_to(sim_hierarchy_sink(h), s);
}

/* A call of the library per access, like a program that knows no structure and keeps no array. */
static void feed_calls(struct sim_hierarchy *h, const struct bench_stream *s)
{
    struct sim_sink *sink = sim_hierarchy_sink(h);

    for (const uint64_t *r = s->record; r < s->record + s->n_records; r++) {
        const struct sim_run run = sim_record_run(*r);

        sim_emit(sink, &run, 1, 1);
    }
}

static const struct interface {
    const char *name;
    void (*feed)(struct sim_hierarchy *h, const struct bench_stream *s);
} interfaces[] = { { "records", feed_records }, { "bursts", feed_bursts }, { "calls", feed_calls } };

struct contender {
    const struct interface *interface;
    struct sim_hierarchy *h;
    bool has_threads;
    double rate[SIM_BENCH_MAX_ROUNDS]; /* million accesses per second */
    double wall[SIM_BENCH_MAX_ROUNDS]; /* as rate, by the clock on the wall */
};

typedef double peer_rates[SIM_BENCH_MAX_ROUNDS];

struct bench {
    FILE *out;
    const struct sim_bench_choice *choice;
    const struct sim_bench_reference *reference;
    struct contender contender[MAX_CONTENDERS];
    size_t n_contenders;
    struct bench_stream stream;
    struct bench_peers peers;
    peer_rates peer_rate[BENCH_MAX_PEERS];
};

/* ---- choices ---- */

/* Tells whether a list of names with commas between holds the name; NULL holds every name. */
static bool holds(const char *list, const char *name)
{
    size_t n = strlen(name);

    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
        if (!strncmp(at, name, n) && (!at[n] || at[n] == ','))
            return true;
    }
    return !list;
}

static const char *engine_name(size_t i)
{
    return i < sizeof engines / sizeof engines[0] ? engines[i]->name : NULL;
}

static const char *interface_name(size_t i)
{
    return i < sizeof interfaces / sizeof interfaces[0] ? interfaces[i].name : NULL;
}

/* Writes a line about the first unknown name of the list into why. */
static int check_list(const char *list, const char *what, const char *(*name)(size_t i), struct sim_why why)
{
    for (const char *at = list; at && *at; at += strcspn(at, ","), at += *at == ',') {
        int n = (int)strcspn(at, ",");
        size_t i = 0;

        while (name(i) && (strlen(name(i)) != (size_t)n || strncmp(at, name(i), (size_t)n)))
            i++;
        if (name(i))
            continue;
        sim_fail(why, -EINVAL, "no %s is called '%.*s'; there are:", what, n, at);
        for (i = 0; name(i); i++)
            sim_why_add(why, "%s %s", i ? "," : "", name(i));
        return -EINVAL;
    }
    return 0;
}

static int check_choice(const struct sim_bench_choice *c, struct sim_why why)
{
    int err = check_list(c->engines, "engine", engine_name, why);

    err = err ? err : check_list(c->streams, "stream", bench_stream_name, why);
    err = err ? err : check_list(c->interfaces, "interface", interface_name, why);
    if (!err && (c->n_rounds < 1 || c->n_rounds > SIM_BENCH_MAX_ROUNDS))
        err =
            sim_fail(why, -EINVAL, "%u rounds: from 1 to %u are possible", c->n_rounds, (unsigned)SIM_BENCH_MAX_ROUNDS);
    return err;
}

/* Adds the engine, or without one a simulation on several threads, with every chosen interface. */
static int add_contenders(struct bench *b, const struct sim_engine *e, const struct sim_machine *m)
{
    for (size_t i = 0; interface_name(i); i++) {
        struct contender *c = &b->contender[b->n_contenders];
        int err;

        if (!holds(b->choice->interfaces, interface_name(i)))
            continue;
        err = e ? sim_engine_new(&c->h, e, m) : sim_hierarchy_new_threads(&c->h, m, b->choice->n_threads);
        if (err)
            return err;
        c->interface = &interfaces[i];
        c->has_threads = !e;
        b->n_contenders++;
    }
    return 0;
}

static int open_contenders(struct bench *b, const struct sim_machine *m, struct sim_why why)
{
    int threads_err = b->choice->n_threads > 1 ? add_contenders(b, NULL, m) : 0;

    if (threads_err)
        return sim_fail(why, threads_err, "%u threads: %s", b->choice->n_threads, strerror(-threads_err));
    for (size_t i = 0; engine_name(i); i++) {
        int err;

        if (!holds(b->choice->engines, engine_name(i)))
            continue;
        err = add_contenders(b, engines[i], m);
        if (err == -ENOTSUP)
            sim_fail(why, err, "engine '%s': this CPU does not execute it, or CONV_CPU masks it", engine_name(i));
        else if (err == -EINVAL)
            sim_fail(why, err, "engine '%s': it simulates plain caches alone; full and full-... the rest",
                     engine_name(i));
        else if (err)
            sim_fail(why, err, "engine '%s': %s", engine_name(i), strerror(-err));
        if (err)
            return err;
    }
    return 0;
}

/* ---- measuring ---- */

static double now_seconds(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double rate_of(const struct bench_stream *s, double seconds)
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

static double run_reference(const struct sim_bench_reference *r, const struct bench_stream *s)
{
    double start;

    r->clear(r->ctx);
    start = now_seconds(CLOCK_THREAD_CPUTIME_ID);
    feed_bursts_to(r->sink, s);
    return rate_of(s, now_seconds(CLOCK_THREAD_CPUTIME_ID) - start);
}

/* All is done when the counts are there. */
static void run_round(struct contender *c, const struct bench_stream *s, unsigned round)
{
    double start, wall;

    sim_hierarchy_clear(c->h);
    wall = now_seconds(CLOCK_MONOTONIC);
    start = now_seconds(CLOCK_THREAD_CPUTIME_ID);
    c->interface->feed(c->h, s);
    sim_hierarchy_stats(c->h);
    c->rate[round] = rate_of(s, now_seconds(CLOCK_THREAD_CPUTIME_ID) - start);
    c->wall[round] = rate_of(s, now_seconds(CLOCK_MONOTONIC) - wall);
}

/* A peer that had caches before and gets none now has a rate of 0. */
static void run_peer_round(struct bench *b, size_t i, unsigned round)
{
    bool is_there = bench_peers_clear(&b->peers, i);
    double start = now_seconds(CLOCK_THREAD_CPUTIME_ID);

    if (is_there)
        bench_peers_feed(&b->peers, i);
    b->peer_rate[i][round] = is_there ? rate_of(&b->stream, now_seconds(CLOCK_THREAD_CPUTIME_ID) - start) : 0;
}

static void run_rounds(struct bench *b)
{
    for (unsigned round = 0; round < b->choice->n_rounds; round++) {
        for (struct contender *c = b->contender; c < b->contender + b->n_contenders; c++)
            run_round(c, &b->stream, round);
        for (size_t i = 0; i < b->peers.n; i++)
            run_peer_round(b, i, round);
    }
}

/* ---- output ---- */

static void print_row(const struct bench *b, const char *engine, const char *interface, const double rate[3])
{
    const char *form = b->choice->is_csv ? "%s,%s,%s,%.1f,%.1f,%.1f\n" : "%-10s  %-8s  %-18s %9.1f %9.1f %9.1f\n";

    fprintf(b->out, form, b->stream.name, interface, engine, rate[0], rate[1], rate[2]);
}

static void print_header(const struct bench *b)
{
    if (b->choice->is_csv)
        fprintf(b->out, "stream,interface,engine,fastest_m_per_s,median_m_per_s,slowest_m_per_s\n");
    else
        fprintf(b->out, "%-10s  %-8s  %-18s %9s %9s %9s  million accesses per second\n", "stream", "interface",
                "engine", "fastest", "median", "slowest");
}

/*
 * Objects of the plain engine have their variants' names; objects of full engines, which can exchange levels, have the
 * engines' names.
 */
static const char *own_name(const struct contender *c)
{
    return c->h->engine->follow && !c->h->engine->swap_last ? sim_plain_variant_name(c->h) : c->h->engine->name;
}

static void print_rates(const struct bench *b, const char *interface, const char *name, double *rate)
{
    const unsigned n = b->choice->n_rounds;

    qsort(rate, n, sizeof *rate, by_value);
    print_row(b, name, interface, (double[]){ rate[n - 1], rate[n / 2], rate[0] });
}

/* Prints the peers. Returns -EDOM if a peer missed other lines than we did. */
static int print_peers(struct bench *b, const struct sim_stats *expected)
{
    int err = 0;

    for (size_t i = 0; i < b->peers.n; i++) {
        print_rates(b, "accesses", b->peers.loaded[i].peer->name, b->peer_rate[i]);
        if (!b->peers.loaded[i].caches || !bench_peers_agree(&b->peers, i, expected))
            err = -EDOM;
    }
    return err;
}

/* Measures and prints the stream. */
static int bench_stream(struct bench *b)
{
    double reference_rate = b->reference ? run_reference(b->reference, &b->stream) : 0;
    const struct sim_stats *expected = b->reference ? b->reference->stats(b->reference->ctx) : NULL;
    int err = 0;

    run_rounds(b);
    expected = expected ? expected : sim_hierarchy_stats(b->contender[0].h);
    for (struct contender *c = b->contender; c < b->contender + b->n_contenders; c++) {
        print_rates(b, c->interface->name, own_name(c), c->rate);
        if (c->has_threads)
            print_rates(b, c->interface->name, "threads (wall)", c->wall);
        if (!is_same(sim_hierarchy_stats(c->h), expected))
            err = -EDOM;
    }
    err = err ? err : print_peers(b, expected);
    if (b->reference)
        print_row(b, b->reference->name, "bursts", (double[]){ reference_rate, reference_rate, reference_rate });
    return err;
}

static int bench_streams(struct bench *b, struct sim_why why)
{
    int err = bench_stream_init(&b->stream);

    if (!err)
        print_header(b);
    for (size_t i = 0; !err && bench_stream_name(i); i++) {
        if (!holds(b->choice->streams, bench_stream_name(i)))
            continue;
        bench_stream_fill(&b->stream, i);
        err = bench_peers_fill(&b->peers, &b->stream);
        err = err ? err : bench_stream(b);
    }
    bench_stream_release(&b->stream);
    if (!err && (fflush(b->out) || ferror(b->out)))
        err = -EIO;
    if (err == -EDOM)
        return sim_fail(why, err, "stream %s: engines, interfaces, the reference or a peer disagree in a count",
                        b->stream.name);
    return err ? sim_fail(why, err, "%s", strerror(-err)) : 0;
}

int sim_bench(FILE *out, const struct sim_machine *m, const struct sim_bench_choice *choice,
              const struct sim_bench_reference *reference, struct sim_why why)
{
    struct bench *b = calloc(1, sizeof *b);
    int err;

    if (!b)
        return sim_fail(why, -ENOMEM, "%s", strerror(ENOMEM));
    *b = (struct bench){ .out = out, .choice = choice, .reference = reference };
    err = check_choice(choice, why);
    if (!err)
        err = open_contenders(b, m, why);
    if (!err)
        err = bench_peers_load(&b->peers, choice->peers, m, why);
    if (!err)
        err = bench_streams(b, why);
    for (size_t i = 0; i < b->n_contenders; i++)
        sim_hierarchy_free(b->contender[i].h);
    bench_peers_release(&b->peers);
    free(b);
    return err;
}
