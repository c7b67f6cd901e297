/*
 * A stream on several threads, exactly. Bursts wait in a batch. Each thread turns its part of the batch into lists of
 * touches, a list for each shard (lists.h). When all threads have finished, each thread makes the touches of its own
 * shard, from all parts in order. So every set sees the touches that a single thread would make.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hierarchy.h"
#include "sim/plain/engine_plain.h"

enum {
    MIN_BLOCK = 8, /* consecutive lines of a shard */
    BATCH_RUNS = 1 << 13,
    BATCH_BURSTS = 1 << 12,
    BATCH_WALKS = 1 << 17,               /* repetitions of runs in a batch: the lists fit into nearby caches */
    BATCH_ACCESSES = SIM_MAX_SPLITS - 1, /* so that all shared loads get numbers */
};

struct burst {
    size_t first_run, n_runs;
    uint64_t n_times;
    uint64_t n_before; /* accesses of the bursts before */
};

struct batch {
    struct sim_run run[BATCH_RUNS];
    struct burst burst[BATCH_BURSTS];
    size_t n_runs, n_bursts;
    uint64_t n_accesses, n_walks;
    const uint64_t *record; /* not NULL: n_accesses records in place of bursts */
};

/* A thread's own. */
struct worker {
    struct sim_threads *all;
    struct sim_plain *front; /* makes lists; counts accesses and first-level touches */
    struct sim_lists lists;
    struct sim_plain *shard; /* makes touches; counts all else */
    uint8_t *depth;          /* see struct sim_splits */
    pthread_t thread;        /* unused for the first worker, the caller's thread */
    bool has_thread;
};

struct sim_threads {
    struct sim_hierarchy base; /* first: see engine.h */
    size_t n;
    struct worker worker[SIM_MAX_SHARDS];
    pthread_barrier_t barrier; /* before a batch, between its halves, and after the batch */
    pthread_mutex_t gate;      /* shut until all threads are there */
    bool has_barrier, ends;
    struct batch batch;
    struct sim_stats excess; /* surplus counts of misses of loads that shards share */
};

/* ---- the work of each thread ---- */

static void list_bursts(struct worker *w, uint64_t from, uint64_t to)
{
    const struct batch *b = &w->all->batch;

    for (const struct burst *u = b->burst; u < b->burst + b->n_bursts; u++) {
        if (u->n_before >= from && u->n_before < to)
            sim_emit(&w->front->base.sink, b->run + u->first_run, u->n_runs, u->n_times);
    }
}

/* Lists the touches of a part of the batch. */
static void list_part(struct worker *w, size_t i)
{
    const struct batch *b = &w->all->batch;
    uint64_t from = b->n_accesses * i / w->all->n, to = b->n_accesses * (i + 1) / w->all->n;

    if (b->record)
        w->front->variant->records(&w->front->base, b->record + from, (size_t)(to - from));
    else
        list_bursts(w, from, to);
}

static uint32_t n_splits(const struct sim_threads *t)
{
    size_t n = 0;

    for (const struct worker *w = t->worker; w < t->worker + t->n; w++)
        n += w->lists.n_splits;
    return (uint32_t)n;
}

/* Makes the touches of a shard. */
static void touch_shard(struct worker *w, size_t i)
{
    const struct worker *all = w->all->worker;
    uint32_t n = n_splits(w->all);

    w->shard->splits = (struct sim_splits){ .depth = w->depth };
    memset(w->depth, 0, n + 1);
    for (size_t part = 0; part < w->all->n; part++) {
        const struct sim_list *list = &all[part].lists.shard[i];

        if (list->n)
            w->shard->variant->touch_listed(w->shard, list->touch, list->n);
        w->shard->splits.before += (uint32_t)all[part].lists.n_splits;
        w->shard->splits.last = 0;
    }
    if (n)
        w->shard->variant->settle(w->shard);
}

