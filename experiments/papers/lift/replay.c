#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "counters/watch/ring.h"
#include "experiments/papers/lift/replay.h"
#include "sim/base/record.h"
#include "sim/hierarchy.h"

enum { ENOUGH_RECORDS = 1 << 12, SIMULATED_LEVELS = 2 };

/* Room for the accesses of a work-item, and more: memory is taken where memory is touched. */
#define RECORDS ((size_t)1 << 27)

/* Begins of simulated buffers: further apart than any buffer is long, and not all in the same sets. */
#define BASE_OF(role) (((uint64_t)(role) + 1) << 40 | (uint64_t)(role) * (3 << 12))

const struct lift_part lift_usual_part = { .warm = 1 << 14, .counted = 1 << 15 };

struct lift_replayer {
    struct sim_machine machine; /* the first levels: the outer levels depend on work that is not simulated */
    uint64_t last_level_bytes;
    double outer_cycles, memory_cycles; /* latencies behind the simulated levels */
    struct lift_part part;
    struct lift_memory memory;
    struct sim_hierarchy *h;
    struct sim_machine whole;
    struct sim_clock clock;   /* of the whole machine's core */
    struct lift_build *build; /* whose work-items run */
    uint64_t n;               /* accesses since the counts were cleared */
    uint64_t *record;         /* [RECORDS] */
};

int lift_replayer_new(struct lift_replayer **replayer, const struct sim_machine *m, const struct lift_part *part,
                      struct exp_why *why)
{
    struct lift_replayer *r = exp_new(1, sizeof *r);
    int err;