static void take_part(struct worker *w)
{
    size_t i = (size_t)(w - w->all->worker);

    list_part(w, i);
    pthread_barrier_wait(&w->all->barrier);
    touch_shard(w, i);
    pthread_barrier_wait(&w->all->barrier);
}

static void *work(void *arg)
{
    struct worker *w = arg;
    struct sim_threads *t = w->all;
    bool ends;

    pthread_mutex_lock(&t->gate);
    ends = t->ends;
    pthread_mutex_unlock(&t->gate);
    while (!ends) {
        pthread_barrier_wait(&t->barrier);
        ends = t->ends;
        if (!ends)
            take_part(w);
    }
    return NULL;
}

/* ---- batches ---- */

/* A load that shards share missed a level once, however many shards missed the level. */
static void note_excess(struct sim_threads *t, uint8_t who, uint32_t number)
{
    struct sim_level_counts *level = t->excess.cell[sim_record_tag(who)][sim_record_phase(who)].level;

    for (size_t k = 0; k < t->base.stats->n_levels; k++) {
        uint64_t n = 0;

        for (const struct worker *w = t->worker; w < t->worker + t->n; w++)
            n += w->depth[number] > k;
        level[k].load_misses += n > 1 ? n - 1 : 0;
    }
}

static void end_batch(struct sim_threads *t)
{
    uint32_t number = 0;

    for (struct worker *w = t->worker; w < t->worker + t->n; w++) {
        for (size_t i = 1; i <= w->lists.n_splits; i++)
            note_excess(t, w->lists.split_who[i], ++number);
        if (w->lists.err)
            t->base.err = w->lists.err;
        w->lists.err = 0;
        w->lists.n_splits = 0;
        for (size_t s = 0; s < t->n; s++)
            w->lists.shard[s].n = 0;
    }
    t->batch.n_runs = t->batch.n_bursts = 0;
    t->batch.n_accesses = t->batch.n_walks = 0;
    t->batch.record = NULL;
}

/* Simulates the batch. */
static void take_batch(struct sim_threads *t)
{
    if (!t->batch.n_bursts && !t->batch.record)
        return;
    pthread_barrier_wait(&t->barrier);
    take_part(&t->worker[0]);
    end_batch(t);
}

/* Adds repetitions [from, from + n_times) of a burst. n_per_time: accesses per repetition. */
static void add_burst(struct sim_threads *t, const struct sim_run *run, size_t n_runs, uint64_t from, uint64_t n_times,
                      uint64_t n_per_time)
{
    struct batch *b = &t->batch;

    if (b->n_runs + n_runs > BATCH_RUNS || b->n_bursts == BATCH_BURSTS || b->n_walks > BATCH_WALKS ||
        b->n_accesses + n_times * n_per_time > BATCH_ACCESSES)
        take_batch(t);
    b->burst[b->n_bursts++] = (struct burst){ b->n_runs, n_runs, n_times, b->n_accesses };
    for (size_t r = 0; r < n_runs; r++) {
        b->run[b->n_runs] = run[r];
        b->run[b->n_runs++].addr += from * (uint64_t)run[r].step_bytes;
    }
    b->n_accesses += n_times * n_per_time;
    b->n_walks += n_times * n_runs;
}

/* Adds a repetition, run by run, the runs in pieces. */
static void add_long_runs(struct sim_threads *t, const struct sim_run *run, size_t n_runs, uint64_t from)
{
    for (size_t r = 0; r < n_runs; r++) {
        struct sim_run piece = run[r];

        piece.addr += from * (uint64_t)run[r].step_bytes;
        for (uint32_t left = run[r].count; left; left -= piece.count) {
            piece.count = left < BATCH_ACCESSES ? left : BATCH_ACCESSES;
            add_burst(t, &piece, 1, 0, 1, piece.count);
            piece.addr += piece.count * (uint64_t)piece.stride_bytes;
        }
    }
}