    r->machine = sim_machine_first_levels(m, SIMULATED_LEVELS);
    r->part = *part;
    r->whole = *m;
    r->last_level_bytes = sim_level_bytes(&m->level[m->n_levels - 1]);
    r->memory_cycles = m->memory_latency_cycles;
    r->outer_cycles =
        m->n_levels > SIMULATED_LEVELS ? m->level[SIMULATED_LEVELS].latency_cycles : m->memory_latency_cycles;
    r->record = mmap(NULL, RECORDS * sizeof *r->record, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    err = r->record == MAP_FAILED ? exp_fail(why, -ENOMEM, "a GiB of addresses cannot be reserved")
                                  : lift_memory_new(&r->memory, why);
    if (!err && (err = sim_hierarchy_new(&r->h, &r->machine)))
        exp_fail(why, err, "%s cannot be simulated: %s", m->name, strerror(-err));
    if (err)
        lift_replayer_free(r);
    else
        *replayer = r;
    return err;
}

void lift_replayer_free(struct lift_replayer *r)
{
    if (!r)
        return;
    sim_hierarchy_free(r->h);
    lift_memory_free(&r->memory);
    if (r->record != MAP_FAILED)
        munmap(r->record, RECORDS * sizeof *r->record);
    free(r);
}

/* ---- accesses ---- */

/* Hands recorded accesses to the simulation, at the simulated addresses, and then the work to the clock. */
static void hand_over(struct lift_recorder *from)
{
    struct lift_replayer *r = from->ctx;
    struct sim_work work;
    size_t n = 0;

    for (const uint64_t *a = r->record; a != from->next; a++) {
        uint64_t offset;
        const enum lift_role role = lift_memory_find(&r->memory, watch_record_address(*a), &offset);

        if (role != LIFT_N_ROLES)
            r->record[n++] = sim_record(BASE_OF(role) + offset, watch_record_bytes(*a),
                                        watch_record_is_store(*a) ? SIM_STORE : SIM_LOAD, role, 0);
    }
    sim_hierarchy_records(r->h, r->record, n);
    r->n += n;
    from->next = r->record;
    if (lift_build_work(r->build, &work))
        sim_clock_step(&r->clock, 0, &work);
}

static void begin_recording(struct lift_replayer *r, struct lift_recorder *to)
{
    *to = (struct lift_recorder){ .next = r->record, .end = r->record + RECORDS, .full = hand_over, .ctx = r };
}

static void clear(struct lift_replayer *r)
{
    sim_hierarchy_clear_stats(r->h);
    sim_clock_init(&r->clock, &r->whole, r->h);
    r->n = 0;
}

/* ---- a part of a kernel's work ---- */

/* A single kernel of a program. */
struct kernel {
    struct lift_replayer *r;
    const struct lift_program *program;
    const struct lift_kernel *kernel;
    struct lift_build *build;
    size_t i, k; /* of the build */
    size_t groups[2];
    double n_items; /* of all bands */
};

/* Runs work-items of a group, until there are this many accesses. Returns how many work-items ran. */
static size_t run_group(const struct kernel *t, size_t group0, size_t group1, uint64_t accesses)
{
    struct lift_recorder *recorder = lift_build_recorder(t->build);
    const size_t *local = t->kernel->local;
    size_t n = 0;

    for (size_t y = 0; y < local[1]; y++) {
        for (size_t x = 0; x < local[0]; x++, n++) {
            const struct lift_range items = { { group0, group1 }, { x, y }, { x + 1, y + 1 } };

            if (recorder->next - t->r->record >= ENOUGH_RECORDS)
                hand_over(recorder);
            if (t->r->n >= accesses)
                return n;
            lift_build_run(t->build, t->i, t->k, &t->r->memory, 0, &items);
        }
    }
    return n;
}

static void add_counts(struct lift_replayed *to, const struct lift_replayer *r, enum lift_role written, double scale)
{
    const struct sim_stats *s = sim_hierarchy_stats(r->h);
    const struct sim_cell all = sim_stats_total(s);

    to->loads += scale * (double)all.loads;
    to->stores += scale * (double)all.stores;
    for (size_t l = 0; l < s->n_levels; l++)
        to->lines[l] += scale * (double)all.level[l].lines_in;
    to->demanded += scale * (double)sim_cell_demand_fills(&all);
    for (unsigned role = 0; role < LIFT_N_ROLES; role++)
        to->fetched[role] += scale * (double)sim_stats_tag(s, role).level[0].lines_in;
    to->written += scale * (double)sim_stats_tag(s, written).level[0].lines_in;
    to->core_cycles += scale * r->clock.phase[0].computing;
}

/*
 * Simulates the first group of a row of groups, and some later groups of the row, each part with its own weight: the
 * first group finds no data of the row in near caches. The row is in the middle, and the row before has just ended.
 * Returns the number of simulated work-items.
 */
static size_t simulate(const struct kernel *t, struct lift_replayed *to)
{
    struct lift_recorder *recorder = lift_build_recorder(t->build);
    const size_t row = t->groups[1] / 2, n_rows = t->groups[1] * t->program->n_bands;
    const double local = (double)(t->kernel->local[0] * t->kernel->local[1]);
    const enum lift_role written = t->kernel->arg[t->kernel->n_args - 1];
    size_t n_first, n = 0;

    begin_recording(t->r, recorder);
    sim_hierarchy_clear(t->r->h);
    clear(t->r);
    if (row)
        run_group(t, t->groups[0] - 1, row - 1, t->r->part.warm);
    hand_over(recorder);
    clear(t->r);
    n_first = run_group(t, 0, row, t->r->part.counted);
    hand_over(recorder);
    add_counts(to, t->r, written, local / (double)n_first * (double)n_rows);
    clear(t->r);
    for (size_t g = 1; g < t->groups[0] && t->r->n < t->r->part.counted; g++)
        n += run_group(t, g, row, t->r->part.counted);
    hand_over(recorder);
    if (n)
        add_counts(to, t->r, written, local * (double)(t->groups[0] - 1) / (double)n * (double)n_rows);
    return n_first + n;
}

/* ---- points ---- */

/*
 * Returns the cycles that the core waits for lines. A read line costs a share of its latency, as cores continue while
 * they wait; a line that the second level's prefetcher brought costs nothing, unless another access waits. A written
 * line costs the whole latency of the second level, as stores commit in order: x86's order, and few further processors
 * let stores wait less.
 */
static double waiting(const struct lift_replayer *r, const struct lift_replayed *to, size_t bytes)
{
    const double outer = bytes > r->last_level_bytes ? r->memory_cycles : r->outer_cycles;
    const bool has_second = r->machine.n_levels > 1;
    const double inner = has_second ? r->machine.level[1].latency_cycles : outer;

    return to->written * inner +
           LIFT_WAITING_SHARE * (to->demanded * inner + (has_second ? fmin(to->lines[1], to->demanded) * outer : 0));
}

static void replay_kernel(const struct kernel *t, struct lift_replayed *to)
{
    const size_t n = simulate(t, to);

    if (!strcmp(t->kernel->name, "convolve"))
        to->share_percent = 100 * (double)n / t->n_items;
    to->groups += (double)(t->groups[0] * t->groups[1] * t->program->n_bands);
}

static void replay_program(struct lift_replayer *r, const struct lift_program *g, size_t i, struct lift_build *build,
                           struct lift_replayed *to)
{
    struct sim_work work;

    r->build = build;
    for (size_t k = 0; k < g->n_kernels; k++) {
        const struct lift_kernel *kernel = &g->kernel[k];

        replay_kernel(&(struct kernel){ r,
                                        g,
                                        kernel,
                                        build,
                                        i,
                                        k,
                                        { kernel->global[0] / kernel->local[0], kernel->global[1] / kernel->local[1] },
                                        (double)(kernel->global[0] * kernel->global[1] * g->n_bands) },
                      to);
    }
    if (!lift_build_work(build, &work) || sim_clock_why_not(&r->whole))
        to->core_cycles = (double)NAN;
    to->waiting_cycles = waiting(r, to, lift_program_bytes(g));
    to->launching_cycles = LIFT_GROUP_CYCLES * to->groups;
    lift_memory_clear(&r->memory);
}

/* Replays programs with equal flags. A program that does not compile has its own reason. */
static int replay_alike(struct lift_replayer *r, const struct lift_program *const *g, size_t n,
                        struct lift_replayed *const *to, struct exp_why *why)
{
    struct lift_build *build = NULL;
    int err = lift_build_new(&build, LIFT_COUNTED, g, n, why);

    if (err == -ENOTSUP) /* accesses are known all the same */
        err = lift_build_new(&build, LIFT_RECORDED, g, n, why);
    for (size_t i = 0; i < n && !err; i++)
        replay_program(r, g[i], i, build, to[i]);
    lift_build_free(build);
    if (err == -EINTR || !err)
        return err;
    for (size_t i = 0; i < n; i++) {
        if (n == 1)
            exp_say(to[i]->why, sizeof to[i]->why, "%s", why->text);
        else if ((err = replay_alike(r, &g[i], 1, &to[i], why)) == -EINTR)
            return err;
    }
    return 0;
}

/* Replays programs, [n], into to[n]. A program without a replay has the reason there. Returns 0, or -EINTR. */
static int replay_programs(struct lift_replayer *r, const struct lift_program *g, size_t n, struct lift_replayed *to,
                           struct exp_why *why)
{
    const struct lift_program **alike = exp_new(n, sizeof(void *));
    struct lift_replayed **into = exp_new(n, sizeof(void *));
    bool *is_done = exp_new(n, sizeof *is_done);
    int err = 0;

    memset(to, 0, n * sizeof *to);
    for (size_t i = 0; i < n && !err; i++) {
        size_t n_alike = 0;

        for (size_t j = i; j < n && !is_done[i]; j++) {
            if (strcmp(g[j].flags, g[i].flags) != 0 || is_done[j])
                continue;
            alike[n_alike] = &g[j];
            into[n_alike++] = &to[j];
            is_done[j] = j != i;
        }
        is_done[i] = true;
        err = n_alike ? replay_alike(r, alike, n_alike, into, why) : 0;
    }
    free(alike);
    free(into);
    free(is_done);
    return err;
}

int lift_replay(struct lift_replayer *r, const struct conv_problem *layer, const struct lift_point *p, size_t n,
                struct lift_replayed *to, struct exp_why *why)
{
    struct lift_program *g = exp_new(n, sizeof *g);
    int err;

    assert((p && to) || !n);
    for (size_t i = 0; i < n; i++)
        lift_program_make(&g[i], layer, &p[i]);
    err = replay_programs(r, g, n, to, why);
    for (size_t i = 0; i < n; i++)
        lift_program_release(&g[i]);
    free(g);
    return err;
}