static void accept(struct sim_sink *self, const struct sim_run *run, size_t n_runs, uint64_t n_times)
{
    struct sim_threads *t = (struct sim_threads *)self;
    uint64_t n_per_time = 0;

    for (size_t r = 0; r < n_runs; r++)
        n_per_time += run[r].count;
    for (uint64_t from = 0, n; from < n_times && n_per_time; from += n) {
        if (n_per_time > BATCH_ACCESSES) {
            n = 1;
            add_long_runs(t, run, n_runs, from);
        } else {
            n = BATCH_ACCESSES / n_per_time;
            n = n < n_times - from ? n : n_times - from;
            add_burst(t, run, n_runs, from, n, n_per_time);
        }
    }
}

static void records(struct sim_hierarchy *base, const uint64_t *record, size_t n)
{
    struct sim_threads *t = (struct sim_threads *)base;

    take_batch(t);
    for (size_t some; n; n -= some, record += some) {
        some = n < BATCH_ACCESSES / 16 ? n : BATCH_ACCESSES / 16;
        t->batch.record = record;
        t->batch.n_accesses = some;
        take_batch(t);
    }
}

/* ---- counts ---- */

/* Adds or subtracts all counts; all counts have one type. */
static void add_stats(struct sim_stats *sum, const struct sim_stats *s, bool subtracts)
{
    uint64_t *to = (uint64_t *)(void *)sum->cell;
    const uint64_t *from = (const uint64_t *)(const void *)s->cell;

    for (size_t i = 0; i < sizeof sum->cell / sizeof *to; i++)
        to[i] += subtracts ? 0 - from[i] : from[i];
}

/* The object is never const; deferred counts do not show. */
static const struct sim_stats *stats(const struct sim_hierarchy *base)
{
    struct sim_threads *t = (struct sim_threads *)(uintptr_t)base;

    take_batch(t);
    sim_hierarchy_zero_stats(&t->base);
    for (const struct worker *w = t->worker; w < t->worker + t->n; w++) {
        add_stats(t->base.stats, sim_hierarchy_stats(&w->shard->base), false);
        add_stats(t->base.stats, w->front->base.stats, false);
    }
    add_stats(t->base.stats, &t->excess, true);
    return t->base.stats;
}

static void clear_stats(struct sim_hierarchy *base)
{
    struct sim_threads *t = (struct sim_threads *)base;

    take_batch(t);
    memset(t->excess.cell, 0, sizeof t->excess.cell);
    for (struct worker *w = t->worker; w < t->worker + t->n; w++) {
        sim_hierarchy_clear_stats(&w->shard->base);
        sim_hierarchy_zero_stats(&w->front->base);
    }
}

static void clear(struct sim_hierarchy *base)
{
    struct sim_threads *t = (struct sim_threads *)base;

    clear_stats(base);
    t->base.err = 0;
    for (struct worker *w = t->worker; w < t->worker + t->n; w++)
        sim_hierarchy_clear(&w->shard->base);
}

static void flush(struct sim_hierarchy *base, unsigned phase)
{
    struct sim_threads *t = (struct sim_threads *)base;

    take_batch(t);
    for (struct worker *w = t->worker; w < t->worker + t->n; w++)
        sim_hierarchy_flush(&w->shard->base, phase);
}

/* ---- life ---- */

static void free_front(struct sim_plain *front)
{
    if (front)
        sim_engine_plain.free(&front->base);
}

static void free_worker(struct worker *w)
{
    sim_hierarchy_free(w->shard ? &w->shard->base : NULL);
    free_front(w->front);
    for (size_t s = 0; s < SIM_MAX_SHARDS; s++)
        free(w->lists.shard[s].touch);
    free(w->lists.split_who);
    free(w->depth);
}

static void threads_free(struct sim_hierarchy *base)
{
    struct sim_threads *t = (struct sim_threads *)base;

    if (t->has_barrier) {
        t->ends = true;
        pthread_barrier_wait(&t->barrier);
    }
    for (struct worker *w = t->worker; w < t->worker + SIM_MAX_SHARDS; w++) {
        if (w->has_thread)
            pthread_join(w->thread, NULL);
        free_worker(w);
    }
    if (t->has_barrier)
        pthread_barrier_destroy(&t->barrier);
    pthread_mutex_destroy(&t->gate);
    sim_hierarchy_release_stats(&t->base);
    free(t);
}

static int init_worker(struct sim_threads *t, const struct sim_machine *m, unsigned block_shift)
{
    struct worker *w = &t->worker[t->n];
    struct sim_hierarchy *shard;
    int err = sim_engine_new(&shard, &sim_engine_plain, m);

    w->all = t;
    w->shard = (struct sim_plain *)shard;
    w->lists.n_shards = 1;
    w->lists.block_shift = block_shift;
    w->front = sim_plain_new_front(m, &w->lists);
    w->depth = calloc(SIM_MAX_SPLITS, 1);
    return err ? err : w->front && w->depth ? 0 : -ENOMEM;
}

/* Starts the threads. The threads wait at a gate until all threads have started, or one could not start. */
static int start_threads(struct sim_threads *t)
{
    int err = 0;

    pthread_mutex_lock(&t->gate);
    for (struct worker *w = t->worker + 1; !err && w < t->worker + t->n; w++) {
        err = -pthread_create(&w->thread, NULL, work, w);
        w->has_thread = !err;
    }
    if (!err)
        err = -pthread_barrier_init(&t->barrier, NULL, (unsigned)t->n);
    t->has_barrier = !err;
    t->ends = err;
    pthread_mutex_unlock(&t->gate);
    return err;
}

/*
 * Returns the number of shards, a power of two of at most n_threads, such that each shard has at least MIN_BLOCK lines
 * of the ring.
 */
static unsigned shards_of(const struct sim_plain *front, unsigned n_threads)
{
    unsigned n = 1;

    if (!front->n_sweeps)
        return 1;
    while (n * 2 <= n_threads && n * 2 <= SIM_MAX_SHARDS &&
           n * 2 * MIN_BLOCK * (uint64_t)front->bursts.line_bytes <= front->ring_bytes)
        n *= 2;
    return n;
}

static const struct sim_engine threads_engine = {
    .name = "threads",
    .free = threads_free,
    .records = records,
    .stats = stats,
    .clear_stats = clear_stats,
    .clear = clear,
    .flush = flush,
};

static int init_threads(struct sim_threads *t, const struct sim_machine *m, unsigned n, uint64_t n_places)
{
    int err = 0;

    n_places = n_places / n < SIM_PLAIN_RANGE ? n_places / n : SIM_PLAIN_RANGE;
    for (t->n = 0; !err && t->n < n; t->n += !err)
        err = init_worker(t, m, sim_log2(n_places));
    for (struct worker *w = t->worker; w < t->worker + t->n; w++)
        w->lists.n_shards = n;
    return err ? err : start_threads(t);
}

int sim_threads_new(struct sim_hierarchy **h, const struct sim_machine *m, unsigned n_threads)
{
    struct sim_plain *front = sim_engine_plain.can_run(m) ? sim_plain_new_front(m, NULL) : NULL;
    unsigned n = front ? shards_of(front, n_threads) : 1;
    struct sim_threads *t;
    int err;

    assert(h && m);
    *h = NULL;
    if (n < 2) {
        free_front(front);
        return 0;
    }
    t = calloc(1, sizeof *t);
    if (!t) {
        free_front(front);
        return -ENOMEM;
    }
    t->base = (struct sim_hierarchy){ .sink.accept = accept, .engine = &threads_engine };
    pthread_mutex_init(&t->gate, NULL);
    err = sim_hierarchy_init_stats(&t->base, m->n_levels, SIM_USUAL_TAGS);
    if (!err)
        err = init_threads(t, m, n, front->ring_bytes / front->bursts.line_bytes);
    free_front(front);
    if (err)
        threads_free(&t->base);
    else
        *h = &t->base;
    return err;
}
